"""Several retrievers merged alike for every question: by ranks, or by scaled scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmachine.retrieval.fuse import fuse, weighted_fusion, with_stages
from ragmachine.retrieval.ranking import Question, Retriever, Scored


@dataclass(frozen=True, slots=True)
class FusedRetriever:
    """Merges the rankings of other retrievers.

    Attributes:
        retrievers: any number.
        weights: one a retriever.
        by_rank: reciprocal rank fusion, else a weighted sum of scores scaled to 0..1.
        candidates: hits taken of each.
    """

    retrievers: Sequence[Retriever]
    weights: Sequence[float]
    by_rank: bool
    candidates: int

    @property
    def decided_by(self) -> object:
        """What decides each ranking, and how they are merged."""
        inner = [retriever.decided_by for retriever in self.retrievers]
        return [inner, list(self.weights), self.by_rank, self.candidates]

    def search(self, question: Question, count: int) -> list[Scored]:
        """The best chunks of the merged rankings; see `Retriever.search`.

        Scaled scores are 0 for the last of every list: it is a hit all the same.
        """
        wanted = max(count, self.candidates)
        rankings = [retriever.search(question, wanted) for retriever in self.retrievers]
        if self.by_rank:
            return fuse(rankings, self.weights, count)
        scores = [{hit.chunk: hit.score for hit in ranking} for ranking in rankings]
        return with_stages(rankings, weighted_fusion(scores, self.weights)[:count])
