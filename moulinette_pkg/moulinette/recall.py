"""recall@k of retrieved sources, and which questions a result set answers.

Pure functions on values; reading is `datasets`, pairing is `matching`.
"""

import math
from collections.abc import Sequence

from .datasets import Entry, Question
from .overlap import FOUND_ABOVE, Span, is_found

CUTOFFS = (1, 3, 5, 10)
PASS_CUTOFF = 5
"""The cut-off that a threshold judges."""

_ROUNDING = 1e-9


def recall_at_k(true_sources: Sequence[Span], retrieved: Sequence[Span], k: int) -> float:
    """Share of the true sources found among the first k retrieved.

    Each true source counts once, however many retrieved spans overlap it, and one retrieved span
    may find several. Found means an overlap strictly greater than 0.05.

    Args:
        k: number of retrieved sources looked at, from rank 1.
    Returns: 0.0 to 1.0; 1.0 when there is no true source, even if nothing was retrieved.
    Source: Manning, Raghavan & Schütze, Introduction to Information Retrieval, 2008, chapter 8.
    """
    if not true_sources:
        return 1.0
    head = retrieved[:k]
    return sum(is_found(source, head) for source in true_sources) / len(true_sources)


def question_recall(
    question: Question, entry: Entry | None, k: int, *, max_context_length: int | None = None
) -> float:
    """recall@k of one question; 0.0 without an entry, even where it has no true source.

    Args:
        max_context_length: in characters; a longer retrieved span keeps its rank and finds
            nothing. None for no limit.
    """
    if entry is None:
        return 0.0
    retrieved = entry.sources[:k]
    if max_context_length is not None:
        # An empty span overlaps nothing and holds the rank of the one it replaces.
        retrieved = tuple(
            span if span.length <= max_context_length else Span(span.file_path, 0, 0)
            for span in retrieved
        )
    return recall_at_k(question.sources, retrieved, k)


def is_question_valid(
    question: Question,
    entry: Entry | None,
    k: int,
    *,
    require_all_sources: bool = True,
    above: float = FOUND_ABOVE,
) -> bool:
    """Whether the first k retrieved sources hold what the question needs.

    All its true sources, or any one of them without `require_all_sources`; a question with no
    true source needs nothing. Without an entry never.

    Args:
        above: overlap that a found source must exceed, 0.0 to 1.0.
    """
    if entry is None:
        return False
    if not question.sources:
        return True
    found = [is_found(source, entry.sources[:k], above=above) for source in question.sources]
    return all(found) if require_all_sources else any(found)


def applicable_cutoffs(k: int) -> tuple[int, ...]:
    """The cut-offs to report when k sources are scored: 1, 3, 5, 10 up to k, and k itself."""
    return tuple(sorted({cutoff for cutoff in CUTOFFS if cutoff <= k} | {k}))


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean of at least one value."""
    return math.fsum(values) / len(values)


def is_passing(recall: float, threshold: float) -> bool:
    """Whether the recall reaches the threshold; equal passes, whatever the last binary digit."""
    return recall >= threshold - _ROUNDING
