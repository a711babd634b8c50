"""What a new build takes over from the current generation: files that have not changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmachine.corpus.decode import is_binary
from ragmachine.corpus.discover import Discovery, SourceFile
from ragmachine.errors import RagError
from ragmachine.index.analyze import CHUNK_COLUMNS, Batch, Columns, FileRecord
from ragmachine.index.files import Documents, read_json
from ragmachine.index.postings import Ints, pack, unpack
from ragmachine.index.provenance import versions
from ragmachine.index.request import SCORING, BuildRequest
from ragmachine.index.sparse import VOCABULARY_FILE
from ragmachine.index.store import IndexStore
from ragmachine.index.summaries import Summaries

Flags = npt.NDArray[np.bool_]
# A file saved in the same instant as it was indexed may change again without its time changing;
# the coarsest clock of a file system in use (FAT) ticks every two seconds.
_RACY_NS = 2_000_000_000
_SNIFFED_BYTES = 8192  # as `is_binary` looks at


class Previous:
    """The current generation as a source of finished work."""

    def __init__(
        self, folder: str, manifest: dict[str, Any], *, has_same_scores: bool = True
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.has_same_scores = has_same_scores
        self.reused = 0
        self._known = {row[0]: row for row in manifest["files"]}
        self._binary = {row[0]: (row[1], row[2]) for row in manifest["binary_files"]}
        self.binary_count = len(self._binary)

    @property
    def problems(self) -> list[tuple[str, str]]:
        """The problems that its build reported."""
        return [(path, reason) for path, reason in self.manifest["problems"]]

    def is_same(self, found: Discovery) -> bool:
        """Whether a build of what was found would give this generation again."""
        seen_before = self._problems_of_discovery()
        if not self.has_same_scores or found.problems != seen_before:
            return False
        unread = {path for path, _ in self.problems} - {path for path, _ in seen_before}
        others = self._binary.keys() | (unread - self._known.keys())
        if {file.path for file in found.files} != self._known.keys() | others:
            return False
        return all(
            self._is_left_out(file) if file.path in others else self._is_kept(file)
            for file in found.files
        )

    def _problems_of_discovery(self) -> list[tuple[str, str]]:
        return [(path, reason) for path, reason in self.manifest["discovery_problems"]]

    def _is_left_out(self, file: SourceFile) -> bool:
        """Whether a file that could not be indexed still is what it was."""
        if file.path in self._binary:
            return self._is_still_binary(file)
        try:
            with open(file.absolute, "rb"):
                return False
        except OSError:
            return True

    def split(
        self, files: Sequence[SourceFile]
    ) -> tuple[list[SourceFile], list[SourceFile], list[SourceFile]]:
        """(files to take over, files known to be binary, files to analyze)."""
        kept, binary, fresh = [], [], []
        for file in files:
            if self._is_kept(file):
                kept.append(file)
            elif file.path in self._binary and self._is_still_binary(file):
                binary.append(file)
            else:
                fresh.append(file)
        self.reused = len(kept)
        return kept, binary, fresh

    def _is_racy(self, file: SourceFile) -> bool:
        """Whether the file may have changed after it was read without its time showing it."""
        return bool(file.mtime_ns >= self.manifest["created_ns"] - _RACY_NS)

    def _is_still_binary(self, file: SourceFile) -> bool:
        is_same = self._binary[file.path] == (file.size, file.mtime_ns)
        if is_same and not self._is_racy(file):
            return True
        try:
            with open(file.absolute, "rb") as stream:
                return is_binary(stream.read(_SNIFFED_BYTES))
        except OSError:
            return False

    def _is_kept(self, file: SourceFile) -> bool:
        row = self._known.get(file.path)
        if row is None or row[1] != file.size or not os.access(file.absolute, os.R_OK):
            return False
        if row[2] == file.mtime_ns and not self._is_racy(file):
            return True
        try:
            with open(file.absolute, "rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            return False
        return bool(digest == row[3])

    def take(self, kept: Sequence[SourceFile]) -> Batch:
        """The kept files' records, columns and postings, renumbered from 0."""
        chunk_map = read_json(os.path.join(self.folder, "chunks.json"))
        paths: list[str] = chunk_map["files"]
        by_path = {file.path: file for file in kept}
        is_kept = np.array([path in by_path for path in paths], dtype=bool)
        file_chunks = np.array(chunk_map["file_chunks"], dtype=np.int64)
        chunk_kept = np.repeat(is_kept, file_chunks)
        columns = self._columns(chunk_map, chunk_kept)
        documents = Documents(os.path.join(self.folder, "documents.bin"))
        byte_ends = np.cumsum(chunk_map["file_bytes"], dtype=np.int64)
        records, problems = [], []
        for row in np.flatnonzero(is_kept).tolist():
            path, file = paths[row], by_path[paths[row]]
            known = self._known[path]
            end = int(byte_ends[row])
            text = documents.raw(end - chunk_map["file_bytes"][row], end)
            file_type = chunk_map["file_types"][row]
            records.append(
                FileRecord(
                    path, file.size, file.mtime_ns, known[3], file_type, known[4],
                    int(file_chunks[row]), text,
                )
            )  # fmt: skip
            if known[4]:
                problems.append((path, known[4]))
        return Batch(records, columns, problems=problems)

    def _columns(self, chunk_map: dict[str, Any], chunk_kept: Flags) -> Columns:
        chunks = np.array([chunk_map[name] for name in CHUNK_COLUMNS], dtype=np.int64).T
        labels = [
            label
            for label, kept in zip(chunk_map["labels"], chunk_kept.tolist(), strict=True)
            if kept
        ]
        passage_chunk = self._array("passage_chunk")
        passage_kept = chunk_kept[passage_chunk]
        new_chunk = np.cumsum(chunk_kept) - 1
        vocabulary = read_json(os.path.join(self.folder, "bm25", VOCABULARY_FILE))
        return Columns(
            chunks=chunks[chunk_kept],
            labels=labels,
            passage_chunk=new_chunk[passage_chunk[passage_kept]],
            terms=list(vocabulary),
            body=self._postings("body", passage_kept),
            fields=self._postings("fields", chunk_kept),
            carried=_kept(*unpack(self._array("carried")), passage_kept),
        )

    def _postings(self, name: str, item_kept: Flags) -> Ints:
        indptr = self._array(f"{name}.indptr")
        item = self._array(f"{name}.items").astype(np.int64)
        count = self._array(f"{name}.counts").astype(np.int64)
        term = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        return _kept(term, item, count, item_kept)

    def _array(self, name: str) -> Ints:
        array: Ints = np.load(os.path.join(self.folder, "postings", f"{name}.npy"))
        return array


