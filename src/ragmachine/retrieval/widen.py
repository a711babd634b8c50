"""A wider question: relatives of its words that nobody wrote, and words of its best hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragmachine.retrieval.feedback import Feedback
from ragmachine.retrieval.ranking import Question, Scored
from ragmachine.retrieval.relatives import Relatives

if TYPE_CHECKING:
    from ragmachine.index.reader import Index

_FEEDBACK_HITS = 10
_FEEDBACK_WORDS = 10
_FEEDBACK_WEIGHT = 0.3
_RELATIVE_WEIGHT = 0.5


class Widener:
    """Adds terms to questions, below the weight of their own.

    Args:
        index: the opened generation.
        does_correct: whether words one slip away stand in for unknown ones.
    """

    def __init__(self, index: Index, *, does_correct: bool) -> None:
        self._index = index
        self._relatives = Relatives(
            index.vocabulary, index.chunk_frequency, does_correct=does_correct
        )
        self._feedback = Feedback(index, _FEEDBACK_HITS, _FEEDBACK_WORDS, _FEEDBACK_WEIGHT)

    def wider(self, question: Question, ranked: Sequence[Scored]) -> Question:
        """The question with more terms; with the same ones where none are to be had."""
        frequency = self._index.chunk_frequency
        unknown = [term for term in question.analysis.evidence if not frequency(term)]
        related = {term for word in unknown for term in self._relatives.of(word)}
        terms = {**dict.fromkeys(sorted(related), _RELATIVE_WEIGHT), **question.terms}
        return self._feedback.enriched(replace(question, terms=terms), ranked)
