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

    def _try_lock(stream: IO[str]) -> None:
        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(stream: IO[str]) -> None:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def exclusive(path: str, *, timeout_s: float) -> Iterator[None]:
    """Hold the lock file at `path`; the operating system frees it when the process dies.

    Raises: IndexBusyError: another process held it for `timeout_s` seconds.
    """
    with open(path, "a", encoding="utf-8") as stream:
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                _try_lock(stream)
                break
            except OSError:
                if time.monotonic() >= deadline:
                    raise IndexBusyError(
                        f"another process is writing {os.path.dirname(path)}",
                        remedy="wait for it to finish, then try again",
                    ) from None
                time.sleep(0.05)
        yield
