"""Batches of columns to the columns of a whole index; called by `build`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ragmachine.corpus.discover import SourceFile
from ragmachine.index.analyze import CHUNK_COLUMNS, Batch, Columns, FileRecord
from ragmachine.index.postings import TERM_SHIFT, Ints, pack, unpack


@dataclass(slots=True)
class Merged:
    """All files of a new generation, as their batches come in.

    Attributes:
        parts: chunks and postings of each batch, numbered through.
        terms: term to number, common to all parts.
        skipped: files left out by rule, counted by reason.
        problems: (path, reason) of every file that was odd or unreadable.
        discovery_problems: those of them that were seen before any file was read.
        binary: files that turned out not to be text.
    """

    files: list[FileRecord] = field(default_factory=list)
    parts: list[Columns] = field(default_factory=list)
    terms: dict[str, int] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, str]] = field(default_factory=list)
    discovery_problems: list[tuple[str, str]] = field(default_factory=list)
    binary: list[SourceFile] = field(default_factory=list)

    def add(self, batch: Batch) -> None:
        """Append a batch, its terms renumbered into the common vocabulary."""
        number = self.terms
        columns = batch.columns
        renumbered = np.fromiter(
            (number.setdefault(term, len(number)) for term in columns.terms),
            dtype=np.int64,
            count=len(columns.terms),
        )
        chunks = sum(len(part.labels) for part in self.parts)
        passages = sum(part.passage_chunk.size for part in self.parts)
        columns.body = _renumber(columns.body, renumbered, passages)
        columns.fields = _renumber(columns.fields, renumbered, chunks)
        columns.carried = _renumber(columns.carried, renumbered, passages)
        columns.passage_chunk = columns.passage_chunk + chunks
        columns.terms = []
        self.parts.append(columns)
        self.files.extend(batch.files)
        self.problems.extend(batch.problems)
        self.binary.extend(batch.binary)

    def finish(self) -> Columns:
        """One set of columns out of all parts, which are given up; `files` are put in order.

        The order is decided by content alone, files by path and terms by name, so that an
        incremental build ends with the very numbers, and the order of ties, of a full one.
        Postings are sorted; terms that no chunk holds any more are dropped.
        """
        parts, self.parts = self.parts, []
        order = sorted(range(len(self.files)), key=lambda row: self.files[row].path)
        chunks_of_file = np.array([file.chunks for file in self.files], dtype=np.int64)
        chunk_order = np.argsort(np.repeat(_inverse(order), chunks_of_file), kind="stable")
        chunk_number = _inverse(chunk_order)
        passage_chunk = chunk_number[_join(parts, "passage_chunk")]
        passage_order = np.argsort(passage_chunk, kind="stable")
        passage_number = _inverse(passage_order)
        body, fields = _join(parts, "body"), _join(parts, "fields")
        carried = _join(parts, "carried")
        terms, term_number = self._sorted_terms(body, fields, carried)
        labels = [label for part in parts for label in part.labels]
        self.files = [self.files[row] for row in order]
        return Columns(
            chunks=_join(parts, "chunks").reshape(-1, len(CHUNK_COLUMNS))[chunk_order],
            labels=[labels[row] for row in chunk_order.tolist()],
            passage_chunk=passage_chunk[passage_order],
            terms=terms,
            body=_reordered(body, term_number, passage_number),
            fields=_reordered(fields, term_number, chunk_number),
            carried=_reordered(carried, term_number, passage_number),
        )

    def _sorted_terms(self, *postings: Ints) -> tuple[list[str], Ints]:
        """(terms in use, sorted; the new number of each old one)."""
        is_used = np.zeros(len(self.terms), dtype=bool)
        for packed in postings:
            is_used[packed >> TERM_SHIFT] = True
        old = self.terms
        names = [name for name in sorted(old) if is_used[old[name]]]
        number = np.zeros(len(old), dtype=np.int64)
        number[np.fromiter(map(old.__getitem__, names), dtype=np.int64, count=len(names))] = (
            np.arange(len(names))
        )
        return names, number


def _join(parts: Sequence[Columns], name: str) -> Ints:
    arrays = [getattr(part, name) for part in parts]
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int64)


def _inverse(order: Sequence[int] | Ints) -> Ints:
    """Where each position of a permutation went."""
    number = np.empty(len(order), dtype=np.int64)
    number[np.asarray(order, dtype=np.int64)] = np.arange(len(order))
    return number


def _renumber(packed: Ints, term_number: Ints, first_item: int) -> Ints:
    term, item, count = unpack(packed)
    return pack(term_number[term], item + first_item, count)


def _reordered(packed: Ints, term_number: Ints, item_number: Ints) -> Ints:
    """Postings under new numbers, sorted."""
    if np.array_equal(item_number, np.arange(item_number.size)):  # nothing was taken over
        rest = packed & ((1 << TERM_SHIFT) - 1)
        postings: Ints = (term_number[packed >> TERM_SHIFT] << TERM_SHIFT) | rest
    else:
        term, item, count = unpack(packed)
        postings = pack(term_number[term], item_number[item], count)
    postings.sort()
    return postings
