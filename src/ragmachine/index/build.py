"""Builds a generation: discover, take over what has not changed, analyze the rest, merge, write.

What makes an index, numpy among it, is imported only where one is to be made.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ragmachine.corpus.discover import Discovery, SourceFile
from ragmachine.errors import IndexationError
from ragmachine.index.pages import page_totals
from ragmachine.index.request import BuildRequest
from ragmachine.index.reuse import Previous, load_previous
from ragmachine.index.sources import find_sources
from ragmachine.index.store import IndexStore
from ragmachine.index.summaries import read_summaries
from ragmachine.models import IndexReport

if TYPE_CHECKING:
    from ragmachine.index.merge import Merged


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
    if not request.is_forced:
        store.start_verification()  # of what may be taken over, while the folder is walked
    find = partial(find_sources, request.root, store.folder, request.selection)
    found = find()
    with store.writing() as has_waited:
        if has_waited:  # the other run may have seen newer files than were found before it
            found = find()
        summaries = read_summaries(store.folder)
        previous = None if request.is_forced else load_previous(store, request, summaries)
        if previous and previous.is_same(found):
            _refuse_problems(request, previous.problems)
            return _unchanged(previous, found, started)
        from ragmachine.index.write import write_generation

        merged = _merge(request, found, previous, on_file)
        merged.summaries = summaries
        _refuse_problems(request, merged.problems)
        manifest = write_generation(store, request, merged, began_ns)
        reused = previous.reused if previous else 0
        return _report(manifest, reused, started, notice="; ".join(merged.notices))


def _merge(
    request: BuildRequest,
    found: Discovery,
    previous: Previous | None,
    on_file: Callable[[int], None] | None,
) -> Merged:
    """Analyze what is new and take over the rest."""
    from ragmachine.index.merge import Merged

    merged = Merged(
        skipped=Counter(found.skipped),
        problems=list(found.problems),
        discovery_problems=list(found.problems),
        ctimes_ns={file.path: file.ctime_ns for file in found.files},
    )
    fresh: list[SourceFile] = list(found.files)
    if previous:
        kept, merged.binary, fresh = previous.split(found.files)
        if kept:
            from ragmachine.index.kept import take

            merged.add(take(previous, kept))
        if on_file:
            on_file(len(kept))
    if not fresh:
        return merged
    from ragmachine.index.workers import analyzed

    # closed at once when interrupted, rather than when the traceback is forgotten
    with contextlib.closing(analyzed(fresh, request)) as batches:
        for batch, count in batches:
            merged.add(batch)
            if on_file:
                on_file(count)
    return merged


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
    manifest: dict[str, Any],
    reused: int,
    started: float,
    *,
    is_unchanged: bool = False,
    notice: str = "",
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
        pages=page_totals(manifest),
        notice=notice,
    )
