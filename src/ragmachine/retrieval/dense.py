"""Dense retrieval: the chunks whose vectors point where the question's does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ragmachine.retrieval.ranking import Floats, Mask, Question, Scored


class Neighbours(Protocol):
    """An index that finds the nearest vectors; see `index.vectors.VectorIndex`."""

    def search(
        self, query: npt.NDArray[np.floating[Any]], k: int, mask: Mask | None = None
    ) -> tuple[npt.NDArray[np.int64], Floats]:
        """(ids, similarities) of the k nearest, nearest first."""


class Vectors(Neighbours, Protocol):
    """Every chunk's vector; see `index.vectors.FlatIndex`."""

    def compare(self, query: npt.NDArray[np.floating[Any]], ids: npt.NDArray[np.int64]) -> Floats:
        """(ids,) similarities of these vectors; 0 for a chunk that has none yet."""


@dataclass(frozen=True, slots=True)
class DenseRetriever:
    """Ranks chunks by cosine similarity to the question.

    Attributes:
        name: of the vectors: it changes with what they hold.
        exact: every chunk's vector.
        near: finds the nearest.
        encode: a question to its vector of length 1, or zeros.
    """

    name: str
    exact: Vectors
    near: Neighbours
    encode: Callable[[str], Floats]

    @property
    def decided_by(self) -> object:
        """The vectors."""
        return self.name

    def search(self, question: Question, count: int) -> list[Scored]:
        """The nearest chunks of positive similarity; see `Retriever.search`."""
        ids, similarities = self.near.search(
            self.encode(question.analysis.text), count, question.mask
        )
        return [
            Scored(chunk, similarity, {"dense": similarity})
            for chunk, similarity in zip(ids.tolist(), similarities.tolist(), strict=True)
            if similarity > 0
        ]

    def compare(self, question: Question, chunks: npt.NDArray[np.int64]) -> Floats:
        """(chunks,) similarities of some chunks to the question."""
        return self.exact.compare(self.encode(question.analysis.text), chunks)
