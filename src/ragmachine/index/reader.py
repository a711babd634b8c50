"""An opened generation: the read-only view that retrieval works on."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragmachine.file_types import file_type_of
from ragmachine.index.bm25 import Bm25
from ragmachine.index.files import Documents, chunk_map_places, damage, read_json
from ragmachine.index.pages import BOXES, boxes_of
from ragmachine.index.passage_counts import PassagePostings
from ragmachine.index.rows import RowFacts, Rows
from ragmachine.index.sparse import VOCABULARY_FILE, load_retriever
from ragmachine.index.store import IndexStore
from ragmachine.index.tokens import Tokenizer
from ragmachine.index.vocabulary import Vocabulary
from ragmachine.models import Chunk, Metadata
from ragmachine.places import Box, place_of

if TYPE_CHECKING:
    import bm25s

Ints = npt.NDArray[np.int32]


class Index:
    """One generation of an index, every file of it held open: it may be removed meanwhile.

    Attributes:
        folder: where it lies.
        manifest: settings, counts and files, as written by the build.
        files: (files,) paths relative to the corpus root.
        file_types: (files,) short types.
        file_of_chunk: (chunks,) int32 position in `files`.
        labels: (chunks,) symbol or section.
        bm25: what the scores were made with.
        vocabulary: term to number.
        chunk_scores: BM25 over chunks, label and path words weighted, summaries' words added.
        file_scores: BM25 over whole files.
        passages: counts per passage, for rescoring the best chunks.
    """

    def __init__(self, folder: str, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self.manifest = manifest
        with damage(os.path.join(folder, "manifest.json")):
            made = manifest["settings"]
            self.bm25 = Bm25(made["bm25"], made["k1"], made["b"])
            has_context = bool(made["context"])
        path = os.path.join(folder, "chunks.json")
        chunk_map = read_json(path)
        with damage(path):
            self.root: str = chunk_map["root"]
            self.files: list[str] = chunk_map["files"]
            self.file_types: list[str] = chunk_map["file_types"]
            self.labels: list[str] = chunk_map["labels"]
            counts = np.array(chunk_map["file_chunks"], dtype=np.int64)
            self._file_start = [0, *np.cumsum(chunk_map["file_bytes"]).tolist()]
            self._has_places = bool(chunk_map.get("places"))
            self._boxes: dict[str, list[list[list[int]]]] = chunk_map.get(BOXES, {})
        self.file_of_chunk: Ints = np.repeat(np.arange(len(self.files), dtype=np.int32), counts)
        self._columns = chunk_map
        self._rows = Rows(folder, chunk_map)
        self.vocabulary = Vocabulary(os.path.join(folder, "bm25", VOCABULARY_FILE))
        self.tokenizer = Tokenizer()
        self._name_terms: dict[int, frozenset[str]] = {}
        path = os.path.join(folder, "documents.bin")
        with damage(path):
            self.documents = Documents(path)
        self.chunk_scores: bm25s.BM25 = load_retriever(os.path.join(folder, "bm25"))
        self.file_scores: bm25s.BM25 = load_retriever(os.path.join(folder, "bm25_files"))
        self.passages = PassagePostings(
            os.path.join(folder, "postings"), self.chunk_count, has_context=has_context
        )

    @property
    def generation(self) -> str:
        """Name of the generation; what it holds never changes."""
        return os.path.basename(self.folder)

    @cached_property
    def sources(self) -> list[str]:
        """(files,) the tag that each file's folder was indexed under, else the root's name."""
        folders = self.manifest["settings"].get("folders", ())
        tags = [(f"{folder}/" if folder else "", tag) for folder, tag in folders]
        name = self.root.rpartition("/")[2]
        return [
            next((tag for folder, tag in tags if path.startswith(folder)), "") or name
            for path in self.files
        ]

    @property
    def content_id(self) -> str:
        """Names the files indexed, what they hold and how they were cut."""
        return str(self.manifest["content_id"])

    @property
    def chunk_count(self) -> int:
        """Chunks in the index."""
        return len(self.labels)

    def chunk_frequency(self, term: str) -> int:
        """Number of chunks that hold a term in text, label, path, table's header or summary."""
        return self._frequency(self.chunk_scores, term)

    def _frequency(self, model: bm25s.BM25, term: str) -> int:
        number = self.vocabulary.get_number(term)
        if number is None:
            return 0
        indptr = model.scores["indptr"]
        return int(indptr[number + 1] - indptr[number])

    def holders(self, terms: Sequence[str], chunks: Sequence[int]) -> list[tuple[str, ...]]:
        """Which of the terms each chunk holds, as `chunk_frequency` counts, in the order given."""
        wanted = np.asarray(chunks, dtype=np.int32)
        found: list[list[str]] = [[] for _ in chunks]
        indices, indptr = self.chunk_scores.scores["indices"], self.chunk_scores.scores["indptr"]
        for term in terms:
            number = self.vocabulary.get_number(term)
            if number is None or not wanted.size:
                continue
            column = indices[indptr[number] : indptr[number + 1]]
            at = np.searchsorted(column, wanted)
            at[at == column.size] = 0
            for row in np.flatnonzero(column[at] == wanted).tolist() if column.size else ():
                found[row].append(term)
        return [tuple(row) for row in found]

    def name_terms(self, file: int) -> frozenset[str]:
        """Terms of a file's name, suffix left out; cached."""
        known = self._name_terms.get(file)
        if known is None:
            name = self.files[file].rpartition("/")[2]
            stem = name.rpartition(".")[0] or name
            known = frozenset(self.tokenizer.terms(stem.replace("_", " ").replace("-", " ")))
            self._name_terms[file] = known
        return known

    def file_path(self, file: int) -> str:
        """A file's path relative to the project root."""
        return f"{self.root.rstrip('/')}/{self.files[file]}" if self.root else self.files[file]

    @cached_property
    def _file_numbers(self) -> dict[str, int]:
        return {self.file_path(number): number for number in range(len(self.files))}

    def file_text(self, file_path: str) -> str | None:
        """The indexed text of a file named as in `Chunk.file_path`; None when it is not here."""
        number = self._file_numbers.get(file_path)
        if number is None:
            return None
        return self.documents.text(self._file_start[number], self._file_start[number + 1])

    def span(self, file_path: str, start: int, end: int, *, project_root: str) -> Chunk | None:
        """A range of a file as a chunk of its own, from the index or else from disk.

        Files on disk count only inside the project root: a results file may come from anywhere,
        and must not be a way to show other files of this machine.

        Returns: None when the file is nowhere or the range is empty.
        """
        from ragmachine.chunking.builder import LineMap

        text = self.file_text(file_path)
        if text is None:
            text = _text_on_disk(file_path, project_root)
        body = text[start:end] if text is not None else ""
        if text is None or not body:
            return None
        lines = LineMap(text).starts
        return Chunk(
            id=-1,
            file_path=file_path,
            start=start,
            end=start + len(body),
            first_line=bisect_right(lines, start),
            last_line=bisect_right(lines, start + len(body) - 1),
            text=body,
            file_type=file_type_of(file_path),
            label="",
            place=self._place(self._file_numbers.get(file_path), start, start + len(body)),
        )

    def _place(self, file: int | None, start: int, end: int) -> str:
        """The page, rows or cells that a range of a file stands in, "" for a plain text."""
        if file is None or not self._has_places:
            return ""
        return place_of(*chunk_map_places(self._columns, self.files[file]), start, end)

    def _metadata(self, file: int, start: int, end: int) -> Metadata:
        """The short columns of the row that a range of a file stands in; empty elsewhere."""
        values = self._rows.of_range(self.files[file], start, end)
        return tuple(
            (column, value if isinstance(value, str) else tuple(value))
            for column, value in values.items()
        )

    def _boxes_of(self, file: int, number: int) -> tuple[Box, ...]:
        """Where on its page a chunk of a file stands."""
        boxes = self._boxes.get(self.files[file]) if self._boxes else None
        if boxes is None:
            return ()
        return boxes_of(boxes[number - int(np.searchsorted(self.file_of_chunk, file))])

    def row_facts(self) -> RowFacts:
        """The short columns of every row of a table of records, read anew each time."""
        return self._rows.facts()

    def chunk_lengths(self) -> list[int]:
        """Characters of each chunk."""
        columns = self._columns
        return [end - start for start, end in zip(columns["start"], columns["end"], strict=True)]

    def chunk_text(self, number: int) -> str:
        """The exact source text of a chunk."""
        base = self._file_start[self.file_of_chunk[number]]
        columns = self._columns
        return self.documents.text(
            base + columns["byte_start"][number], base + columns["byte_end"][number]
        )

    def chunk(self, number: int) -> Chunk:
        """A chunk with its exact source text."""
        columns = self._columns
        file = int(self.file_of_chunk[number])
        return Chunk(
            id=number,
            file_path=self.file_path(file),
            start=columns["start"][number],
            end=columns["end"][number],
            first_line=columns["first_line"][number],
            last_line=columns["last_line"][number],
            text=self.chunk_text(number),
            file_type=self.file_types[file],
            label=self.labels[number],
            place=self._place(file, columns["start"][number], columns["end"][number]),
            metadata=self._metadata(file, columns["start"][number], columns["end"][number]),
            boxes=self._boxes_of(file, number),
        )


def open_index(store: IndexStore) -> Index:
    """Open the current generation after checking its hashes.

    Raises:
        IndexMissingError: nothing was indexed.
        IndexCorruptError: a file does not match its hash; the message names it.
        IndexVersionError: written in another format.
    """
    return store.read(lambda folder: Index(folder, store.manifest(folder)))


def _text_on_disk(file_path: str, project_root: str) -> str | None:
    from ragmachine.corpus.decode import decode
    from ragmachine.corpus.loaders.kinds import is_packed

    if is_packed(file_path):  # its bytes are no text
        return None
    root = os.path.realpath(project_root)
    try:
        path = os.path.realpath(os.path.join(root, file_path))
        if os.path.commonpath([root, path]) != root or not os.path.isfile(path):
            return None
        with open(path, "rb") as stream:
            return decode(stream.read()).text
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
