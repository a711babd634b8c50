"""Builds a generation: discover, take over what has not changed, analyze the rest, merge, write."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ragmachine.corpus.discover import Discovery, SourceFile, discover
from ragmachine.errors import IndexationError
from ragmachine.index.analyze import (
    CHUNK_COLUMNS,
    Batch,
    Columns,
    FileRecord,
    analyze,
    batches,
)
from ragmachine.index.postings import Ints, add_weighted, group_counts, pack, unpack
from ragmachine.index.request import BuildRequest
from ragmachine.index.reuse import Previous, load_previous
from ragmachine.index.sparse import bm25_matrix, save_retriever
from ragmachine.index.store import FORMAT_VERSION, IndexStore, versions, write_json
from ragmachine.models import IndexReport

# Path and label words count this many times in a chunk's BM25: measured best of 1, 3, 5 and 8.
FIELD_WEIGHT = 5
_BATCH_BYTES = 1_000_000
_MIN_BYTES_FOR_WORKERS = 3_000_000  # below, starting a process costs more than it saves


@dataclass(slots=True)
class _Merged:
    """All files of the new generation, in order."""

    files: list[FileRecord] = field(default_factory=list)
    parts: list[Columns] = field(default_factory=list)
    file_rows: list[int] = field(default_factory=list)
    terms: dict[str, int] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, str]] = field(default_factory=list)
    discovery_problems: list[tuple[str, str]] = field(default_factory=list)
    binary: list[SourceFile] = field(default_factory=list)


def build_index(
    store: IndexStore, request: BuildRequest, *, on_file: Callable[[int], None] | None = None
) -> IndexReport:
    """Bring the index of a folder up to date.

    Args:
        store: the index folder.
        request: what to index and how.
        on_file: called with the number of files just finished.

    Raises:
        CorpusError: the root is not there.
        IndexationError: a problem under `is_strict`; the old index stays.
        StorageError, IndexBusyError: the index folder cannot be written.
    """
    started = time.perf_counter()
    found = discover(request.root, max_file_bytes=request.max_file_bytes)
    with store.writing():
        previous = None if request.is_forced else load_previous(store, request)
        if previous and previous.is_same(found):
            _refuse_problems(request, previous.problems)
            return _report(previous.manifest, len(found.files), started, is_unchanged=True)
        merged = _merge(request, found, previous, on_file)
        _refuse_problems(request, merged.problems)
        manifest = _write(store, request, merged)
        return _report(manifest, previous.reused if previous else 0, started)


def _merge(
    request: BuildRequest,
    found: Discovery,
    previous: Previous | None,
    on_file: Callable[[int], None] | None,
) -> _Merged:
    """Analyze what is new and take over the rest; files end up in path order per part."""
    merged = _Merged(
        skipped=Counter(found.skipped),
        problems=list(found.problems),
        discovery_problems=list(found.problems),
    )
    fresh: list[SourceFile] = list(found.files)
    if previous:
        kept, fresh = previous.split(found.files)
        batch = previous.take(kept)
        if batch.files:
            _add(merged, batch)
        if on_file:
            on_file(len(kept))
    for batch, count in _analyzed(fresh, request):
        _add(merged, batch)
        if on_file:
            on_file(count)
    return merged


def _analyzed(files: Sequence[SourceFile], request: BuildRequest) -> Iterator[tuple[Batch, int]]:
    """Analyze files in order, in worker processes where that pays."""
    runs = batches(files, _BATCH_BYTES)
    work = partial(analyze, shape=request.shape)
    size = sum(file.size for file in files)
    workers = min(request.workers, len(runs)) if size >= _MIN_BYTES_FOR_WORKERS else 1
    results: Iterable[Batch]
    if workers <= 1:
        results = map(work, runs)
        yield from zip(results, map(len, runs), strict=True)
        return
    done = 0
    try:
        with ProcessPoolExecutor(workers) as pool:
            for batch, run in zip(pool.map(work, runs), runs, strict=True):
                yield batch, len(run)
                done += 1
    except BrokenProcessPool:
        # a worker was killed (memory): what is left is done here, one file at a time
        for run in runs[done:]:
            yield work(run), len(run)


def _add(merged: _Merged, batch: Batch) -> None:
    """Append a batch, its terms renumbered into the common vocabulary."""
    number = merged.terms
    renumbered = np.fromiter(
        (number.setdefault(term, len(number)) for term in batch.columns.terms),
        dtype=np.int64,
        count=len(batch.columns.terms),
    )
    columns = batch.columns
    chunks = sum(len(part.labels) for part in merged.parts)
    passages = sum(part.passage_chunk.size for part in merged.parts)
    columns.body = _renumber(columns.body, renumbered, passages)
    columns.fields = _renumber(columns.fields, renumbered, chunks)
    columns.passage_chunk = columns.passage_chunk + chunks
    columns.terms = []
    merged.parts.append(columns)
    merged.files.extend(batch.files)
    merged.problems.extend(batch.problems)
    merged.binary.extend(batch.binary)


def _renumber(packed: Ints, term_number: Ints, first_item: int) -> Ints:
    term, item, count = unpack(packed)
    return pack(term_number[term], item + first_item, count)


def _joined(parts: Sequence[Columns], terms: list[str]) -> Columns:
    """One set of columns out of many; postings sorted."""

    def join(name: str) -> Ints:
        arrays = [getattr(part, name) for part in parts]
        return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int64)

    columns = Columns(
        chunks=join("chunks").reshape(-1, len(CHUNK_COLUMNS)),
        labels=[label for part in parts for label in part.labels],
        passage_chunk=join("passage_chunk"),
        terms=terms,
        body=join("body"),
        fields=join("fields"),
    )
    columns.body.sort()
    columns.fields.sort()
    return columns


def _write(store: IndexStore, request: BuildRequest, merged: _Merged) -> dict[str, Any]:
    """Write a generation and swap it in; returns its manifest."""
    columns = _joined(merged.parts, list(merged.terms))
    merged.parts.clear()
    manifest = _manifest(request, merged, columns)
    with store.new_generation() as folder:
        write_json(os.path.join(folder, "manifest.json"), manifest)
        write_json(os.path.join(folder, "chunks.json"), _chunk_map(request, merged, columns))
        with open(os.path.join(folder, "documents.bin"), "wb") as stream:
            stream.writelines(file.text for file in merged.files)
        _write_postings(os.path.join(folder, "postings"), columns)
        _write_matrices(folder, merged, columns)
    return manifest


def _write_matrices(folder: str, merged: _Merged, columns: Columns) -> None:
    """Score matrices of the chunks (label and path words weighted) and of the whole files."""
    terms, chunks = len(columns.terms), len(columns.labels)
    in_chunk = group_counts(columns.body, columns.passage_chunk)
    in_chunk = add_weighted(in_chunk, group_counts(columns.fields, None), FIELD_WEIGHT)
    matrix = bm25_matrix(in_chunk, chunks, terms)
    save_retriever(matrix, os.path.join(folder, "bm25"), columns.terms)
    file_of_chunk = np.repeat(np.arange(len(merged.files)), [file.chunks for file in merged.files])
    in_file = group_counts(
        columns.body,
        file_of_chunk[columns.passage_chunk] if columns.passage_chunk.size else None,
    )
    matrix = bm25_matrix(in_file, len(merged.files), terms)
    save_retriever(matrix, os.path.join(folder, "bm25_files"), None)


def _write_postings(folder: str, columns: Columns) -> None:
    """Raw counts: body by passage, fields by chunk; one indptr each, over the same terms."""
    os.makedirs(folder)
    for name, packed in (("body", columns.body), ("fields", columns.fields)):
        term, item, count = unpack(packed)
        indptr = np.zeros(len(columns.terms) + 1, dtype=np.int64)
        np.cumsum(np.bincount(term, minlength=len(columns.terms)), out=indptr[1:])
        np.save(os.path.join(folder, f"{name}.indptr.npy"), indptr)
        np.save(os.path.join(folder, f"{name}.items.npy"), item.astype(np.int32))
        np.save(os.path.join(folder, f"{name}.counts.npy"), count.astype(np.uint8))
    _, passage, count = unpack(columns.body)
    length = np.bincount(passage, weights=count, minlength=columns.passage_chunk.size)
    np.save(os.path.join(folder, "passage_chunk.npy"), columns.passage_chunk.astype(np.int32))
    np.save(os.path.join(folder, "passage_length.npy"), length.astype(np.int32))


def _chunk_map(request: BuildRequest, merged: _Merged, columns: Columns) -> dict[str, Any]:
    numbers = columns.chunks.T.astype(np.int32)
    return {
        "root": request.display_root,
        "files": [file.path for file in merged.files],
        "file_types": [file.file_type for file in merged.files],
        "file_chunks": [file.chunks for file in merged.files],
        "file_bytes": [len(file.text) for file in merged.files],
        "labels": columns.labels,
        **{
            name: np.ascontiguousarray(row)
            for name, row in zip(CHUNK_COLUMNS, numbers, strict=True)
        },
    }


def _manifest(request: BuildRequest, merged: _Merged, columns: Columns) -> dict[str, Any]:
    content = hashlib.sha256(repr((FORMAT_VERSION, request.display_root, request.shape)).encode())
    for file in merged.files:
        content.update(f"{file.path}\0{file.digest}\n".encode())
    return {
        "format": FORMAT_VERSION,
        "content_id": content.hexdigest()[:16],
        "versions": versions(),
        "settings": {
            "max_chunk_size": request.shape.max_chars,
            "overlap": request.shape.overlap_chars,
            "max_file_bytes": request.max_file_bytes,
        },
        "corpus_root": request.display_root,
        "absolute_root": os.path.abspath(request.root),
        "created_ns": time.time_ns(),
        "counts": {
            "files": len(merged.files),
            "chunks": len(columns.labels),
            "passages": int(columns.passage_chunk.size),
            "terms": len(columns.terms),
        },
        "skipped": dict(sorted((merged.skipped + Counter(binary=len(merged.binary))).items())),
        "problems": sorted(merged.problems),
        "files": [
            [file.path, file.size, file.mtime_ns, file.digest, file.problem]
            for file in merged.files
        ],
        "discovery_problems": merged.discovery_problems,
        "binary_files": [[file.path, file.size, file.mtime_ns] for file in merged.binary],
    }


def _refuse_problems(request: BuildRequest, problems: Sequence[tuple[str, str]]) -> None:
    if request.is_strict and problems:
        path, reason = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise IndexationError(
            f"{path}: {reason}{more}",
            remedy="mend or ignore such files (.ragignore), or leave out --strict",
        )


def _report(
    manifest: dict[str, Any], reused: int, started: float, is_unchanged: bool = False
) -> IndexReport:
    counts = manifest["counts"]
    return IndexReport(
        corpus_root=manifest["corpus_root"],
        files=counts["files"],
        chunks=counts["chunks"],
        terms=counts["terms"],
        reused=reused,
        skipped=dict(manifest["skipped"]),
        problems=tuple((path, reason) for path, reason in manifest["problems"]),
        seconds=time.perf_counter() - started,
        is_unchanged=is_unchanged,
    )
