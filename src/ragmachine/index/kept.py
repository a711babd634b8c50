"""Chunks and postings of files that have not changed, out of the current generation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmachine.corpus.discover import SourceFile
from ragmachine.index.analyze import CHUNK_COLUMNS, Batch, Columns, FileRecord
from ragmachine.index.files import Documents, chunk_map_places, read_json
from ragmachine.index.pages import kept_pages
from ragmachine.index.postings import Ints, from_columns, pack, unpack
from ragmachine.index.reuse import Previous
from ragmachine.index.rows import Rows
from ragmachine.index.sparse import VOCABULARY_FILE

Flags = npt.NDArray[np.bool_]


def take(previous: Previous, kept: Sequence[SourceFile]) -> Batch:
    """The kept files' records, columns and postings, renumbered from 0."""
    chunk_map = read_json(os.path.join(previous.folder, "chunks.json"))
    paths: list[str] = chunk_map["files"]
    by_path = {file.path: file for file in kept}
    is_kept = np.array([path in by_path for path in paths], dtype=bool)
    file_chunks = np.array(chunk_map["file_chunks"], dtype=np.int64)
    columns = _columns(previous.folder, chunk_map, np.repeat(is_kept, file_chunks))
    documents = Documents(os.path.join(previous.folder, "documents.bin"))
    rows = Rows(previous.folder, chunk_map)
    byte_ends = np.cumsum(chunk_map["file_bytes"], dtype=np.int64)
    records, problems = [], []
    for row in np.flatnonzero(is_kept).tolist():
        path, file = paths[row], by_path[paths[row]]
        known = previous.row(path)
        end = int(byte_ends[row])
        text = documents.raw(end - chunk_map["file_bytes"][row], end)
        file_type = chunk_map["file_types"][row]
        records.append(
            FileRecord(
                path, file.size, file.mtime_ns, known[3], file_type, known[4],
                int(file_chunks[row]), text, _places(chunk_map, path), rows.of_file(path),
                kept_pages(previous.manifest, chunk_map, path, int(file_chunks[row])),
            )
        )  # fmt: skip
        if known[4]:
            problems.append((path, known[4]))
    return Batch(records, columns, problems=problems)


def _places(chunk_map: dict[str, Any], path: str) -> tuple[tuple[int, str], ...]:
    return tuple(zip(*chunk_map_places(chunk_map, path), strict=True))


def _columns(folder: str, chunk_map: dict[str, Any], chunk_kept: Flags) -> Columns:
    chunks = np.array([chunk_map[name] for name in CHUNK_COLUMNS], dtype=np.int64).T
    labels = [
        label for label, kept in zip(chunk_map["labels"], chunk_kept.tolist(), strict=True) if kept
    ]
    passage_chunk = _array(folder, "passage_chunk")
    passage_kept = chunk_kept[passage_chunk]
    new_chunk = np.cumsum(chunk_kept) - 1
    vocabulary = read_json(os.path.join(folder, "bm25", VOCABULARY_FILE))
    return Columns(
        chunks=chunks[chunk_kept],
        labels=labels,
        passage_chunk=new_chunk[passage_chunk[passage_kept]],
        terms=list(vocabulary),
        body=_postings(folder, "body", passage_kept),
        fields=_postings(folder, "fields", chunk_kept),
        carried=_carried(_array(folder, "carried"), passage_kept),
    )


def _postings(folder: str, name: str, is_kept: Flags) -> Ints:
    indptr, items, counts = (
        _array(folder, f"{name}.{part}") for part in ("indptr", "items", "counts")
    )
    return from_columns(indptr, items, counts, is_kept)


def _carried(packed: Ints, is_kept: Flags) -> Ints:
    term, item, count = unpack(packed)
    keep = is_kept[item]
    return pack(term[keep], (np.cumsum(is_kept) - 1)[item[keep]], count[keep])


def _array(folder: str, name: str) -> Ints:
    array: Ints = np.load(os.path.join(folder, "postings", f"{name}.npy"))
    return array
