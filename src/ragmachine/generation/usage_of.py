"""What asking a model cost: counted by its server, or else estimated."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ragmachine.errors import ModelError
from ragmachine.llm.chat import ChatClient, Message, Reply
from ragmachine.usage import Usage


class FirstPiece:
    """Passes an answer's pieces on, and notes when the first came.

    Args:
        on_token: who listens.

    Attributes:
        after_ms: milliseconds from the making of this object to the first piece; None before it.
    """

    def __init__(self, on_token: Callable[[str], None]) -> None:
        self._on_token = on_token
        self._started = time.perf_counter()
        self.after_ms: float | None = None

    def __call__(self, piece: str) -> None:
        """Take the next piece."""
        if self.after_ms is None:
            self.after_ms = (time.perf_counter() - self._started) * 1000
        self._on_token(piece)


def usage_of(
    client: ChatClient, messages: Sequence[Message], reply: Reply, first: FirstPiece | None
) -> Usage:
    """What an answer cost.

    Args:
        client: counts or estimates what its server does not tell.
        messages: what the model read.
        reply: what it wrote.
        first: who listened; None for nobody.
    """
    read, written = reply.prompt_tokens, reply.answer_tokens
    is_estimated = not (read and written)
    if is_estimated:
        try:
            read = sum(client.count_tokens(message.content) for message in messages)
            written = client.count_tokens(reply.text)
        except ModelError:  # it has answered; that it cannot count now is no reason to fail
            read, written = 0, 0
    return Usage(read, written, first.after_ms if first else None, is_estimated)
