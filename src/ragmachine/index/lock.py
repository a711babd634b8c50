"""An advisory lock between processes that write the same folder."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import IO

from ragmachine.errors import IndexBusyError

if sys.platform == "win32":
    import msvcrt

    _Taken = OSError

    def _try_lock(stream: IO[str]) -> None:
        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    _Taken = BlockingIOError  # anything else, e.g. a share without locks, will not pass by waiting

    def _try_lock(stream: IO[str]) -> None:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


_held: set[IO[str]] = set()


def _let_go() -> None:
    """Close what a fork inherited: a worker must not hold the lock once its parent is dead."""
    for stream in _held:
        stream.close()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


@contextlib.contextmanager
def exclusive(path: str, *, timeout_s: float) -> Iterator[bool]:
    """Hold the lock file at `path`; the operating system frees it when the process dies.

    Yields: whether another process had to be waited for.
    Raises: IndexBusyError: another process held it for `timeout_s` seconds.
    """
    with open(path, "a", encoding="utf-8") as stream:
        deadline = time.monotonic() + timeout_s
        has_waited = False
        while True:
            try:
                _try_lock(stream)
                break
            except _Taken:
                has_waited = True
                if time.monotonic() >= deadline:
                    raise IndexBusyError(
                        f"another process is writing {os.path.dirname(path)}",
                        remedy="wait for it to finish, then try again",
                    ) from None
                time.sleep(0.05)
        _held.add(stream)
        try:
            yield has_waited
        finally:
            _held.discard(stream)
