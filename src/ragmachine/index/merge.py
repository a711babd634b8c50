"""Batches of columns to the columns of a whole index; called by `build`."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress

import numpy as np

from ragmachine.corpus.discover import SourceFile
from ragmachine.index.analyze import CHUNK_COLUMNS, Batch, Columns, FileRecord
from ragmachine.index.postings import TERM_SHIFT, Ints, blocks, pack, renumber
from ragmachine.index.summaries import Summaries
from ragmachine.index.tokens import Tokenizer


@dataclass(slots=True)
class Merged:
    """All files of a new generation, as their batches come in.

    Attributes:
        parts: chunks and postings of each batch, numbered through.
        terms: term to number, common to all parts.
        skipped: files left out by rule, counted by reason.
        problems: (path, reason) of every file that was odd or unreadable.
        notices: what holds for the whole run, and what to do.
        discovery_problems: those of them that were seen before any file was read.
        binary: files that turned out not to be text.
        ctimes_ns: `SourceFile.ctime_ns` of the files that were found, by path.
        summaries: what was written about the texts of chunks; None where nobody wrote any.
        summarised: chunks with a summary, once finished.
        written: once finished, (postings,) packed by `pack`, ascending: term, chunk, and 1 for each
            term of its summary.
    """

    files: list[FileRecord] = field(default_factory=list)
    parts: list[Columns] = field(default_factory=list)
    terms: dict[str, int] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, str]] = field(default_factory=list)
    notices: dict[str, None] = field(default_factory=dict)
    discovery_problems: list[tuple[str, str]] = field(default_factory=list)
    binary: list[SourceFile] = field(default_factory=list)
    ctimes_ns: dict[str, int] = field(default_factory=dict)
    summaries: Summaries | None = None
    summarised: int = 0
    written: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def add(self, batch: Batch) -> None:
        """Append a batch, its terms renumbered into the common vocabulary."""
        columns = batch.columns
        renumbered = self._common_numbers(columns.terms)
        chunks = sum(len(part.labels) for part in self.parts)
        passages = sum(part.passage_chunk.size for part in self.parts)
        if self.parts or renumbered is not None:
            numbers = np.arange(len(columns.terms)) if renumbered is None else renumbered
            passage = np.arange(passages, passages + columns.passage_chunk.size)
            renumber(columns.body, numbers, passage)
            renumber(columns.fields, numbers, np.arange(chunks, chunks + len(columns.labels)))
            renumber(columns.carried, numbers, passage)
        columns.passage_chunk = columns.passage_chunk + chunks
        columns.terms = []
        self.parts.append(columns)
        self.files.extend(batch.files)
        self.problems.extend(batch.problems)
        self.binary.extend(batch.binary)
        self.notices.update(batch.notices)

    def _common_numbers(self, terms: list[str]) -> Ints | None:
        """(terms,) numbers in the common vocabulary; None where each has its own already."""
        number = self.terms
        if not number:  # an index that is taken over whole, most often
            number.update(zip(terms, range(len(terms)), strict=True))
            if len(number) == len(terms):
                return None
            number.clear()
        return np.fromiter(
            (number.setdefault(term, len(number)) for term in terms),
            dtype=np.int64,
            count=len(terms),
        )

    def finish(self) -> Columns:
        """One set of columns out of all parts, which are given up; `files` are put in order.

        What was written about their texts is counted now, in `summarised` and `written`.

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
        chunks = _join(parts, "chunks").reshape(-1, len(CHUNK_COLUMNS))
        written = self._summary_postings(chunks)
        terms, term_number = self._sorted_terms(body, fields, carried, written)
        self.written = _reordered(written, term_number, chunk_number)
        labels = [label for part in parts for label in part.labels]
        self.files = [self.files[row] for row in order]
        return Columns(
            chunks=chunks[chunk_order],
            labels=[labels[row] for row in chunk_order.tolist()],
            passage_chunk=passage_chunk[passage_order],
            terms=terms,
            body=_reordered(body, term_number, passage_number),
            fields=_reordered(fields, term_number, chunk_number),
            carried=_reordered(carried, term_number, passage_number),
        )

    def _summary_postings(self, chunks: Ints) -> Ints:
        """Postings of the summaries, in the numbers of the parts; their terms join the others."""
        if self.summaries is None:
            return self.written
        terms_of, number = Tokenizer().terms, self.terms
        spans = chunks[:, [CHUNK_COLUMNS.index("byte_start"), CHUNK_COLUMNS.index("byte_end")]]
        texts = (file.text for file in self.files for _ in range(file.chunks))
        term, item = array("q"), array("q")
        for chunk, (text, (start, end)) in enumerate(zip(texts, spans.tolist(), strict=True)):
            summary = self.summaries.of(text[start:end])
            self.summarised += bool(summary)
            found = [number.setdefault(name, len(number)) for name in set(terms_of(summary))]
            term.extend(found)
            item.extend([chunk] * len(found))
        terms, items = np.array(term, dtype=np.int64), np.array(item, dtype=np.int64)
        return pack(terms, items, np.ones_like(terms))

    def _sorted_terms(self, *postings: Ints) -> tuple[list[str], Ints]:
        """(terms in use, sorted; the new number of each old one)."""
        is_used = np.zeros(len(self.terms), dtype=bool)
        for packed in postings:
            for block in blocks(packed):
                is_used[block >> TERM_SHIFT] = True
        names = sorted(self.terms)
        old = np.fromiter(map(self.terms.__getitem__, names), dtype=np.int64, count=len(names))
        kept = is_used[old]
        number = np.zeros(len(names), dtype=np.int64)
        number[old[kept]] = np.arange(np.count_nonzero(kept))
        names = list(compress(names, kept.tolist()))
        return names, number


def _join(parts: Sequence[Columns], name: str) -> Ints:
    arrays = [getattr(part, name) for part in parts]
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int64)


def _inverse(order: Sequence[int] | Ints) -> Ints:
    """Where each position of a permutation went."""
    number = np.empty(len(order), dtype=np.int64)
    number[np.asarray(order, dtype=np.int64)] = np.arange(len(order))
    return number


def _reordered(packed: Ints, term_number: Ints, item_number: Ints) -> Ints:
    """Postings under new numbers, sorted; those given are changed."""
    renumber(packed, term_number, item_number)
    packed.sort(kind="stable")  # a merge of runs: what was taken over is one, in order already
    return packed
