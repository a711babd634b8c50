"""Builds an index in a process of its own: searches keep their processor, memory comes back."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from ragmachine import errors
from ragmachine.errors import RagError
from ragmachine.models import IndexReport
from ragmachine.pipeline import RagPipeline
from ragmachine.server.jobs import CancelledBuildError, Target
from ragmachine.settings import FIELDS, Settings
from ragmachine.wiring.collections import settings_of
from ragmachine.wiring.indexing import rebuild

_POLL_S = 0.2
_END_S = 10.0


class ProcessBuild:
    """Builds with the settings of a server; see `jobs.Build`.

    The process is a fresh one, since copying one that has threads would copy their locks.

    Args:
        settings: of the server's pipeline.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __call__(
        self, target: Target, on_file: Callable[[int], None], is_stopped: Callable[[], bool]
    ) -> dict[str, Any]:
        """Build; see `jobs.Build`."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_build, args=(self._settings, target, theirs))
        process.start()
        theirs.close()
        try:
            return _followed(ours, on_file, is_stopped)
        finally:
            ours.close()
            process.join(_END_S if not is_stopped() else 0)
            if process.is_alive():
                process.terminate()
                process.join(_END_S)


def _followed(
    connection: Connection, on_file: Callable[[int], None], is_stopped: Callable[[], bool]
) -> dict[str, Any]:
    """What the process comes to in the end."""
    while not is_stopped():
        if not connection.poll(_POLL_S):
            continue
        try:
            kind, value = connection.recv()
        except EOFError:
            raise RagError(
                "indexing ended early: the process was killed, perhaps for want of memory",
                remedy="index a smaller folder; the index that was there still answers",
            ) from None
        if kind == "files":
            on_file(value)
        elif kind == "failed":
            name, message, remedy = value
            raise _error_class(name)(message, remedy=remedy)
        else:
            return dict(value)
    raise CancelledBuildError


def _error_class(name: str) -> type[RagError]:
    found = getattr(errors, name, RagError)
    is_ours = isinstance(found, type) and issubclass(found, RagError)
    return found if is_ours else RagError


def build_target(settings: Settings, target: Target, on_file: Callable[[int], None]) -> IndexReport:
    """Bring an index to what it is to hold, in this process.

    Args:
        settings: of any index of the server; the target says of which one it is the job.
        target: what it is to hold.
        on_file: called with the number of files just finished.
    Raises: as `RagPipeline.index` and `RagPipeline.update`.
    """
    pipeline = RagPipeline(settings_of(settings, target.collection))
    settings = pipeline.settings
    if not target.paths:
        report = rebuild(pipeline.store, settings, on_file=on_file)
    else:
        if target.is_as_built:
            built = pipeline.opened_index().manifest["settings"]
            pipeline = RagPipeline(_as_built(settings, built))
        report = pipeline.index(list(target.paths), source_tag=target.tags, on_file=on_file)
    if report.is_unchanged:  # nothing was read, and nobody counted
        on_file(report.files)
    return report


def _as_built(settings: Settings, built: dict[str, Any]) -> Settings:
    """The settings with those in place that an index was built with, as its manifest tells."""
    written: dict[str, Any] = {
        name: ",".join(value) if isinstance(value, list) else value
        for name, value in built.items()
        if name in FIELDS
    }
    return replace(settings, **written)


def _build(settings: Settings, target: Target, connection: Connection) -> None:
    """The process's work: tells files as they are finished, then the report or the error."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        report = build_target(settings, target, lambda count: connection.send(("files", count)))
        connection.send(("done", report.to_json()))
    except RagError as error:
        connection.send(("failed", (type(error).__name__, error.message, error.remedy)))
    except BrokenPipeError:  # nobody follows any more
        pass


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
