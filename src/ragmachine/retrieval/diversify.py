"""Variety among hits: the same text once, near-duplicates dropped, maximal marginal relevance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice


def fingerprint(text: str) -> str:
    """A text without its white space and case: equal for what a reader would call the same."""
    return " ".join(text.split()).casefold()


def similarity(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard similarity of two sets of terms, 0 to 1; 1 for two empty sets."""
    union = len(left | right)
    return len(left & right) / union if union else 1.0


def distinct(texts: Iterable[str], count: int | None = None) -> list[int]:
    """Positions of texts that are not the same as an earlier one, in order.

    Args:
        texts: taken one by one, and no further than needed.
        count: how many positions at most; None for all.
    """

    def positions() -> Iterable[int]:
        seen: set[str] = set()
        for position, text in enumerate(texts):
            mark = fingerprint(text)
            if mark not in seen:
                seen.add(mark)
                yield position

    return list(islice(positions(), count))


def without_near_duplicates(
    terms: Iterable[frozenset[str]], threshold: float, count: int | None = None
) -> list[int]:
    """Positions that are no more similar than `threshold` to any kept before them, in order.

    Args:
        terms: the terms of each hit, best hit first; taken no further than needed.
        threshold: Jaccard similarity from which two hits are near-duplicates; above 1 keeps all.
        count: how many positions at most; None for all.
    """

    def positions() -> Iterable[int]:
        kept: list[frozenset[str]] = []
        for position, candidate in enumerate(terms):
            if all(similarity(candidate, other) < threshold for other in kept):
                kept.append(candidate)
                yield position

    return list(islice(positions(), count))


def maximal_marginal_relevance(
    scores: Sequence[float], terms: Sequence[frozenset[str]], count: int, *, balance: float
) -> list[int]:
    """Choose hits one by one by relevance minus similarity to what is chosen already.

    Args:
        scores: relevance of each hit, best first.
        terms: the terms of each hit.
        count: how many to choose.
        balance: the λ of the method, 0 to 1; 1 is relevance alone.
    Returns: positions in the order chosen; ties keep the better ranked first.
    Raises: ValueError: balance lies outside 0..1.
    Source: Carbonell & Goldstein, SIGIR 1998.
    """
    if not 0 <= balance <= 1:
        raise ValueError(f"balance must lie in 0..1, not {balance}")
    best = max(scores, default=0.0) or 1.0
    left = list(range(len(scores)))
    closest = [0.0] * len(scores)
    chosen: list[int] = []
    while left and len(chosen) < count:
        gain, position = max(
            (balance * scores[i] / best - (1 - balance) * closest[i], -i) for i in left
        )
        del gain
        pick = -position
        chosen.append(pick)
        left.remove(pick)
        for i in left:
            closest[i] = max(closest[i], similarity(terms[i], terms[pick]))
    return chosen
