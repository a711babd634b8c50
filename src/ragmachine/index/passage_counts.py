"""Raw counts of terms per passage, to rescore the best chunks with; opened by `reader`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmachine.index.files import damage
from ragmachine.index.postings import unpack

Positions = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


class PassagePostings:
    """Counts of every term per passage of about 400 characters, memory-mapped.

    Attributes:
        indptr: (terms + 1,) where each term's postings start.
        items: (postings,) passages, ascending within a term.
        counts: (postings,) uint8.
        length: (passages,) terms in each passage.
        first_of_chunk: (chunks + 1,) first passage of each chunk.

    A row of a large table also counts the words that it carries, those of the table's header and
    section, unless chunks are without context. They are no part of its length: a row is not worth
    less for what it is read under.
    """

    def __init__(self, folder: str, chunks: int, *, has_context: bool) -> None:
        def load(name: str) -> Any:
            path = os.path.join(folder, f"{name}.npy")
            with damage(path):
                return np.load(path, mmap_mode="r")

        # a memory map answers each look-up slowly, the array below it at once
        self.indptr = np.asarray(load("body.indptr"))
        self.items = load("body.items")
        self.counts = load("body.counts")
        term, self._carriers, self._carried_counts = unpack(np.asarray(load("carried")))
        self._carried = _runs(term) if has_context else {}
        self._items, self._counts = np.asarray(self.items), np.asarray(self.counts)
        self.length = np.asarray(load("passage_length"))
        # passages of stopwords alone have no terms; nothing is then divided by their length
        self.mean_length = float(self.length.mean()) if self.length.any() else 1.0
        self.first_of_chunk = np.searchsorted(load("passage_chunk"), np.arange(chunks + 1))

    def holders(self, term: int, passages: npt.NDArray[np.int64]) -> tuple[Positions, Floats]:
        """(positions in `passages` of those that hold a term, ascending; float32 counts there)."""
        part = slice(int(self.indptr[term]), int(self.indptr[term + 1]))
        at, count = _found(self._items[part], self._counts[part], passages)
        if term not in self._carried:
            return at, count
        part = self._carried[term]
        carriers, carried = _found(self._carriers[part], self._carried_counts[part], passages)
        if not carriers.size:
            return at, count
        total = np.zeros(passages.size, dtype=np.float32)
        total[at] = count
        total[carriers] += carried
        at = np.flatnonzero(total)
        return at, total[at]


def _runs(terms: Positions) -> dict[int, slice]:
    """Where each of ascending terms stands."""
    first = np.flatnonzero(np.diff(terms, prepend=-1))
    bounds = [*first.tolist(), terms.size]
    return dict(zip(terms[first].tolist(), map(slice, bounds, bounds[1:]), strict=True))


def _found(
    items: npt.NDArray[np.integer[Any]], counts: npt.NDArray[np.integer[Any]], wanted: Positions
) -> tuple[Positions, Floats]:
    """(positions of those wanted that are among ascending items, their counts)."""
    if not items.size:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    at = np.searchsorted(items, wanted)
    at[at == items.size] = 0
    held = np.flatnonzero(items[at] == wanted)
    return held, counts[at[held]].astype(np.float32)
