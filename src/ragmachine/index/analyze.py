"""One batch of files to columns of numbers: the part of indexing that runs in worker processes."""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ragmachine.chunking.builder import NodeContext, cut_lines
from ragmachine.corpus.discover import SourceFile
from ragmachine.corpus.loaders.kinds import is_packed
from ragmachine.corpus.loaders.loaded import LoadError, Places
from ragmachine.corpus.loaders.registry import Loaders
from ragmachine.file_types import file_type_of
from ragmachine.index.documents import Document, is_paged, read_document
from ragmachine.index.offsets import ByteOffsets, Lines
from ragmachine.index.pages import FilePages, file_pages
from ragmachine.index.passages import stretches
from ragmachine.index.postings import Ints, WordBags, pack, term_of, unpack, with_terms_of
from ragmachine.index.request import Shape
from ragmachine.index.words import Words, whole
from ragmachine.places import place_of

if TYPE_CHECKING:
    from ragmachine.chunking.tables import Table

PASSAGE_CHARS = 400
_MAX_LABEL_CHARS = 240
# Reading a page takes as long as so many times its bytes of plain text.
_PACKED_COST = 20


@dataclass(slots=True)
class FileRecord:
    """One indexed file as the manifest keeps it.

    `text` is its content re-encoded as UTF-8, or what a loader read out of it; `places` are those
    of `Loaded`, and `rows` are those of `Document`.
    """

    path: str
    size: int
    mtime_ns: int
    digest: str
    file_type: str
    problem: str
    chunks: int
    text: bytes = b""
    places: Places = ()
    rows: tuple[bytes, ...] = ()
    pages: FilePages | None = None


# What the chunk map keeps of a chunk, in this order; offsets into the file, then its UTF-8 text.
CHUNK_COLUMNS = ("start", "end", "first_line", "last_line", "byte_start", "byte_end")


@dataclass(slots=True)
class Columns:
    """Chunks and postings of a batch, or of a whole index, as parallel columns.

    Attributes:
        chunks: (chunks, 6) the columns named by `CHUNK_COLUMNS`.
        labels: (chunks,) symbol or section.
        passage_chunk: (passages,) chunk of each passage; ascending.
        terms: term strings; postings name them by position.
        body: (postings,) packed by `pack`: term, passage, count in the passage.
        fields: (postings,) packed by `pack`: term, chunk, count in its label and path, and in the
            header of a large table that it holds rows of.
        carried: (postings,) packed by `pack`: term, passage, count in what a row of a large table
            is read under, the table's header and the section.
    """

    chunks: Ints
    labels: list[str]
    passage_chunk: Ints
    terms: list[str]
    body: Ints
    fields: Ints
    carried: Ints


@dataclass(slots=True)
class Batch:
    """What a worker returns.

    Attributes:
        files: the indexed files.
        columns: their chunks and postings.
        binary: files that turned out not to be text.
        problems: (path, reason) of every file that was odd or unreadable.
        notices: what holds for the run rather than for a file, and what to do.
    """

    files: list[FileRecord]
    columns: Columns
    binary: list[SourceFile] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    notices: dict[str, None] = field(default_factory=dict)


def metadata_line(label: str, path: str, title: str = "") -> str:
    """What is injected into the indexed text: ``Class: X - Method: y | File: path``.

    Args:
        label: symbol or section, "" for none.
        path: of the file.
        title: of the document, where the label does not begin with it.
    """
    return " | ".join(filter(None, (title, label, f"File: {path}")))


def label_of(contexts: Sequence[NodeContext]) -> str:
    """The chunk's place for people: its contexts' labels, classes that only open dropped."""
    labels = [context.label() for context in contexts if context.kind not in ("module", "text")]
    if len(labels) > 1:
        labels = [label for label in labels if label != "Imports"] or labels
    return "; ".join(dict.fromkeys(labels))[:_MAX_LABEL_CHARS]


def section_of(contexts: Sequence[NodeContext]) -> str:
    """The words of the chunk's sections, each said once."""
    names = dict.fromkeys(name for context in contexts for name in context.path)
    return " ".join(names)[:_MAX_LABEL_CHARS]


_words: Words | None = None


def analyze(files: Sequence[SourceFile], shape: Shape, loaders: Loaders) -> Batch:
    """Read, decode, chunk and tokenize files; an odd file is reported and never raises.

    Called in worker processes; keeps the words it has seen between calls.

    Args:
        files: what to read.
        shape: how to cut it.
        loaders: for what is not the text itself; they serve one batch after another.
    """
    global _words
    _words = _words or Words()
    was_enabled = gc.isenabled()
    gc.disable()  # syntax trees are millions of short-lived objects without cycles
    try:
        analyzer = _Analyzer(_words, shape, loaders)
        for file in files:
            analyzer.add(file)
        return analyzer.batch()
    finally:
        loaders.rest()
        if was_enabled:
            gc.enable()


