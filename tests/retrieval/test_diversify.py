"""Variety among hits."""

from __future__ import annotations

import pytest

from ragmachine.retrieval.diversify import (
    distinct,
    maximal_marginal_relevance,
    similarity,
    without_near_duplicates,
)

A = frozenset("ab")
A_AND_MORE = frozenset("abc")
OTHER = frozenset("xy")


def test_the_same_text_is_kept_once() -> None:
    """Indentation, line breaks and case make no other text."""
    assert distinct(["def f():\n    pass", "other", "  DEF f(): pass "]) == [0, 1]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [(A, A, 1.0), (A, A_AND_MORE, 2 / 3), (A, OTHER, 0.0), (frozenset(), frozenset(), 1.0)],
    ids=["equal", "two of three", "disjoint", "both empty"],
)
def test_similarity_is_the_shared_part(
    left: frozenset[str], right: frozenset[str], expected: float
) -> None:
    """Intersection over union."""
    assert similarity(left, right) == expected


def test_near_duplicates_of_better_hits_are_dropped() -> None:
    """At 0.6 the second is too like the first; the third is not."""
    assert without_near_duplicates([A, A_AND_MORE, OTHER], 0.6) == [0, 2]


def test_no_more_hits_are_compared_than_needed() -> None:
    """With two kept, the third set is never asked for."""
    taken = iter([A, OTHER])
    assert without_near_duplicates(taken, 0.6, 2) == [0, 1]


def test_a_threshold_above_one_keeps_everything() -> None:
    """Equal hits have similarity 1, below the threshold."""
    assert without_near_duplicates([A, A], 1.1) == [0, 1]


def test_variety_outweighs_a_small_lead() -> None:
    """At 0.5: the twin gains .5*.9 - .5*1, the other .5*.6 - 0, so the other comes second."""
    assert maximal_marginal_relevance([10, 9, 6], [A, A, OTHER], 3, balance=0.5) == [0, 2, 1]


def test_relevance_alone_keeps_the_order() -> None:
    """A balance of 1 ignores similarity."""
    assert maximal_marginal_relevance([10, 9, 6], [A, A, OTHER], 2, balance=1) == [0, 1]


def test_ties_keep_the_better_ranked() -> None:
    """Equal gains are taken in order."""
    assert maximal_marginal_relevance([5, 5], [A, OTHER], 2, balance=0.7) == [0, 1]


@pytest.mark.parametrize("balance", [-0.1, 1.1])
def test_the_balance_lies_between_nought_and_one(balance: float) -> None:
    """Anything else is a programmer's mistake."""
    with pytest.raises(ValueError, match=r"0\.\.1"):
        maximal_marginal_relevance([1.0], [A], 1, balance=balance)
