"""Merging of rankings."""

from __future__ import annotations

import pytest

from ragmachine.retrieval.fuse import reciprocal_rank_fusion, weighted_fusion


def test_reciprocal_ranks_are_summed() -> None:
    """With k = 1: chunk 7 is second and first, 1/3 + 1/2; chunk 5 is first once, 1/2."""
    fused = reciprocal_rank_fusion([[5, 7], [7]], k=1)
    assert fused == [(7, pytest.approx(5 / 6)), (5, pytest.approx(1 / 2))]


def test_equal_scores_keep_the_smaller_id_first() -> None:
    """Two rankings that disagree symmetrically tie."""
    assert [chunk for chunk, _ in reciprocal_rank_fusion([[9, 4], [4, 9]])] == [4, 9]


def test_a_heavier_ranking_decides() -> None:
    """With weight 2, the first ranking's head comes first."""
    fused = reciprocal_rank_fusion([[9, 4], [4, 9]], weights=[2, 1])
    assert [chunk for chunk, _ in fused] == [9, 4]


def test_a_chunk_named_twice_in_one_ranking_counts_once() -> None:
    """Its best rank counts; the repeat neither adds nor takes a rank."""
    assert reciprocal_rank_fusion([[3, 3, 8]], k=1) == [(3, 1 / 2), (8, 1 / 3)]


@pytest.mark.parametrize("k", [0, -1], ids=["zero", "negative"])
def test_damping_must_be_positive(k: int) -> None:
    """A damping of 0 would divide by the rank alone and below it by zero."""
    with pytest.raises(ValueError, match="positive"):
        reciprocal_rank_fusion([[1]], k=k)


def test_as_many_weights_as_rankings() -> None:
    """A weight too few is a mistake, not a default."""
    with pytest.raises(ValueError, match="zip"):
        reciprocal_rank_fusion([[1], [2]], weights=[1])


def test_scores_are_scaled_before_they_are_summed() -> None:
    """10..30 and 0.1..0.2 both become 0..1: chunk 1 has 0.5 + 1, chunk 2 has 1, chunk 3 has 0."""
    fused = weighted_fusion([{1: 20.0, 2: 30.0, 3: 10.0}, {1: 0.2, 3: 0.1}], [1, 1])
    assert fused == [(1, 1.5), (2, 1.0), (3, 0.0)]


def test_a_list_of_equal_scores_counts_fully() -> None:
    """Where a retriever makes no difference, each of its chunks gets its whole weight."""
    assert weighted_fusion([{1: 5.0, 2: 5.0}], [0.5]) == [(1, 0.5), (2, 0.5)]


def test_nothing_to_merge_is_nothing() -> None:
    """No ranking and empty rankings give no chunks."""
    assert reciprocal_rank_fusion([]) == []
    assert weighted_fusion([{}, {}], [1, 1]) == []
