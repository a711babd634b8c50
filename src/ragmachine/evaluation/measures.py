"""One function per retrieval measure of one question; means over a dataset are in `report`.

A retrieved span *finds* a true span when their overlap is strictly greater than `MIN_OVERLAP`.
Where a question has no true span there is nothing to miss, and every measure is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

MIN_OVERLAP = 0.05


class Span(NamedTuple):
    """Characters ``start`` to ``end`` (exclusive) of the file at `path`."""

    path: str
    start: int
    end: int


def overlap(a: Span, b: Span) -> float:
    """Shared characters over the characters of either span; 0 across files.

    Returns: 0..1; symmetric; 0 where a span is empty.
    Source: Jaccard, Bulletin de la Société vaudoise des sciences naturelles 37, 1901.
    """
    if a.path != b.path:
        return 0.0
    shared = min(a.end, b.end) - max(a.start, b.start)
    if shared <= 0:
        return 0.0
    return shared / ((a.end - a.start) + (b.end - b.start) - shared)


def recall(retrieved: Sequence[Span], truth: Sequence[Span], *, k: int) -> float:
    """Share of the true spans that some of the first `k` retrieved spans finds.

    Each true span counts once, however many spans find it.

    Returns: 0..1; does not fall as `k` grows.
    Raises: ValueError: k is not positive.
    Source: Manning, Raghavan & Schütze, Introduction to Information Retrieval, 2008, 8.3.
    """
    first = _first(retrieved, k)
    if not truth:
        return 1.0
    return sum(any(finds(span, true) for span in first) for true in truth) / len(truth)


def first_true_rank(retrieved: Sequence[Span], truth: Sequence[Span], *, k: int) -> int | None:
    """Rank, from 1, of the first of `k` retrieved spans that finds a true one, or None.

    Raises: ValueError: k is not positive.
    """
    for rank, span in enumerate(_first(retrieved, k), start=1):
        if any(finds(span, true) for true in truth):
            return rank
    return None


def reciprocal_rank(retrieved: Sequence[Span], truth: Sequence[Span], *, k: int) -> float:
    """1 / rank of the first of `k` retrieved spans that finds a true one, else 0.

    Returns: 0..1.
    Raises: ValueError: k is not positive.
    Source: Voorhees, The TREC-8 Question Answering Track Report, 1999.
    """
    rank = first_true_rank(retrieved, truth, k=k)
    if not truth:
        return 1.0
    return 0.0 if rank is None else 1 / rank


def ndcg(retrieved: Sequence[Span], truth: Sequence[Span], *, k: int) -> float:
    """Discounted gain over the gain of an ideal ranking, both cut at `k`.

    A span gains 1 when it finds a true span that no span before it found (a repeat gains nothing),
    discounted by log2(1 + rank). The ideal ranking finds one true span per rank from the first
    on, so a single span that covers two true ones stays below 1.

    Returns: 0..1.
    Raises: ValueError: k is not positive.
    Source: Järvelin & Kekäläinen, ACM TOIS 20(4), 2002, with binary gain.
    """
    first = _first(retrieved, k)
    if not truth:
        return 1.0
    missing = list(truth)
    gain = 0.0
    for rank, span in enumerate(first, start=1):
        left = [true for true in missing if not finds(span, true)]
        gain += 1 / log2(1 + rank) if len(left) < len(missing) else 0.0
        missing = left
    return gain / sum(1 / log2(1 + rank) for rank in range(1, min(k, len(truth)) + 1))


def finds(span: Span, true: Span) -> bool:
    """Whether a retrieved span finds a true one: their overlap is above `MIN_OVERLAP`."""
    return overlap(span, true) > MIN_OVERLAP


def _first(retrieved: Sequence[Span], k: int) -> Sequence[Span]:
    if k < 1:
        raise ValueError(f"k must be positive, not {k}")
    return retrieved[:k]
