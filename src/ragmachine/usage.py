"""What an answer cost: where its time went, and how much a model read and wrote."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model was given and gave, for one answer.

    Attributes:
        prompt_tokens: length of what it read.
        answer_tokens: length of what it wrote, thinking included where the server counts.
        first_token_ms: from the question to the first visible piece, in milliseconds; None where
            the answer came as a whole.
        is_estimated: whether the lengths were estimated, since the server does not count.
    """

    prompt_tokens: int
    answer_tokens: int
    first_token_ms: float | None = None
    is_estimated: bool = False
