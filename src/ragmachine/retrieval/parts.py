"""Questions of several parts: each part is searched for itself, and the rankings are merged."""

from __future__ import annotations

from collections.abc import Callable

from ragmachine.retrieval.fuse import fuse
from ragmachine.retrieval.ranking import Question, Retriever, Scored

# The whole question counts as much as two of its parts: parts alone lose what joins them.
_WHOLE_WEIGHT = 2.0
# Of a comparison the parts hold everything. The whole only pulls one side before the other:
# benchmarks/manuals.py finds both sides of 94 in 100 without it, of 86 with it.
_COMPARED_WEIGHT = 0.0


class PartsStage:
    """Merges the ranking of a question with those of its parts.

    Args:
        retriever: ranks a part.
        read: takes a part apart, within the same filter, as the question was.
    """

    def __init__(self, retriever: Retriever, read: Callable[[Question, str], Question]) -> None:
        self._retriever = retriever
        self._read = read

    def apply(self, question: Question, ranked: list[Scored]) -> list[Scored]:
        """The merged ranking; the same one for a question of one part."""
        if len(question.parts) < 2:
            return ranked
        rankings = [ranked]
        for part in question.parts:
            rankings.append(self._retriever.search(self._read(question, part), question.pool))
        whole = _COMPARED_WEIGHT if question.is_comparison else _WHOLE_WEIGHT
        return fuse(rankings, [whole, *(1.0 for _ in question.parts)], question.pool)
