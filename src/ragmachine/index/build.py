"""Builds a generation: discover, take over what has not changed, analyze the rest, merge, write."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

from ragmachine.corpus.discover import Discovery, SourceFile
from ragmachine.errors import IndexationError
from ragmachine.index.analyze import Batch, analyze, batches
from ragmachine.index.merge import Merged
from ragmachine.index.request import BuildRequest
from ragmachine.index.reuse import Previous, load_previous
from ragmachine.index.sources import find_sources
from ragmachine.index.store import IndexStore
from ragmachine.index.summaries import read_summaries
from ragmachine.index.write import write_generation
from ragmachine.models import IndexReport

_BATCH_BYTES = 600_000
_MIN_BYTES_FOR_WORKERS = 3_000_000  # below, starting a process costs more than it saves
_KEEPING_THREADS = ("onnxruntime", "faiss", "xllamacpp")


def build_index(
    store: IndexStore, request: BuildRequest, *, on_file: Callable[[int], None] | None = None
) -> IndexReport:
    """Bring the index of a folder up to date; summaries that are known are taken over.

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
    began_ns = time.time_ns()
    find = partial(find_sources, request.root, store.folder, max_file_bytes=request.max_file_bytes)
    found = find()
    with store.writing() as has_waited:
        if has_waited:  # the other run may have seen newer files than were found before it
            found = find()
        summaries = read_summaries(store.folder)
        previous = None if request.is_forced else load_previous(store, request, summaries)
        if previous and previous.is_same(found):
            _refuse_problems(request, previous.problems)
            return _unchanged(previous, found, started)
        merged = _merge(request, found, previous, on_file)
        merged.summaries = summaries
        _refuse_problems(request, merged.problems)
        manifest = write_generation(store, request, merged, began_ns)
        return _report(manifest, previous.reused if previous else 0, started)


def _merge(
    request: BuildRequest,
    found: Discovery,
    previous: Previous | None,
    on_file: Callable[[int], None] | None,
) -> Merged:
    """Analyze what is new and take over the rest."""
    merged = Merged(
        skipped=Counter(found.skipped),
        problems=list(found.problems),
        discovery_problems=list(found.problems),
    )
    fresh: list[SourceFile] = list(found.files)
    if previous:
        kept, merged.binary, fresh = previous.split(found.files)
        batch = previous.take(kept)
        if batch.files:
            merged.add(batch)
        if on_file:
            on_file(len(kept))
    # closed at once when interrupted, rather than when the traceback is forgotten
    with contextlib.closing(_analyzed(fresh, request)) as analyzed:
        for batch, count in analyzed:
            merged.add(batch)
            if on_file:
                on_file(count)
    return merged


def _analyzed(
    files: Sequence[SourceFile], request: BuildRequest
) -> Generator[tuple[Batch, int], None, None]:
    """Analyze files in order, in worker processes where that pays."""
    runs = batches(files, _BATCH_BYTES)
    work = partial(analyze, shape=request.shape)
    size = sum(file.size for file in files)
    is_worth_it = size >= _MIN_BYTES_FOR_WORKERS and not _has_foreign_threads()
    workers = min(request.workers, len(runs)) if is_worth_it else 1
    done = 0
    if workers > 1:
        # a worker was killed (memory), or none could be started: what is left is done here
        with contextlib.suppress(BrokenProcessPool, OSError, NotImplementedError):
            for batch in _in_workers(work, runs, workers):
                yield batch, len(runs[done])
                done += 1
    for run in runs[done:]:
        yield work(run), len(run)


def _has_foreign_threads() -> bool:
    """Whether a library keeps threads of its own, whose locks a forked worker would wait for."""
    return not sys.modules.keys().isdisjoint(_KEEPING_THREADS)


def _in_workers(
    work: Callable[[Sequence[SourceFile]], Batch], runs: list[list[SourceFile]], workers: int
) -> Iterator[Batch]:
    pool = ProcessPoolExecutor(workers, initializer=_start_worker)
    try:
        with _interrupts_held():  # all workers are started here
            batches_to_come = pool.map(work, runs)
        yield from batches_to_come
    finally:
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait, here and in processes started meanwhile: those must learn to ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:
    """Leave Ctrl-C to the parent process, and end with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _refuse_problems(request: BuildRequest, problems: Sequence[tuple[str, str]]) -> None:
    if request.is_strict and problems:
        path, reason = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise IndexationError(
            f"{path}: {reason}{more}",
            remedy="mend or ignore such files (.ragignore), or leave out --strict",
        )


def _unchanged(previous: Previous, found: Discovery, started: float) -> IndexReport:
    """The report of a run that had nothing to do; what was left out is counted as of today."""
    skipped = found.skipped + Counter(binary=previous.binary_count)
    manifest = {**previous.manifest, "skipped": dict(sorted(skipped.items()))}
    return _report(manifest, manifest["counts"]["files"], started, is_unchanged=True)


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
