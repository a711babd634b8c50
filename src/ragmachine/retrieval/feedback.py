"""Pseudo-relevance feedback: words that the best hits share are added to the query, lightly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragmachine.retrieval.assess import inverse_frequencies
from ragmachine.retrieval.ranking import Question, Retriever, Scored

if TYPE_CHECKING:
    from ragmachine.index.reader import Index

# Weights of added words are rounded to this: terms of one weight are scored in one call.
_STEP = 0.05
# Of the words that fill the hits most, so many are weighed by their rarity. Measured no worse than
# all of them, and a one-shot search need not read the whole vocabulary for it.
_LOOKED_UP = 30


def relevance_model(
    terms: Mapping[str, float],
    hits: Sequence[tuple[float, Mapping[str, int]]],
    idf: Callable[[Sequence[str]], Sequence[float]],
    *,
    words: int = 8,
    weight: float = 0.2,
) -> dict[str, float]:
    """The query's terms at their weights, plus the strongest words of its best hits.

    Args:
        terms: the query's terms and weights; they are never changed.
        hits: (score, the chunk's terms with their counts) of the best hits.
        idf: inverse document frequencies of terms, in their order.
        words: how many words to add.
        weight: of the strongest added word; the others in proportion, in steps of 0.05.
    Source: Abdul-Jaleel et al., "UMass at TREC 2004" (RM3); idf in place of a background model.
    """
    total = sum(score for score, _ in hits)
    if not total or words <= 0 or weight <= 0:
        return dict(terms)
    mass: dict[str, float] = {}
    for score, counts in hits:
        share = score / total / (sum(counts.values()) or 1)
        for term, count in counts.items():
            mass[term] = mass.get(term, 0.0) + share * count
    new = [term for term in sorted(mass, key=lambda term: (-mass[term], term)) if term not in terms]
    new = new[:_LOOKED_UP]
    strength = {term: mass[term] * rarity for term, rarity in zip(new, idf(new), strict=True)}
    best = sorted(strength, key=lambda term: (-strength[term], term))[:words]
    if not best:
        return dict(terms)
    top = strength[best[0]] or 1.0
    added = {term: _rounded(weight * strength[term] / top) for term in best}
    return {**added, **terms}


def _rounded(weight: float) -> float:
    return max(_STEP, round(weight / _STEP) * _STEP)


@dataclass(frozen=True, slots=True)
class Feedback:
    """Adds words of its best hits to a question.

    Attributes:
        index: holds the hits' texts.
        hits: best hits that are read.
        words: words added.
        weight: of the strongest added word.
    """

    index: Index
    hits: int = 5
    words: int = 8
    weight: float = 0.25

    def enriched(self, question: Question, ranked: Sequence[Scored]) -> Question:
        """The question with the strongest words of its best hits; itself where there are none."""
        if not ranked:
            return question
        read = [(hit.score, self._counts(hit.chunk)) for hit in ranked[: self.hits]]
        richer = relevance_model(
            question.terms,
            read,
            lambda new: inverse_frequencies(self.index, new),
            words=self.words,
            weight=self.weight,
        )
        return replace(question, terms=richer)

    def _counts(self, chunk: int) -> dict[str, int]:
        """How often each term occurs in a chunk's text."""
        tokenizer = self.index.tokenizer
        counts: dict[str, int] = {}
        for raw, count in Counter(tokenizer.raw_words(self.index.chunk(chunk).text)).items():
            for term in tokenizer.expand(raw):
                counts[term] = counts.get(term, 0) + count
        return counts


class FeedbackRetriever:
    """A retriever that asks another twice: the second time with words of its best hits.

    Args:
        base: what ranks.
        feedback: adds the words.
    """

    def __init__(self, base: Retriever, feedback: Feedback) -> None:
        self._base = base
        self._feedback = feedback

    @property
    def decided_by(self) -> object:
        """The feedback's numbers, and what decides the base."""
        feedback = self._feedback
        return [feedback.hits, feedback.words, feedback.weight, self._base.decided_by]

    def search(self, question: Question, count: int) -> list[Scored]:
        """The ranking of the richer question; none where the question itself finds nothing."""
        ranked = self._base.search(question, count)
        return ranked and self._base.search(self._feedback.enriched(question, ranked), count)
