"""Words and vectors in one ranking; how far vectors count is decided for each question."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ragmachine.retrieval.assess import coverage_of, mass_of
from ragmachine.retrieval.evidence import Evidence, dense_weight
from ragmachine.retrieval.ranking import Question, Scored

if TYPE_CHECKING:
    from ragmachine.index.reader import Index
    from ragmachine.retrieval.dense import DenseRetriever
    from ragmachine.retrieval.lexical import LexicalRetriever


class HybridRetriever:
    """Adds to each lexical score the cosine similarity, weighted by evidence.

    Both retrievers bring candidates, and both score all of them.

    Args:
        index: the opened generation.
        lexical: scores by words.
        dense: scores by vectors.
        candidates: chunks that each of them brings.
        weight: of the vectors, the same for every question; None to decide by evidence.
    """

    def __init__(
        self,
        index: Index,
        lexical: LexicalRetriever,
        dense: DenseRetriever,
        *,
        candidates: int,
        weight: float | None = None,
    ) -> None:
        self._index = index
        self._lexical = lexical
        self._dense = dense
        self._candidates = candidates
        self._weight = weight

    @property
    def decided_by(self) -> object:
        """What decides both rankings, and how they are joined."""
        return [self._lexical.decided_by, self._dense.decided_by, self._candidates, self._weight]

    def search(self, question: Question, count: int) -> list[Scored]:
        """The best chunks by both; see `Retriever.search`.

        Scores stay on the scale of the lexical ones: what vectors give a hit is their weight times
        the most that the question's words can give.
        """
        wanted = max(count, self._candidates)
        near = self._dense.search(question, wanted)
        near_ids = np.array([hit.chunk for hit in near], dtype=np.int64)
        lexical = self._lexical.search(question, wanted, also=near_ids)
        mass = mass_of(question, self._index)
        evidence = self.evidence(question, lexical, near, mass)
        weight = dense_weight(evidence) if self._weight is None else self._weight
        question.notes["fusion"] = {
            "words held by the best hit": round(evidence.coverage, 2),
            "rare words asked": round(evidence.mass, 1),
            "nearest vector": round(evidence.closeness, 2),
            "weight of vectors": round(weight, 2),
        }
        if not lexical:
            return near[:count]
        chunks = np.array([hit.chunk for hit in lexical], dtype=np.int64)
        shares = weight * sum(mass.values()) * self._dense.compare(question, chunks)
        joined = [
            Scored(hit.chunk, hit.score + share, {**hit.stages, "dense": share})
            for hit, share in zip(lexical, shares.tolist(), strict=True)
        ]
        joined.sort(key=lambda hit: (-hit.score, hit.chunk))
        return [hit for hit in joined[:count] if hit.score > 0]

    def evidence(
        self,
        question: Question,
        lexical: list[Scored],
        near: list[Scored],
        mass: dict[str, float],
    ) -> Evidence:
        """What both rankings say about the question."""
        return Evidence(
            coverage=coverage_of(mass, lexical, self._index) if mass else 0.0,
            mass=sum(mass.values()) / math.log(self._index.chunk_count + 2),
            closeness=near[0].score if near else 0.0,
            is_named=any(
                self._index.chunk_frequency(name.lower()) for name in question.analysis.identifiers
            ),
        )