class _Analyzer:
    """Accumulates the columns of one batch."""

    def __init__(self, words: Words, shape: Shape, loaders: Loaders) -> None:
        self.words = words
        self.shape = shape
        self.loaders = loaders
        self.files: list[FileRecord] = []
        self.problems: list[tuple[str, str]] = []
        self.binary: list[SourceFile] = []
        self.notices: dict[str, None] = {}
        self.chunks: list[tuple[int, int, int, int, int, int]] = []
        self.labels: list[str] = []
        self.passage_chunk: list[int] = []
        self.body = WordBags()
        self.fields = WordBags()
        self.carried = WordBags()
        self.carried_passage: list[int] = []

    def add(self, file: SourceFile) -> None:
        """Analyze one file."""
        try:
            with open(file.absolute, "rb") as stream:
                # before reading: a change during it must leave a later time than the one noted
                info = os.fstat(stream.fileno())
                data = stream.read()
        except OSError as error:
            self.problems.append((file.path, f"cannot read: {error.strerror or error}"))
            return
        try:
            document = read_document(file.path, data, self.loaders, self.shape)
        except LoadError as error:
            # kept as a file without chunks, so that it is not read again before it changes
            document = Document("", b"", file_type_of(file.path), (), False, str(error))
        if document is None:
            self.binary.append(file)
            return
        if document.problem:
            self.problems.append((file.path, document.problem))
        self._add_chunks(file.path, document)
        digest = hashlib.sha256(data).hexdigest()
        self.files.append(
            FileRecord(
                file.path, len(data), info.st_mtime_ns, digest, document.file_type,
                document.problem, len(document.pieces), document.stored, document.places,
                document.rows, self._pages(document),
            )
        )  # fmt: skip

    def _pages(self, document: Document) -> FilePages | None:
        pages = document.pages
        if pages is None:
            return None
        if pages.notice:
            self.notices[pages.notice] = None
        return file_pages(pages, document.text, document.places, document.pieces)

    def _tables(self, document: Document) -> list[Table]:
        if not self.shape.has_table_rows or not document.is_markdown:
            return []
        from ragmachine.chunking.tables import pipe_tables

        return pipe_tables(document.text)

    def _add_chunks(self, path: str, document: Document) -> None:
        text, tables = document.text, self._tables(document)
        starts = [start for start, _ in document.places]
        places = [place for _, place in document.places]
        has_pages = is_paged(document.places)
        raw_words, number = self.words.tokenizer.raw_words, self.words.raw.__getitem__
        lines, offsets = Lines(text), ByteOffsets(text)
        for piece in document.pieces:
            chunk = len(self.chunks)
            self.chunks.append(
                (
                    piece.start, piece.end, lines.of(piece.start), lines.of(piece.end - 1),
                    offsets.of(piece.start), offsets.of(piece.end),
                )
            )  # fmt: skip
            label = label_of(piece.contexts)
            self.labels.append(label)
            place = place_of(starts, places, piece.start, piece.end) if has_pages else ""
            title = "" if document.title in label else document.title
            injected = raw_words(metadata_line(label, path, title))
            if place:  # "p.2" answers who asks for that page, and no one who asks for a model 2
                injected.append(whole(place))
            # the marker would be evidence for "file" in every chunk; of the word, one goes
            injected.remove("File")
            for stretch in stretches(piece.start, piece.end, tables):
                carried: list[int] = []
                if stretch.header:
                    header = raw_words(stretch.header)
                    injected += header
                    section = section_of(piece.contexts)
                    carried = list(map(number, header + raw_words(section)))
                for from_, to in pairwise(stretch.bounds):
                    for start, end in cut_lines(text, from_, to, PASSAGE_CHARS):
                        self.body.add(list(map(number, raw_words(text[start:end]))))
                        if carried:
                            self.carried.add(carried)
                            self.carried_passage.append(len(self.passage_chunk))
                        self.passage_chunk.append(chunk)
            self.fields.add(list(map(number, injected)))

    def batch(self) -> Batch:
        """The columns of everything added."""
        expansions = self.words.expansions()
        body = self.body.postings(*expansions)
        fields = self.fields.postings(*expansions)
        term, row, count = unpack(self.carried.postings(*expansions))
        carried = pack(term, np.array(self.carried_passage, dtype=np.int64)[row], count)
        used = np.unique(term_of(np.concatenate([body, fields, carried])))
        columns = Columns(
            chunks=np.array(self.chunks, dtype=np.int64).reshape(-1, len(CHUNK_COLUMNS)),
            labels=self.labels,
            passage_chunk=np.array(self.passage_chunk, dtype=np.int64),
            terms=self.words.names(used),
            body=with_terms_of(body, used),
            fields=with_terms_of(fields, used),
            carried=with_terms_of(carried, used),
        )
        return Batch(self.files, columns, self.binary, self.problems, self.notices)


def cost_bytes(file: SourceFile) -> int:
    """How many bytes of plain text take as long to analyze as a file."""
    return file.size * (_PACKED_COST if is_packed(file.path) else 1)


def batches(files: Iterable[SourceFile], batch_bytes: int) -> list[list[SourceFile]]:
    """Cut a list of files into runs of about `batch_bytes`, order kept."""
    result: list[list[SourceFile]] = [[]]
    filled = 0
    for file in files:
        if filled >= batch_bytes:
            result.append([])
            filled = 0
        result[-1].append(file)
        filled += cost_bytes(file)
    return [batch for batch in result if batch]
