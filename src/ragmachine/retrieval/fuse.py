"""Merging of rankings: reciprocal rank fusion and weighted sums of normalised scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragmachine.retrieval.ranking import Scored

RRF_K = 60


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[int]], *, k: int = RRF_K, weights: Sequence[float] | None = None
) -> list[tuple[int, float]]:
    """Merge rankings by summing weight / (k + rank), rank counted from 1.

    Args:
        rankings: one list of chunk ids per retriever, best first.
        k: damping, in ranks; larger flattens the head.
        weights: one per ranking; by default 1 each.
    Returns: (chunk id, score), best first; equal scores keep the smaller id first.
    Raises: ValueError: k is not positive, or weights and rankings differ in number.
    Source: Cormack, Clarke & Büttcher, SIGIR 2009.
    """
    if k <= 0:
        raise ValueError(f"k must be positive, not {k}")
    shares = [1.0] * len(rankings) if weights is None else list(weights)
    scores: dict[int, float] = {}
    for ranking, share in zip(rankings, shares, strict=True):
        for rank, chunk in enumerate(dict.fromkeys(ranking), start=1):
            scores[chunk] = scores.get(chunk, 0.0) + share / (k + rank)
    return _best_first(scores)


def fuse(
    rankings: Sequence[Sequence[Scored]], weights: Sequence[float], count: int
) -> list[Scored]:
    """The best chunks of several rankings by `reciprocal_rank_fusion`, at most `count`.

    What the stages gave is that of the first ranking that holds the chunk, and the fused score.
    """
    fused = reciprocal_rank_fusion(
        [[hit.chunk for hit in ranking] for ranking in rankings], weights=weights
    )
    return with_stages(rankings, fused[:count])


def with_stages(
    rankings: Sequence[Sequence[Scored]], fused: Sequence[tuple[int, float]]
) -> list[Scored]:
    """Fused (chunk, score) pairs with what the stages gave in the first ranking that has them."""
    stages = {hit.chunk: hit.stages for ranking in reversed(rankings) for hit in ranking}
    return [Scored(chunk, score, {**stages[chunk], "fusion": score}) for chunk, score in fused]


def weighted_fusion(
    scored: Sequence[Mapping[int, float]], weights: Sequence[float]
) -> list[tuple[int, float]]:
    """Merge score lists by a weighted sum, each list first scaled to 0..1 by its own extremes.

    Args:
        scored: chunk id to score per retriever; a missing chunk counts as that list's lowest.
        weights: one per list.
    Returns: (chunk id, score), best first; equal scores keep the smaller id first.
    Raises: ValueError: weights and lists differ in number.
    """
    total: dict[int, float] = {}
    for scores, weight in zip(scored, weights, strict=True):
        if not scores:
            continue
        low, high = min(scores.values()), max(scores.values())
        span = high - low
        for chunk, score in scores.items():
            share = (score - low) / span if span else 1.0
            total[chunk] = total.get(chunk, 0.0) + weight * share
    return _best_first(total)


def _best_first(scores: Mapping[int, float]) -> list[tuple[int, float]]:
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
