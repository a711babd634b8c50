"""The subcommands that look after an index: watch, status, doctor, list, stats, remove."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ragmachine.errors import RagError, UsageError
from ragmachine.settings import load_settings

if TYPE_CHECKING:
    from ragmachine.pipeline import RagPipeline
    from ragmachine.render import Console


class ChecksFailedError(RagError):
    """Something that is needed is broken; what and how to mend it is on stdout already."""


class MaintenanceCommands:
    """What `Commands` adds to; `_console` is where results go."""

    _console: Console

    def watch(
        self, *, debounce_ms: int, poll: bool = False, quiet: bool = False, **settings: Any
    ) -> None:
        """Keep the index up to date until Ctrl-C."""
        from ragmachine.render_health import change_line, watching_line
        from ragmachine.watching import watch
        from ragmachine.watching_wiring import watched_index

        place = watched_index(load_settings(settings))
        say = self._console.line
        if not quiet:
            say(watching_line(place))
            sys.stdout.flush()

        def tell(update: Any) -> None:
            if not quiet or update.error:
                say(change_line(update))
                sys.stdout.flush()

        watch(place, tell, debounce_ms=debounce_ms, polls=poll)

    def status(self, *, json: bool = False, quiet: bool = False, **settings: Any) -> None:
        """Say what is indexed, how fresh it is, what was left out, and sizes on disk."""
        from ragmachine.health_wiring import index_status
        from ragmachine.render_health import status_lines

        del quiet  # nothing here can be left out; accepted for symmetry
        status = index_status(load_settings(settings))
        if json:
            self._console.json(status.to_json())
        else:
            self._console.line("\n".join(status_lines(status)))

    def doctor(self, *, json: bool = False, quiet: bool = False, **settings: Any) -> None:
        """Check what the program needs, and say how to mend what is broken.

        Raises: ChecksFailedError: something needed is broken.
        """
        from ragmachine.health_wiring import examine
        from ragmachine.render_health import doctor_lines

        report = examine(settings)
        if json:
            self._console.json(report.to_json())
        else:
            self._console.line("\n".join(doctor_lines(report, is_quiet=quiet)))
        if report.broken:
            names = ", ".join(check.name for check in report.broken)
            raise ChecksFailedError(f"needed and broken: {names}")

    @staticmethod
    def _own_folder(pipeline: RagPipeline) -> list[str] | None:
        """The folders that a named collection is of, so that nobody has to name them again."""
        if not pipeline.settings.collection or pipeline.store.current() is None:
            return None
        from ragmachine.index_wiring import folders_of

        return folders_of(pipeline.store)

    def list(self, *, json: bool = False, quiet: bool = False, **settings: Any) -> None:
        """Name the indexes side by side."""
        from ragmachine.health_wiring import collections
        from ragmachine.render_health import collection_lines

        del quiet
        found = collections(load_settings(settings))
        if json:
            self._console.json({"collections": [one.to_json() for one in found]})
        else:
            self._console.line("\n".join(collection_lines(found)))

    def stats(self, *, json: bool = False, quiet: bool = False, **settings: Any) -> None:
        """Count files, chunks and sizes by type and folder."""
        from ragmachine.health_wiring import index_statistics
        from ragmachine.render_health import statistics_lines

        del quiet
        statistics = index_statistics(load_settings(settings))
        if json:
            self._console.json(statistics.to_json())
        else:
            self._console.line("\n".join(statistics_lines(statistics)))

    def remove(
        self,
        *,
        collection: str = "",
        yes: bool = False,
        index_dir: str | None = None,
        quiet: bool = False,
    ) -> None:
        """Remove an index, its vectors and caches."""
        from ragmachine.index.removal import remove_index
        from ragmachine.index.store import IndexStore
        from ragmachine.render_health import megabytes

        settings = load_settings({"collection": collection, "index_dir": index_dir})
        store = IndexStore(settings.index_dir)
        store.require_current()
        if not yes:
            self._confirm(settings.index_dir)
        size = remove_index(store)
        if not quiet:
            self._console.line(f"removed the index in {settings.index_dir}: {megabytes(size)}")

    @staticmethod
    def _confirm(folder: str) -> None:
        if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(
                f"the index in {folder} is not removed without being asked", remedy="add --yes"
            )
        print(f"remove the index in {folder}? [y/N] ", end="", file=sys.stderr, flush=True)  # noqa: T201
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise UsageError("nothing was removed")
