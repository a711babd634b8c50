"""What every retriever and every stage of a search is handed, and gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ragmachine.retrieval.narrow import Narrowing
from ragmachine.retrieval.query import QueryAnalysis

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

_POOL = 3  # hits ranked per hit returned
_MAX_POOL = 60


@dataclass(frozen=True, slots=True)
class Scored:
    """A retrieved chunk number with its score and what each stage gave."""

    chunk: int
    score: float
    stages: dict[str, float]


@dataclass(frozen=True, slots=True)
class Question:
    """One query as retrievers and stages see it; a wider one is a copy with other terms.

    Attributes:
        terms: index terms with their weights, the query's and those added; unknown ones are
            ignored.
        names: names that the query asks about, lower-case.
        mask: (chunks,) which chunks may be found; None lets all.
        narrowing: files that the query names, and by how much their chunks are lifted.
        k: hits that are wanted in the end.
        least_pool: hits that a stage wants to look at, however few are wanted in the end.
        parts: the questions that it is made of; one or none where it is not cut.
        is_comparison: whether the parts ask the same of two things.
        added: terms of synonyms, with their weights.
        analysis: the query taken apart.
        notes: what stages did, for ``--explain``: they write it, and never read it.
        notices: what went otherwise than asked, a line each; such a ranking is not remembered.
    """

    terms: Mapping[str, float]
    names: frozenset[str] = frozenset()
    mask: Mask | None = None
    narrowing: Narrowing = field(default_factory=Narrowing)
    k: int = 10
    least_pool: int = 0
    parts: tuple[str, ...] = ()
    is_comparison: bool = False
    added: Mapping[str, float] = field(default_factory=dict)
    analysis: QueryAnalysis = field(default_factory=lambda: QueryAnalysis("", {}))
    notes: dict[str, Any] = field(default_factory=dict, compare=False)
    notices: list[str] = field(default_factory=list, compare=False)

    @property
    def pool(self) -> int:
        """How many hits to rank, since stages may drop some or bring others up."""
        return max(self.k, self.least_pool, min(_POOL * self.k, _MAX_POOL))


class Retriever(Protocol):
    """Ranks the chunks of one opened index, by whatever evidence it has."""

    @property
    def decided_by(self) -> object:
        """What of its own decides a ranking, JSON-ready: it becomes part of the cache's key."""

    def search(self, question: Question, count: int) -> list[Scored]:
        """The best chunks that the mask lets through, at most `count`, best first.

        Scores are positive and comparable within one ranking only; ties keep index order.
        """


class Stage(Protocol):
    """One step between the first ranking and the hits: more rounds, reranking, variety."""

    def apply(self, question: Question, ranked: list[Scored]) -> list[Scored]:
        """Another ranking of the same question; a stage with nothing to do gives the same list."""


def top(score: Floats, count: int) -> npt.NDArray[np.int64]:
    """Positions of the `count` largest scores, best first, ties by position."""
    if not count:
        return np.empty(0, dtype=np.int64)
    if count >= score.size:
        chosen = np.arange(score.size)
    else:
        bound = np.partition(score, score.size - count)[score.size - count]
        above = np.flatnonzero(score > bound)
        level = np.flatnonzero(score == bound)[: count - above.size]
        chosen = np.concatenate([above, level])
    return chosen[np.lexsort((chosen, -score[chosen]))]
