"""What of a chunk is encoded, and how the vectors of its excerpts become one similarity.

A vector blurs with every further sentence that it stands for. A chunk's head says what it is about
and has a vector of its own; what follows has others, and the nearest of them counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ragmachine.encoders.cache import text_key

if TYPE_CHECKING:
    from ragmachine.index.reader import Index

EXCERPT_TOKENS = 160
_EXCERPT_CHARS = 700
_SHORTEST_CHARS = 300  # what is left of a chunk and shorter than this has no vector of its own

Ids = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Query = npt.NDArray[np.floating[Any]]
Similarities = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Excerpts:
    """The texts of an index that are encoded, in the order of the chunks.

    Attributes:
        texts: each with the label of its chunk.
        first: (chunks + 1,) where each chunk's excerpts begin; each chunk has one at least.
    """

    texts: list[str]
    first: Ids

    @property
    def keys(self) -> list[bytes]:
        """The keys of the texts in a `VectorCache`."""
        return [text_key(text, EXCERPT_TOKENS) for text in self.texts]

    def ordered(self, chunks: list[int]) -> list[int]:
        """Numbers of all excerpts: the heads in this order of chunks, then what follows them."""
        first = self.first.tolist()
        heads = [first[chunk] for chunk in chunks]
        return heads + [row for n in chunks for row in range(first[n] + 1, first[n + 1])]


def excerpts_of(index: Index) -> Excerpts:
    """What is encoded of an index."""
    texts: list[str] = []
    first = [0]
    for number in range(index.chunk_count):
        texts += excerpts(index.labels[number], index.chunk(number).text)
        first.append(len(texts))
    return Excerpts(texts, np.array(first, dtype=np.int64))


def excerpts(label: str, text: str) -> list[str]:
    """A chunk's head, and what follows it in pieces of the same length; the label leads each."""
    last = max(len(text) - _SHORTEST_CHARS, 1)
    pieces = (
        text[start : start + _EXCERPT_CHARS].strip() for start in range(0, last, _EXCERPT_CHARS)
    )
    return ["\n".join(filter(None, (label, piece))) for piece in pieces]


class RowIndex(Protocol):
    """Finds the nearest of many vectors; see `index.vectors.VectorIndex`."""

    def search(self, query: Query, k: int, mask: Mask | None = None) -> tuple[Ids, Similarities]:
        """(ids, similarities) of the k nearest."""


class ComparingIndex(RowIndex, Protocol):
    """Also compares with vectors by number; see `index.vectors.FlatIndex`."""

    def compare(self, query: Query, ids: Ids) -> Similarities:
        """(ids,) similarities."""


class NearestChunks:
    """Finds chunks by the nearest of their excerpts.

    Args:
        rows: the excerpts' vectors.
        first: as in `Excerpts`.
    """

    def __init__(self, rows: RowIndex, first: Ids) -> None:
        self._rows = rows
        self._counts = np.diff(first)
        self._owner = np.repeat(np.arange(len(self._counts)), self._counts)
        self._most = int(self._counts.max(initial=1))

    def search(self, query: Query, k: int, mask: Mask | None = None) -> tuple[Ids, Similarities]:
        """The k nearest chunks; see `index.vectors.VectorIndex.search`.

        Args:
            query: (d,) of length 1.
            k: chunks at most.
            mask: (chunks,) those that may be found; None for all.
        """
        allowed = None if mask is None else np.repeat(mask, self._counts)
        rows, similarities = self._rows.search(query, k * self._most, allowed)
        owners = self._owner[rows]
        _, nearest = np.unique(owners, return_index=True)
        kept = np.sort(nearest)[:k]
        return owners[kept], similarities[kept]


class AllChunks(NearestChunks):
    """Compares with chunks by number as well.

    Args:
        rows: the excerpts' vectors, all of them.
        first: as in `Excerpts`.
    """

    def __init__(self, rows: ComparingIndex, first: Ids) -> None:
        super().__init__(rows, first)
        self._all = rows
        self._first = first

    def compare(self, query: Query, ids: Ids) -> Similarities:
        """(ids,) similarities of chunks; 0 for one whose vectors are not made yet."""
        if not len(ids):
            return np.zeros(0, dtype=np.float32)
        counts = self._counts[ids]
        starts = np.cumsum(counts) - counts
        rows = np.repeat(self._first[ids] - starts, counts) + np.arange(int(counts.sum()))
        found: Similarities = np.maximum.reduceat(self._all.compare(query, rows), starts)
        return found
