"""The paired permutation test."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmachine.evaluation import permutation
from ragmachine.evaluation.permutation import permutation_p

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=14)


def test_no_difference_is_certain_chance() -> None:
    """Equal columns have p = 1, and so have empty ones."""
    assert permutation_p([1, 0, 1], [1, 0, 1]) == 1.0
    assert permutation_p([], []) == 1.0


def test_one_changed_question_proves_nothing() -> None:
    """Either sign of a single difference is as extreme: p = 1."""
    assert permutation_p([1, 0, 0], [0, 0, 0]) == 1.0


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        ([1] * 5, 2 / 32),
        ([1] * 10, 2 / 1024),
        ([1, 1, 1, -1], 10 / 16),  # a sum of 2: all signs alike, or one that differs
        ([2, 1], 2 / 4),  # sums of 3, 1, -1, -3
    ],
    ids=["five", "ten", "three to one", "unequal"],
)
def test_few_changes_are_counted_out(left: list[float], expected: float) -> None:
    """The share of sign patterns whose sum is as far from 0 as the one observed."""
    assert permutation_p(left, [0] * len(left)) == expected


def test_questions_that_do_not_differ_do_not_count() -> None:
    """A thousand ties on top change nothing."""
    assert permutation_p([1] * 5 + [0.5] * 1000, [0] * 5 + [0.5] * 1000) == 2 / 32


def test_many_changes_are_drawn() -> None:
    """20 to 10 of 30: a binomial with p = 0.5 is that far from 15 with probability 0.0987."""
    left = [1.0] * 20 + [0.0] * 10
    right = [0.0] * 20 + [1.0] * 10
    p = permutation_p(left, right)
    assert p == pytest.approx(0.0987, abs=0.01)
    assert p == permutation_p(left, right)
    assert p != permutation_p(left, right, seed=1)


def test_a_drawn_value_is_never_zero() -> None:
    """The pattern observed is one of those that can happen."""
    assert permutation_p([1.0] * 60, [0.0] * 60, resamples=99) == 1 / 100


def test_blocks_do_not_change_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn all at once or a few patterns at a time, the value is the same."""
    left, right = [1.0] * 20 + [0.0] * 10, [0.0] * 20 + [1.0] * 10
    at_once = permutation_p(left, right, resamples=500)
    monkeypatch.setattr(permutation, "_BLOCK_SIGNS", 64)
    # a block is a whole number of the generator's draws here, so that the patterns are the same
    assert permutation_p(left, right, resamples=500) == at_once


@settings(max_examples=50, deadline=None)
@given(PAIRS)
def test_the_test_is_two_sided(pairs: list[tuple[float, float]]) -> None:
    """Which system stands on the left does not matter; p lies above 0 and up to 1."""
    left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    p = permutation_p(left, right, resamples=200)
    assert 0 < p <= 1
    if len(pairs) <= 7:  # all patterns are tried
        assert p == permutation_p(right, left, resamples=200)


@pytest.mark.parametrize(
    ("left", "right", "resamples"), [([1.0], [], 10), ([1.0], [0.0], 0)], ids=["pairs", "none"]
)
def test_a_test_needs_pairs(left: list[float], right: list[float], resamples: int) -> None:
    """Columns of two lengths or no resamples are a programmer's mistake."""
    with pytest.raises(ValueError, match="as many values"):
        permutation_p(left, right, resamples=resamples)
