"""Assess a ranking; where its best hits hold too little of the question, search once more, wider.

The wider round counts only where its own best hits hold no less of the question, and it is merged
with the first round, so that what the first found stays. A third round was measured: it found
nothing more.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ragmachine.retrieval.assess import coverage_of, mass_of
from ragmachine.retrieval.ranking import Question, Retriever, Scored

if TYPE_CHECKING:
    from ragmachine.index.reader import Index
    from ragmachine.retrieval.widen import Widener

_FUSION_WEIGHTS = (1.0, 2.0)  # first round, wider round


class RetryStage:
    """A second, wider round for questions whose best hits hold little of them.

    Args:
        index: the opened generation.
        retriever: ranks the wider question.
        threshold: coverage below which there is a second round, 0 to 1.
        does_correct: whether words one slip away stand in for unknown ones.
    """

    def __init__(
        self, index: Index, retriever: Retriever, threshold: float, *, does_correct: bool
    ) -> None:
        self._index = index
        self._retriever = retriever
        self._threshold = threshold
        self._does_correct = does_correct

    def apply(self, question: Question, ranked: list[Scored]) -> list[Scored]:
        """The same ranking where it covers the question, else one merged with the wider round's.

        Notes the coverage of either round, and what was added where the second was taken.
        """
        mass = mass_of(question, self._index)
        first = coverage_of(mass, ranked, self._index)
        question.notes["coverage"] = covered = {"first round": round(first, 2)}
        if first >= self._threshold:
            return ranked
        wider = self._widener.wider(question, ranked)
        new = {term: weight for term, weight in wider.terms.items() if term not in question.terms}
        again = self._retriever.search(wider, question.pool) if new else []
        if not again:
            return ranked
        second = coverage_of(mass, again, self._index)
        covered["wider round"] = round(second, 2)
        if second < first:
            return ranked
        question.notes["widened by"] = {term: round(weight, 2) for term, weight in new.items()}
        return self._merged(ranked, again, question.pool) if ranked else again

    @cached_property
    def _widener(self) -> Widener:
        """Made, and imported, for the first question that needs it."""
        from ragmachine.retrieval.widen import Widener

        return Widener(self._index, does_correct=self._does_correct)

    @staticmethod
    def _merged(first: list[Scored], second: list[Scored], count: int) -> list[Scored]:
        from ragmachine.retrieval.fuse import fuse

        return fuse([first, second], _FUSION_WEIGHTS, count)
