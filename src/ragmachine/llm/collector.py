"""An answer as it comes in, piece by piece: what is shown of it, and the reply in the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragmachine.errors import ModelError

from .chat import Message, Reply, ThinkFilter, strip_thinking, trim_to_sentence


class ReplyCollector:
    """Gathers one answer and shows it, without thinking, to whoever listens.

    Args:
        model: the model that answers.
        on_token: receives each visible piece; None when nobody listens.

    Attributes:
        has_shown: whether anything was shown, which nothing can take back.
    """

    def __init__(self, model: str, on_token: Callable[[str], None] | None) -> None:
        self._model = model
        self._on_token = on_token
        self._filter = ThinkFilter()
        self._pieces: list[str] = []
        self.has_shown = False
        self._prompt_tokens = 0
        self._answer_tokens = 0

    def count(self, prompt_tokens: int, answer_tokens: int) -> None:
        """Take the server's own counts of what it read and wrote; 0 for what it does not say."""
        self._prompt_tokens, self._answer_tokens = prompt_tokens, answer_tokens

    def add(self, piece: str) -> None:
        """Take the next piece; whatever the listener raises passes through."""
        self._pieces.append(piece)
        self._show(self._filter.feed(piece))

    def finish(self, *, is_truncated: bool, is_prose: bool) -> Reply:
        """End of the answer.

        Args:
            is_truncated: whether it was stopped by its longest length; prose then ends with its
                last whole sentence.
            is_prose: whether it was to follow no schema.
        Raises: ModelError: nothing of it is visible.
        """
        self._show(self._filter.flush())
        text = strip_thinking("".join(self._pieces))
        if not text and is_truncated:
            raise ModelError(
                f"the model {self._model} was stopped before it said anything",
                remedy="allow it more with --max_new_tokens, or ask a model that does not think",
            )
        if not text:
            raise ModelError(
                f"the model {self._model} gave an empty answer",
                remedy="ask otherwise, or ask another model",
            )
        cut = trim_to_sentence(text) if is_truncated and is_prose else text
        return Reply(
            cut,
            is_truncated,
            self._model,
            prompt_tokens=self._prompt_tokens,
            answer_tokens=self._answer_tokens,
        )

    def _show(self, text: str) -> None:
        if self._on_token and text:
            self.has_shown = True
            self._on_token(text)


def as_json(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Messages as the servers take them; what UTF-8 cannot hold becomes a question mark."""
    return [
        {"role": message.role, "content": message.content.encode("utf-8", "replace").decode()}
        for message in messages
    ]
