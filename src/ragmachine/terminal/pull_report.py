"""How far a download is, for a bar or for a log."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragmachine.llm.ollama_pull import PullProgress


class PullReport:
    """A download's progress: for a bar on a terminal, elsewhere a line a step and a tenth.

    Args:
        step: moves the bar, given bytes done and in all.
        say: shows a line.
    """

    def __init__(self, step: Callable[[int, int], None], say: Callable[[str], None]) -> None:
        self._step = step
        self._say = say
        self._has_bar = sys.stderr.isatty()
        self._status = ""
        self._tenths = 0

    def show(self, now: PullProgress) -> None:
        """Take the next report."""
        if self._has_bar:
            return self._step(now.done_bytes, now.total_bytes)
        tenths = 10 * now.done_bytes // max(now.total_bytes, 1)
        if tenths > self._tenths:
            self._tenths = tenths
            self._say(f"{tenths * 10} % of {now.total_bytes / 1e6:,.0f} MB")
        if now.status != self._status:
            self._status = now.status
            self._say(now.status)
        return None
