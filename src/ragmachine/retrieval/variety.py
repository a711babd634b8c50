"""The last stage: what says the same as a better hit is left out, and unlike hits may rise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragmachine.retrieval.diversify import (
    distinct,
    maximal_marginal_relevance,
    without_near_duplicates,
)
from ragmachine.retrieval.ranking import Question, Scored

if TYPE_CHECKING:
    from ragmachine.index.reader import Index


@dataclass(frozen=True, slots=True)
class VarietyStage:
    """Drops repeats, near-duplicates and likeness, each where it is switched on.

    Attributes:
        index: holds the hits' texts.
        is_distinct: whether the same text is shown once.
        near_duplicates: likeness of words from which the lower hit is left out; 1 keeps all.
        balance: the λ of maximal marginal relevance; 1 ranks by relevance alone.
    """

    index: Index
    is_distinct: bool
    near_duplicates: float
    balance: float

    def apply(self, question: Question, ranked: list[Scored]) -> list[Scored]:
        """At most k hits; no text is read that is not needed."""
        k = question.k
        is_last = self.near_duplicates >= 1 and self.balance >= 1
        if self.is_distinct:
            texts = (self.index.chunk(hit.chunk).text for hit in ranked)
            ranked = [ranked[i] for i in distinct(texts, k if is_last else None)]
        if self.near_duplicates < 1:
            count = k if self.balance >= 1 else None
            kept = without_near_duplicates(map(self._words, ranked), self.near_duplicates, count)
            looked_at = kept[-1] + 1 if len(kept) == count else len(ranked)
            question.notes["near-duplicates"] = f"{looked_at - len(kept)} of {looked_at} left out"
            ranked = [ranked[i] for i in kept]
        if self.balance < 1 and len(ranked) > 1:
            scores = [hit.score for hit in ranked]
            words = list(map(self._words, ranked))
            order = maximal_marginal_relevance(scores, words, k, balance=self.balance)
            ranked = [ranked[i] for i in order]
        return ranked[:k]

    def _words(self, hit: Scored) -> frozenset[str]:
        return frozenset(self.index.tokenizer.raw_words(self.index.chunk(hit.chunk).text))