def _kept(term: Ints, item: Ints, count: Ints, item_kept: Flags) -> Ints:
    """The postings of the items that are kept, which are numbered through."""
    keep = item_kept[item]
    new_item = np.cumsum(item_kept) - 1
    return pack(term[keep], new_item[item[keep]], count[keep])


def load_previous(
    store: IndexStore, request: BuildRequest, summaries: Summaries | None
) -> Previous | None:
    """The current generation, if it is intact and was cut from the same root in the same way.

    Other scores and summaries are no obstacle: scores are made anew of the counts that are taken
    over. An unusable one is no error here: the build then starts from nothing.
    """
    try:
        folder, manifest = store.read(lambda folder: (folder, store.manifest(folder)))
    except RagError:
        return None
    settings = manifest["settings"]
    wanted = {**request.shape.to_json(), "max_file_bytes": request.max_file_bytes}
    changed = {name for name in wanted if settings.get(name) != wanted[name]}
    is_of_use = (
        changed <= SCORING
        and manifest["corpus_root"] == request.display_root
        and manifest["absolute_root"] == os.path.abspath(request.root)
        and manifest["versions"] == versions()
    )
    if not is_of_use:
        return None
    indexed = (manifest["summaries"] or {}).get("digest")
    has_same_summaries = indexed == (summaries.digest if summaries else None)
    return Previous(folder, manifest, has_same_scores=not changed and has_same_summaries)
