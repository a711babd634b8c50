"""A chat model without a model: answers as a test tells it, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragmachine.llm.chat import Message, Reply


class FakeChat:
    """Answers each last message with what `answer` makes of it.

    Args:
        answer: text of the last message to the reply; may raise.
        name: of the model.

    Attributes:
        answer: what it will say, or makes of the next message.
        asked: the last message of each call, oldest first.
    """

    def __init__(self, answer: Callable[[str], str] | str, *, name: str = "tiny:1b") -> None:
        self.name = name
        self.asked: list[str] = []
        self.answer = answer

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        on_token: Callable[[str], None] | None = None,
        schema: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> Reply:
        """Answer, word by word if someone listens."""
        self.asked.append(messages[-1].content)
        text = self.answer if isinstance(self.answer, str) else self.answer(self.asked[-1])
        if on_token:
            for word in text.split(" "):
                on_token(word)
        return Reply(text, False, self.name)

    def count_tokens(self, text: str) -> int:
        """Four characters a token."""
        return len(text) // 4
