"""Analyzes files in order, in worker processes where that pays; called by `build`."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from ragmachine.corpus.discover import SourceFile
from ragmachine.corpus.loaders.registry import Loaders
from ragmachine.index.analyze import Batch, analyze, batches, cost_bytes
from ragmachine.index.request import BuildRequest, Shape

_BATCH_BYTES = 600_000
_MIN_BYTES_FOR_WORKERS = 3_000_000  # below, starting a process costs more than it saves
_KEEPING_THREADS = ("onnxruntime", "faiss", "xllamacpp", "watchfiles")


def analyzed(
    files: Sequence[SourceFile], request: BuildRequest
) -> Generator[tuple[Batch, int], None, None]:
    """Analyze files in order, in worker processes where that pays."""
    runs = batches(files, _BATCH_BYTES)
    size = sum(map(cost_bytes, files))
    is_worth_it = size >= _MIN_BYTES_FOR_WORKERS and not _has_foreign_threads()
    workers = min(request.workers, len(runs)) if is_worth_it else 1
    done = 0
    if workers > 1:
        # a worker was killed (memory), or none could be started: what is left is done here
        with contextlib.suppress(BrokenProcessPool, OSError, NotImplementedError):
            for batch in _in_workers(request, runs, workers):
                yield batch, len(runs[done])
                done += 1
    with _loaders(request) as loaders:
        for run in runs[done:]:
            yield analyze(run, request.shape, loaders), len(run)


def _loaders(request: BuildRequest) -> Loaders:
    """Loaders for a whole build: the process that they share loads models of OCR once."""
    return Loaders(
        text_columns=request.shape.text_columns,
        cache_path=request.page_cache,
        transcriber=request.transcriber,
    )


def _has_foreign_threads() -> bool:
    """Whether a library keeps threads of its own, whose locks a forked worker would wait for."""
    return not sys.modules.keys().isdisjoint(_KEEPING_THREADS)


def _in_workers(
    request: BuildRequest, runs: list[list[SourceFile]], workers: int
) -> Iterator[Batch]:
    pool = ProcessPoolExecutor(workers, initializer=_start_worker, initargs=(request,))
    try:
        with _interrupts_held():  # all workers are started here
            batches_to_come = pool.map(_analyze_here, runs)
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


# What a worker process works with, from one batch to the next.
_kept: tuple[Shape, Loaders] | None = None


def _start_worker(request: BuildRequest) -> None:
    """Leave Ctrl-C to the parent process, and end with it however it ends.

    The loaders' own process ends with this one, whose end closes its input.
    """
    global _kept
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _kept = request.shape, _loaders(request)


def _analyze_here(files: Sequence[SourceFile]) -> Batch:
    if _kept is None:
        raise ValueError("the worker was not started by `_start_worker`")
    return analyze(files, *_kept)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
