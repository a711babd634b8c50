"""Words and vectors in one ranking; how far vectors count is decided for each question."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragmachine.retrieval.assess import coverage_of, mass_of
from ragmachine.retrieval.evidence import Evidence, dense_weight
from ragmachine.retrieval.ranking import Floats, Question, Scored

if TYPE_CHECKING:
    from ragmachine.index.reader import Index
    from ragmachine.retrieval.dense import DenseRetriever
    from ragmachine.retrieval.lexical import LexicalRetriever


_FEW_CHUNKS = 5  # a part is named in its list, on its drawing and in an index; a year in many more


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunks that words or vectors bring, scored by both.

    Attributes:
        hits: with their lexical scores and stages; 0 where words find nothing.
        vectors: (hits,) cosine similarities.
        evidence: what both rankings say about the question.
        mass: the most that the question's words can give a hit.
    """

    hits: list[Scored]
    vectors: Floats
    evidence: Evidence
    mass: float

    @property
    def chunks(self) -> list[int]:
        """(hits,) chunk numbers."""
        return [hit.chunk for hit in self.hits]

    @property
    def words(self) -> npt.NDArray[np.float64]:
        """(hits,) lexical scores."""
        return np.array([hit.score for hit in self.hits], dtype=np.float64)


class HybridRetriever:
    """Adds to each lexical score the cosine similarity, weighted by evidence.

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
        found = self.candidates_of(question, count)
        evidence = found.evidence
        weight = dense_weight(evidence) if self._weight is None else self._weight
        question.notes["fusion"] = {
            "words held by the best hit": round(evidence.coverage, 2),
            "rare words asked": round(evidence.mass, 1),
            "nearest vector": round(evidence.closeness, 2),
            "weight of vectors": round(weight, 2),
        }
        shares = weight * (found.mass or 1.0) * found.vectors
        joined = [
            Scored(hit.chunk, hit.score + share, {**hit.stages, "dense": share})
            for hit, share in zip(found.hits, shares.tolist(), strict=True)
        ]
        joined.sort(key=lambda hit: (-hit.score, hit.chunk))
        return [hit for hit in joined[:count] if hit.score > 0]

    def candidates_of(self, question: Question, count: int) -> Candidates:
        """What both retrievers bring, at least `count` of each, scored by both."""
        wanted = max(count, self._candidates)
        near = self._dense.search(question, wanted)
        near_ids = np.array([hit.chunk for hit in near], dtype=np.int64)
        hits = self._lexical.search(question, wanted, also=near_ids)
        mass = mass_of(question, self._index)
        evidence = Evidence(
            coverage=coverage_of(mass, hits, self._index) if mass else 0.0,
            mass=sum(mass.values()) / math.log(self._index.chunk_count + 2),
            closeness=near[0].score if near else 0.0,
            is_named=any(map(self._frequency, question.analysis.identifiers)),
            is_coded=any(
                0 < self._frequency(code) <= _FEW_CHUNKS for code in question.analysis.codes
            ),
        )
        hits = hits or [Scored(hit.chunk, 0.0, {}) for hit in near]
        chunks = np.array([hit.chunk for hit in hits], dtype=np.int64)
        return Candidates(hits, self._dense.compare(question, chunks), evidence, sum(mass.values()))

    def _frequency(self, name: str) -> int:
        return self._index.chunk_frequency(name.lower())
