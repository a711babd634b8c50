"""Refusals: answers that say they do not know."""

import re

_REFUSAL = re.compile(r"[^.!?\n]*?\bI\s+(?:do\s+not|don['\u2019]?t)\s+know\b", re.IGNORECASE)


def is_refusal(answer: str) -> bool:
    """Whether the first sentence says "I don't know" or "I do not know", in any case.

    Straight, curly and missing apostrophes are read alike.
    """
    return _REFUSAL.match(answer.strip()) is not None
