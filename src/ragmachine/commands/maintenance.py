"""The subcommands that look after indexes and models, from watch to remove and pull."""

from __future__ import annotations

import sys
from typing import Any

from ragmachine.commands.base import CommandBase, steps
from ragmachine.errors import RagError, UsageError
from ragmachine.settings import load_settings


class ChecksFailedError(RagError):
    """Something that is needed is broken; what and how to mend it is on stdout already."""


class MaintenanceCommands(CommandBase):
    """What `Commands` can do about an index and about what the program needs."""

    def watch(
        self, *, debounce_ms: int, poll: bool = False, quiet: bool = False, **settings: Any
    ) -> None:
        """Keep the index up to date until Ctrl-C."""
        from ragmachine.terminal.health_text import change_line, watching_line
        from ragmachine.watching import watch
        from ragmachine.wiring.watching import watched_index

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
        from ragmachine.terminal.health_text import status_lines
        from ragmachine.wiring.health import index_status

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
        from ragmachine.terminal.health_text import doctor_lines
        from ragmachine.wiring.health import examine

        report = examine(settings)
        if json:
            self._console.json(report.to_json())
        else:
            self._console.line("\n".join(doctor_lines(report, is_quiet=quiet)))
        if report.broken:
            names = ", ".join(check.name for check in report.broken)
            raise ChecksFailedError(f"needed and broken: {names}")

    def list(self, *, json: bool = False, quiet: bool = False, **settings: Any) -> None:
        """Name the indexes side by side."""
        from ragmachine.terminal.health_text import collection_lines
        from ragmachine.wiring.health import collections

        del quiet
        found = collections(load_settings(settings))
        if json:
            self._console.json({"collections": [one.to_json() for one in found]})
        else:
            self._console.line("\n".join(collection_lines(found)))

    def stats(self, *, json: bool = False, quiet: bool = False, **settings: Any) -> None:
        """Count files, chunks and sizes by type and folder."""
        from ragmachine.terminal.health_text import statistics_lines
        from ragmachine.wiring.health import index_statistics

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
        from ragmachine.terminal.health_text import megabytes

        settings = load_settings({"collection": collection, "index_dir": index_dir})
        store = IndexStore(settings.index_dir)
        store.require_current()
        if not yes:
            self._confirm(settings.index_dir)
        size = remove_index(store)
        if not quiet:
            self._console.line(f"removed the index in {settings.index_dir}: {megabytes(size)}")

    def pull(self, *, quiet: bool = False, **settings: Any) -> None:
        """Have Ollama download a model."""
        from ragmachine.terminal.pull_report import PullReport
        from ragmachine.wiring.chat_models import pull_model

        chosen = load_settings(settings)
        with self._console.progress("pulling", unit="B", quiet=quiet) as advance:
            report = PullReport(steps(advance), lambda text: self._notice(text, quiet))
            pull_model(chosen, on_progress=report.show)
        self._console.line(f"Ollama has {chosen.model}")

    @staticmethod
    def _confirm(folder: str) -> None:
        if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(
                f"the index in {folder} is not removed without being asked", remedy="add --yes"
            )
        print(f"remove the index in {folder}? [y/N] ", end="", file=sys.stderr, flush=True)  # noqa: T201
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise UsageError("nothing was removed")
