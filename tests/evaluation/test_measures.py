"""The retrieval measures, on numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.evaluation.measures import (
    Span,
    first_true_rank,
    ndcg,
    overlap,
    recall,
    reciprocal_rank,
)

Measure = Callable[..., Any]

A = Span("a.py", 0, 100)
B = Span("b.py", 0, 100)
C = Span("c.py", 0, 100)
MISS = Span("miss.py", 0, 100)

SPANS = st.builds(
    lambda path, start, length: Span(path, start, start + length),
    st.sampled_from("ab"),
    st.integers(0, 60),
    st.integers(0, 60),
)
LISTS = st.lists(SPANS, max_size=8)
CUTOFFS = st.integers(1, 10)


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        (Span("a", 0, 10), Span("a", 0, 10), 1.0),
        (Span("a", 0, 10), Span("a", 5, 15), 5 / 15),
        (Span("a", 0, 100), Span("a", 20, 30), 0.1),
        (Span("a", 0, 10), Span("a", 10, 20), 0.0),
        (Span("a", 0, 10), Span("a", 50, 60), 0.0),
        (Span("a", 0, 10), Span("b", 0, 10), 0.0),
        (Span("a", 5, 5), Span("a", 5, 5), 0.0),
        (Span("a", 5, 5), Span("a", 0, 10), 0.0),
    ],
    ids=["same", "half", "inside", "touching", "apart", "other file", "empty", "empty inside"],
)
def test_overlap_is_shared_over_all(a: Span, b: Span, value: float) -> None:
    """Overlap is intersection over union of the characters, within one file."""
    assert overlap(a, b) == pytest.approx(value)


@given(SPANS, SPANS)
def test_overlap_is_symmetric_and_at_most_one(a: Span, b: Span) -> None:
    """The order of the two spans does not matter, and the value is a share."""
    assert overlap(a, b) == overlap(b, a)
    assert 0.0 <= overlap(a, b) <= 1.0


@given(SPANS, SPANS)
def test_overlap_agrees_with_sets_of_characters(a: Span, b: Span) -> None:
    """The arithmetic gives what counting characters one by one gives."""
    left = {(a.path, index) for index in range(a.start, a.end)}
    right = {(b.path, index) for index in range(b.start, b.end)}
    union = len(left | right)
    assert overlap(a, b) == pytest.approx(len(left & right) / union if union else 0.0)


@pytest.mark.parametrize(("chars", "found"), [(5, 0.0), (6, 1.0)], ids=["at", "above"])
def test_a_span_is_found_strictly_above_one_twentieth(chars: int, found: float) -> None:
    """5 of 100 characters are not enough, 6 are."""
    assert recall([Span("a.py", 0, chars)], [A], k=1) == found


def test_recall_is_the_share_of_true_spans_found() -> None:
    """Two of three true spans are among the retrieved."""
    assert recall([MISS, B, A], [A, B, C], k=3) == pytest.approx(2 / 3)


def test_recall_ignores_what_comes_after_k() -> None:
    """A true span at rank 3 is not found at k = 2."""
    assert recall([MISS, MISS, A], [A], k=2) == 0.0
    assert recall([MISS, MISS, A], [A], k=3) == 1.0


def test_recall_counts_a_true_span_once() -> None:
    """Two retrieved halves of one true span do not make up for another that is missing."""
    halves = [Span("a.py", 0, 50), Span("a.py", 50, 100)]
    assert recall(halves, [A, B], k=2) == 0.5


def test_one_retrieved_span_may_find_two() -> None:
    """A retrieved span that covers two true spans finds both."""
    truth = [Span("a.py", 0, 50), Span("a.py", 50, 100)]
    assert recall([A], truth, k=1) == 1.0


def test_reciprocal_rank_is_that_of_the_first_find() -> None:
    """The first of two finds is at rank 3."""
    assert reciprocal_rank([MISS, MISS, B, A], [A, B], k=4) == pytest.approx(1 / 3)
    assert first_true_rank([MISS, MISS, B, A], [A, B], k=4) == 3


def test_reciprocal_rank_is_zero_past_k() -> None:
    """A find after k is none."""
    assert reciprocal_rank([MISS, MISS, A], [A], k=2) == 0.0
    assert first_true_rank([MISS, MISS, A], [A], k=2) is None


def test_ndcg_discounts_by_rank() -> None:
    """Finds at ranks 1 and 3 of two true spans: (1 + 1/2) / (1 + 1/log2(3))."""
    assert ndcg([A, MISS, B], [A, B], k=3) == pytest.approx(1.5 / (1 + 1 / log2(3)))


def test_ndcg_gives_a_repeat_nothing() -> None:
    """A second half of a span already found gains nothing: 1 / (1 + 1/log2(3))."""
    halves = [Span("a.py", 0, 50), Span("a.py", 50, 100)]
    assert ndcg(halves, [A, B], k=2) == pytest.approx(1 / (1 + 1 / log2(3)))


def test_ndcg_of_a_double_find_is_one_gain() -> None:
    """One span that finds two true ones gains once, and both are then found."""
    truth = [Span("a.py", 0, 50), Span("a.py", 50, 100)]
    assert ndcg([A, truth[1]], truth, k=2) == pytest.approx(1 / (1 + 1 / log2(3)))


def test_ndcg_is_measured_against_what_k_allows() -> None:
    """With k = 1, one find at rank 1 is ideal even when three spans are true."""
    assert ndcg([B], [A, B, C], k=1) == 1.0


@pytest.mark.parametrize("measure", [recall, reciprocal_rank, ndcg])
def test_nothing_to_find_is_nothing_missed(measure: Measure) -> None:
    """Without true spans every measure is 1, whatever was retrieved."""
    assert measure([], [], k=5) == measure([MISS], [], k=5) == 1.0


@pytest.mark.parametrize("measure", [recall, reciprocal_rank, ndcg])
def test_nothing_retrieved_is_zero(measure: Measure) -> None:
    """With true spans and nothing retrieved every measure is 0."""
    assert measure([], [A], k=5) == 0.0


@pytest.mark.parametrize("measure", [recall, reciprocal_rank, ndcg, first_true_rank])
def test_k_is_positive(measure: Measure) -> None:
    """A cutoff of 0 is a programmer's mistake, with true spans or without."""
    with pytest.raises(ValueError, match="k must be positive, not 0"):
        measure([A], [], k=0)


@given(LISTS, LISTS, CUTOFFS)
def test_measures_are_shares(retrieved: list[Span], truth: list[Span], k: int) -> None:
    """Every measure stays within 0..1, and all are 0 together or none is."""
    values = [measure(retrieved, truth, k=k) for measure in (recall, reciprocal_rank, ndcg)]
    assert all(0.0 <= value <= 1.0 for value in values)
    assert len({value > 0 for value in values}) == 1


@given(LISTS, LISTS, CUTOFFS)
def test_recall_does_not_fall_with_k(retrieved: list[Span], truth: list[Span], k: int) -> None:
    """Looking further never loses a find."""
    assert recall(retrieved, truth, k=k) <= recall(retrieved, truth, k=k + 1)


@given(st.lists(SPANS.filter(lambda span: span.end > span.start), min_size=1, max_size=6))
def test_retrieving_the_truth_finds_it_all(truth: list[Span]) -> None:
    """The true spans themselves, in any number, score full recall and first rank."""
    assert recall(truth, truth, k=len(truth)) == 1.0
    assert first_true_rank(truth, truth, k=1) == 1
