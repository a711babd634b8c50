"""What every subcommand has: settings that become a pipeline, and a place for results."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ragmachine.commands.options import DEFAULT_FOLDERS
from ragmachine.settings import load_settings
from ragmachine.terminal.console import Console

if TYPE_CHECKING:
    from ragmachine.pipeline import RagPipeline


class CommandBase:
    """Holds where results go; Fire sees only the methods that subclasses add."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def _pipeline(
        self, settings: dict[str, Any], *, use_cache: bool = True, bonus: bool | None = None
    ) -> RagPipeline:
        from ragmachine.pipeline import RagPipeline

        if bonus is not None and settings.get("strategy") is None:
            settings = {**settings, "strategy": "hybrid" if bonus else "lexical"}
        return RagPipeline(load_settings(settings), use_cache=use_cache)

    @staticmethod
    def _output(directory: str, pipeline: RagPipeline) -> str:
        """An output folder: the default lies below the project root, what was typed does not."""
        if directory in DEFAULT_FOLDERS:
            return os.path.join(pipeline.settings.project_root, directory)
        return os.path.abspath(os.path.expanduser(directory))

    def _notice(self, text: str, quiet: bool) -> None:
        if text and not quiet:
            self._console.notice(text)


def steps(advance: Callable[..., None]) -> Callable[[int, int | None], None]:
    """Turn (done, total) reports into increments of a progress bar."""
    seen = 0

    def step(done: int, total: int | None) -> None:
        nonlocal seen
        advance(done - seen, total)
        seen = done

    return step
