"""One batch of files to columns of numbers: the part of indexing that runs in worker processes."""

from __future__ import annotations

import gc
import hashlib
import os
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from ragmachine.chunking.builder import LineMap, NodeContext, Piece, cut_lines
from ragmachine.chunking.document import chunk_document
from ragmachine.corpus.decode import decode, is_binary
from ragmachine.corpus.discover import SourceFile
from ragmachine.index.postings import Ints, pack, unpack
from ragmachine.index.request import Shape
from ragmachine.index.tokens import Tokenizer

PASSAGE_CHARS = 400
_MAX_LABEL_CHARS = 240


@dataclass(slots=True)
class FileRecord:
    """One indexed file as the manifest keeps it; `text` is its content re-encoded as UTF-8."""

    path: str
    size: int
    mtime_ns: int
    digest: str
    file_type: str
    problem: str
    chunks: int
    text: bytes = b""


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
        fields: (postings,) packed by `pack`: term, chunk, count in its label and path.
    """

    chunks: Ints
    labels: list[str]
    passage_chunk: Ints
    terms: list[str]
    body: Ints
    fields: Ints


@dataclass(slots=True)
class Batch:
    """What a worker returns.

    Attributes:
        files: the indexed files.
        columns: their chunks and postings.
        binary: files that turned out not to be text.
        problems: (path, reason) of every file that was odd or unreadable.
    """

    files: list[FileRecord]
    columns: Columns
    binary: list[SourceFile] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)


def metadata_line(label: str, path: str) -> str:
    """What is injected into the indexed text: ``Class: X - Method: y | File: path``."""
    return f"{label} | File: {path}" if label else f"File: {path}"


def label_of(contexts: Sequence[NodeContext]) -> str:
    """The chunk's place for people: its contexts' labels, classes that only open dropped."""
    labels = [context.label() for context in contexts if context.kind not in ("module", "text")]
    if len(labels) > 1:
        labels = [label for label in labels if label != "Imports"] or labels
    return "; ".join(dict.fromkeys(labels))[:_MAX_LABEL_CHARS]


class _Ids(dict[str, int]):
    """Numbers strings in the order they are first looked up; the lookup is plain indexing."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


class _Words:
    """Raw words and the terms they expand to, numbered once per process.

    A corpus repeats its words: what one batch has expanded, the next finds done.
    """

    def __init__(self) -> None:
        self.tokenizer = Tokenizer()
        self.raw = _Ids()
        self._terms = _Ids()
        self._names: list[str] = []
        self._flat = array("q")
        self._lengths = array("q")

    def expansions(self) -> tuple[Ints, Ints, Ints]:
        """(term numbers of all raw words in order, how many each has, where they start)."""
        expand, number = self.tokenizer.expand, self._terms.__getitem__
        for raw in islice(self.raw, len(self._lengths), None):
            terms = expand(raw)
            self._flat.extend(map(number, terms))
            self._lengths.append(len(terms))
        flat = np.array(self._flat, dtype=np.int64)
        lengths = np.array(self._lengths, dtype=np.int64)
        return flat, lengths, np.cumsum(lengths) - lengths

    def names(self, numbers: Ints) -> list[str]:
        """The terms of these numbers."""
        self._names.extend(islice(self._terms, len(self._names), None))
        return [self._names[number] for number in numbers.tolist()]


_words: _Words | None = None


def analyze(files: Sequence[SourceFile], shape: Shape) -> Batch:
    """Read, decode, chunk and tokenize files; an odd file is reported and never raises.

    Called in worker processes; keeps the words it has seen between calls.
    """
    global _words
    _words = _words or _Words()
    was_enabled = gc.isenabled()
    gc.disable()  # syntax trees are millions of short-lived objects without cycles
    try:
        analyzer = _Analyzer(_words, shape)
        for file in files:
            analyzer.add(file)
        return analyzer.batch()
    finally:
        if was_enabled:
            gc.enable()


