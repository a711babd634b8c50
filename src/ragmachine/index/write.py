"""Columns to the files of a generation; called by `build`."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from ragmachine.index.analyze import CHUNK_COLUMNS, Columns
from ragmachine.index.bm25 import Bm25
from ragmachine.index.files import write_json
from ragmachine.index.merge import Merged
from ragmachine.index.pages import chunk_map_boxes, manifest_pages
from ragmachine.index.postings import (
    Counted,
    Ints,
    add_weighted,
    group_counts,
    regroup,
    to_columns,
)
from ragmachine.index.provenance import versions
from ragmachine.index.request import BuildRequest, Shape
from ragmachine.index.rows import ROWS, first_rows, write_rows
from ragmachine.index.sparse import bm25_matrix, save_retriever
from ragmachine.index.store import FORMAT_VERSION, IndexStore

# Path and label words count this many times in a chunk's BM25: measured best of 1, 3, 5 and 8.
FIELD_WEIGHT = 5
# A summary's words count once, like words of the text.
_SUMMARY_WEIGHT = 1


def write_generation(
    store: IndexStore, request: BuildRequest, merged: Merged, began_ns: int
) -> dict[str, Any]:
    """Write a generation and swap it in.

    Args:
        store: the index folder, held with `writing`.
        request: what was indexed.
        merged: all of it.
        began_ns: when the build began to look at files, since the epoch.
    Returns: its manifest.
    Raises: StorageError: the folder cannot be written; the old generation stays.
    """
    columns = merged.finish()
    manifest = _manifest(request, merged, columns, began_ns)
    with store.new_generation() as folder:
        write_json(os.path.join(folder, "manifest.json"), manifest)
        # numpy lets other threads run while it sorts and sums
        with ThreadPoolExecutor(1) as pool:
            in_chunk = pool.submit(group_counts, columns.body, columns.passage_chunk)
            matrix = pool.submit(
                _write_chunk_matrix,
                os.path.join(folder, "bm25"),
                in_chunk,
                columns,
                merged.written,
                request.shape,
            )
            write_json(os.path.join(folder, "chunks.json"), _chunk_map(request, merged, columns))
            with open(os.path.join(folder, "documents.bin"), "wb") as stream:
                stream.writelines(file.text for file in merged.files)
            write_rows(folder, merged.files)
            _write_postings(os.path.join(folder, "postings"), columns)
            _write_file_matrix(
                os.path.join(folder, "bm25_files"), in_chunk.result(), merged, columns,
                request.shape.bm25,
            )  # fmt: skip
            matrix.result()
    return manifest


def _write_chunk_matrix(
    folder: str, body: Future[Counted], columns: Columns, written: Ints, shape: Shape
) -> None:
    """Scores of the chunks, label and path words weighted, and the vocabulary.

    The words of summaries are counted here and nowhere else: a summary is no text of a passage.
    """
    terms, chunks = len(columns.terms), len(columns.labels)
    in_chunk = body.result()
    if shape.has_context:
        in_chunk = add_weighted(in_chunk, group_counts(columns.fields, None), FIELD_WEIGHT)
    if written.size:
        in_chunk = add_weighted(in_chunk, group_counts(written, None), _SUMMARY_WEIGHT)
    matrix = bm25_matrix(in_chunk, chunks, terms, shape.bm25)
    save_retriever(matrix, folder, columns.terms)


def _write_file_matrix(
    folder: str, in_chunk: Counted, merged: Merged, columns: Columns, bm25: Bm25
) -> None:
    """Scores of whole files."""
    chunks_of_file = np.array([file.chunks for file in merged.files], dtype=np.int64)
    in_file = regroup(in_chunk, np.repeat(np.arange(len(merged.files)), chunks_of_file))
    matrix = bm25_matrix(in_file, len(merged.files), len(columns.terms), bm25)
    save_retriever(matrix, folder, None)


def _write_postings(folder: str, columns: Columns) -> None:
    """Raw counts: body by passage, fields by chunk; one indptr each, over the same terms.

    What table rows carry is of few terms, and stays packed.
    """
    os.makedirs(folder)
    for name, packed in (("fields", columns.fields), ("body", columns.body)):
        indptr, item, count = to_columns(packed, len(columns.terms))
        np.save(os.path.join(folder, f"{name}.indptr.npy"), indptr)
        np.save(os.path.join(folder, f"{name}.items.npy"), item)
        np.save(os.path.join(folder, f"{name}.counts.npy"), count)
    np.save(os.path.join(folder, "carried.npy"), columns.carried)
    length = np.bincount(item, weights=count, minlength=columns.passage_chunk.size)
    np.save(os.path.join(folder, "passage_chunk.npy"), columns.passage_chunk.astype(np.int32))
    np.save(os.path.join(folder, "passage_length.npy"), length.astype(np.int32))


def _chunk_map(request: BuildRequest, merged: Merged, columns: Columns) -> dict[str, Any]:
    numbers = columns.chunks.T.astype(np.int32)
    rows = first_rows(merged.files)
    return {
        "root": request.display_root,
        "files": [file.path for file in merged.files],
        "file_types": [file.file_type for file in merged.files],
        "file_chunks": [file.chunks for file in merged.files],
        "file_bytes": [len(file.text) for file in merged.files],
        "labels": columns.labels,
        "places": {
            file.path: tuple(zip(*file.places, strict=True)) for file in merged.files if file.places
        },
        **({ROWS: rows} if rows else {}),
        **chunk_map_boxes(merged.files),
        **{
            name: np.ascontiguousarray(row)
            for name, row in zip(CHUNK_COLUMNS, numbers, strict=True)
        },
    }


def _manifest(
    request: BuildRequest, merged: Merged, columns: Columns, began_ns: int
) -> dict[str, Any]:
    content = hashlib.sha256(repr((FORMAT_VERSION, request.display_root, request.shape)).encode())
    for file in merged.files:
        content.update(f"{file.path}\0{file.digest}\n".encode())
    return {
        "format": FORMAT_VERSION,
        "content_id": content.hexdigest()[:16],
        "versions": versions(),
        "settings": {**request.shape.to_json(), **request.selection.to_json()},
        "corpus_root": request.display_root,
        "absolute_root": os.path.abspath(request.root),
        "created_ns": began_ns,
        "counts": {
            "files": len(merged.files),
            "chunks": len(columns.labels),
            "passages": int(columns.passage_chunk.size),
            "terms": len(columns.terms),
        },
        "summaries": _summaries(merged),
        "skipped": dict(sorted((merged.skipped + Counter(binary=len(merged.binary))).items())),
        "problems": sorted(merged.problems),
        **manifest_pages(merged.files),
        "files": [
            [
                file.path,
                file.size,
                file.mtime_ns,
                file.digest,
                file.problem,
                merged.ctimes_ns[file.path],
            ]
            for file in merged.files
        ],
        "discovery_problems": merged.discovery_problems,
        "binary_files": sorted(
            [file.path, file.size, file.mtime_ns, file.ctime_ns] for file in merged.binary
        ),
    }


def _summaries(merged: Merged) -> dict[str, Any] | None:
    """Who wrote the summaries that were indexed, and of how many chunks; None without any."""
    known = merged.summaries
    if known is None:
        return None
    return {
        "model": known.author.model,
        "prompt": known.author.prompt,
        "chunks": merged.summarised,
        "digest": known.digest,
    }
