"""The confidence interval of a mean."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmachine.evaluation import bootstrap
from ragmachine.evaluation.bootstrap import bootstrap_band, bootstrap_interval


def test_equal_values_leave_no_doubt() -> None:
    """Every resample of equal values has the same mean."""
    assert bootstrap_interval([0.1] * 7) == (0.1, 0.1)


def test_an_interval_is_reproducible() -> None:
    """The same values and seed give the same interval; another seed may move it."""
    values = [0.0, 1.0, 0.5, 0.25, 1.0, 0.0, 0.75, 0.3]
    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)


def test_an_interval_is_near_the_normal_one() -> None:
    """50 ones among 100 values: the standard error is 0.05, so about 0.5 ± 0.098."""
    low, high = bootstrap_interval([0.0, 1.0] * 50)
    assert low == pytest.approx(0.402, abs=0.02)
    assert high == pytest.approx(0.598, abs=0.02)


def test_blocks_do_not_change_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn all at once or three resamples at a time, the means are the same."""
    values = [0.0, 1.0, 0.5, 0.25, 1.0]
    at_once = bootstrap_interval(values, resamples=100)
    monkeypatch.setattr(bootstrap, "_BLOCK_DRAWS", 15)
    assert bootstrap_interval(values, resamples=100) == pytest.approx(at_once)


@pytest.mark.parametrize(("values", "resamples"), [([], 10), ([1.0], 0)], ids=["empty", "none"])
def test_an_interval_needs_something_to_draw(values: list[float], resamples: int) -> None:
    """No values or no resamples is a programmer's mistake."""
    with pytest.raises(ValueError, match="at least one"):
        bootstrap_interval(values, resamples=resamples)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=40, deadline=None)
def test_an_interval_stays_within_its_values(values: list[float]) -> None:
    """The bounds are in order and no mean lies outside the values."""
    low, high = bootstrap_interval(values, resamples=20)
    assert min(values) <= low <= high <= max(values)


def test_a_band_is_the_interval_of_each_point() -> None:
    """Whole questions are drawn, so every point has the very interval of its own values."""
    curves = [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.5, 0.5]]
    band = bootstrap_band(curves, resamples=200, seed=3)
    columns = [list(column) for column in zip(*curves, strict=True)]
    assert band == [bootstrap_interval(column, resamples=200, seed=3) for column in columns]


def test_a_band_rises_with_its_curves() -> None:
    """Where no question's curve falls, neither bound of the band does."""
    curves = [[0.0, 0.5, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]] * 5
    band = bootstrap_band(curves, resamples=300)
    assert [low for low, _ in band] == sorted(low for low, _ in band)
    assert [high for _, high in band] == sorted(high for _, high in band)