class _Analyzer:
    """Accumulates the columns of one batch."""

    def __init__(self, words: _Words, shape: Shape) -> None:
        self.words = words
        self.shape = shape
        self.files: list[FileRecord] = []
        self.problems: list[tuple[str, str]] = []
        self.binary: list[SourceFile] = []
        self.chunks: list[tuple[int, int, int, int, int, int]] = []
        self.labels: list[str] = []
        self.passage_chunk: list[int] = []
        self.body_words: list[int] = []
        self.body_lengths: list[int] = []
        self.field_words: list[int] = []
        self.field_lengths: list[int] = []

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
        if is_binary(data):
            self.binary.append(file)
            return
        decoded = decode(data)
        document = chunk_document(
            file.path,
            decoded.text,
            max_chars=self.shape.max_chars,
            overlap_chars=self.shape.overlap_chars,
        )
        problem = "; ".join(filter(None, (decoded.problem, document.problem)))
        if problem:
            self.problems.append((file.path, problem))
        self._add_chunks(file.path, decoded.text, document.pieces)
        text = data if not decoded.problem else decoded.text.encode("utf-8")
        digest = hashlib.sha256(data).hexdigest()
        self.files.append(
            FileRecord(
                file.path, len(data), info.st_mtime_ns, digest, document.file_type, problem,
                len(document.pieces), text,
            )
        )  # fmt: skip

    def _add_chunks(self, path: str, text: str, pieces: Sequence[Piece]) -> None:
        raw_words, number = self.words.tokenizer.raw_words, self.words.raw.__getitem__
        lines, offsets = _Lines(text), _ByteOffsets(text)
        for piece in pieces:
            chunk = len(self.chunks)
            self.chunks.append(
                (
                    piece.start, piece.end, lines.of(piece.start), lines.of(piece.end - 1),
                    offsets.of(piece.start), offsets.of(piece.end),
                )
            )  # fmt: skip
            label = label_of(piece.contexts)
            self.labels.append(label)
            injected = raw_words(metadata_line(label, path))
            # the marker would be evidence for "file" in every chunk; of the word, one goes
            injected.remove("File")
            self.field_words.extend(map(number, injected))
            self.field_lengths.append(len(injected))
            for start, end in cut_lines(text, piece.start, piece.end, PASSAGE_CHARS):
                words = list(map(number, raw_words(text[start:end])))
                self.body_words.extend(words)
                self.body_lengths.append(len(words))
                self.passage_chunk.append(chunk)

    def batch(self) -> Batch:
        """The columns of everything added."""
        expansions = self.words.expansions()
        body = _postings(self.body_words, self.body_lengths, *expansions)
        fields = _postings(self.field_words, self.field_lengths, *expansions)
        body_term, fields_term = unpack(body)[0], unpack(fields)[0]
        used = np.unique(np.concatenate([body_term, fields_term]))
        columns = Columns(
            chunks=np.array(self.chunks, dtype=np.int64).reshape(-1, len(CHUNK_COLUMNS)),
            labels=self.labels,
            passage_chunk=np.array(self.passage_chunk, dtype=np.int64),
            terms=self.words.names(used),
            body=_renumbered(body, used),
            fields=_renumbered(fields, used),
        )
        return Batch(self.files, columns, self.binary, self.problems)


def _renumbered(packed: Ints, used: Ints) -> Ints:
    """Postings whose terms are numbered by their position in `used`, which is ascending."""
    term, item, count = unpack(packed)
    return pack(np.searchsorted(used, term), item, count)


def _postings(
    words: list[int], item_lengths: list[int], flat: Ints, lengths: Ints, starts: Ints
) -> Ints:
    """Expand raw words to terms and count each term per item; sorted, packed."""
    raw = np.array(words, dtype=np.int64)
    if not raw.size:
        return np.empty(0, dtype=np.int64)
    item = np.repeat(np.arange(len(item_lengths)), np.array(item_lengths, dtype=np.int64))
    counts = lengths[raw]
    total = int(counts.sum())
    within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    term = flat[np.repeat(starts[raw], counts) + within]
    keys = (term << 27) | np.repeat(item, counts)
    keys.sort()
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if keys.size else keys
    tally = np.diff(np.r_[first, keys.size])
    unique = keys[first]
    return pack(unique >> 27, unique & ((1 << 27) - 1), tally)


class _Lines:
    """Line numbers of ascending offsets, counted forward so that each line is seen once."""

    def __init__(self, text: str) -> None:
        self.of: Callable[[int], int]
        if "\r" in text:
            starts = LineMap(text).starts
            self.of = lambda offset: bisect_right(starts, offset)
        else:
            self.of = _Forward(lambda start, end: text.count("\n", start, end), first=1).of


class _ByteOffsets:
    """UTF-8 byte offsets of ascending character offsets."""

    def __init__(self, text: str) -> None:
        self.of: Callable[[int], int]
        if text.isascii():
            self.of = lambda offset: offset
        else:
            self.of = _Forward(lambda start, end: len(text[start:end].encode("utf-8"))).of


class _Forward:
    """A running total over a text, moved forward or, with overlapping chunks, back."""

    def __init__(self, measure: Callable[[int, int], int], first: int = 0) -> None:
        self.measure = measure
        self.position = 0
        self.total = first

    def of(self, offset: int) -> int:
        """The total up to an offset."""
        if offset >= self.position:
            self.total += self.measure(self.position, offset)
        else:
            self.total -= self.measure(offset, self.position)
        self.position = offset
        return self.total


def batches(files: Iterable[SourceFile], batch_bytes: int) -> list[list[SourceFile]]:
    """Cut a list of files into runs of about `batch_bytes`, order kept."""
    result: list[list[SourceFile]] = [[]]
    filled = 0
    for file in files:
        if filled >= batch_bytes:
            result.append([])
            filled = 0
        result[-1].append(file)
        filled += file.size
    return [batch for batch in result if batch]
