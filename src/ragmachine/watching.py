"""Keeps an index up to date while files change: as the system reports them, or by looking.

Knows nothing of settings or indexes: it is handed what to watch and what to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragmachine.errors import RagError

if TYPE_CHECKING:
    from threading import Event

_POLL_S = 1.0
# Looking may take a tenth of the time at most, so that a large folder does not heat the machine.
_POLL_SHARE = 0.1
_MOST_WAITS = 10  # a folder that never rests is indexed after so many times the wait for rest
_STEP_MS = 50
_TICK_MS = 500  # how soon after its begin a watch looks again, and how late it sees `stop`

# What is known of a file without reading it, by path.
Facts = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class WatchedIndex:
    """An index and the folders that it is of.

    Attributes:
        folder: where the index lies; what changes in it is no reason to build.
        root: the folder that paths are relative to.
        places: folders to watch.
        facts: looks at the files that belong to the index.
        rebuild: brings the index up to date.
    """

    folder: str
    root: str
    places: Sequence[str]
    facts: Callable[[], Facts]
    rebuild: Callable[[], Update | None]


@dataclass(frozen=True, slots=True)
class Update:
    """What one update of an index did.

    Attributes:
        changes: (``changed``, ``new`` or ``removed``; path) of each file.
        files, chunks: in the index now.
        seconds: it took.
        error: why nothing was done, else "".
    """

    changes: Sequence[tuple[str, str]] = ()
    files: int = 0
    chunks: int = 0
    seconds: float = 0.0
    error: str = ""


def watch(
    place: WatchedIndex,
    on_update: Callable[[Update], None],
    *,
    debounce_ms: int,
    polls: bool = False,
    stop: Event | None = None,
) -> None:
    """Update an index at once, and again after each change, until Ctrl-C or `stop`.

    An update that fails is told and does not end the watch: the next change tries again.

    Args:
        place: what to watch.
        on_update: told what each update did; not called where there was nothing to do.
        debounce_ms: changes are waited for until there was none for so long, in milliseconds.
        polls: look at the files instead of being told; so it is where `watchfiles` is absent.
        stop: ends the watch when set.
    """
    try:
        waits = _polled(place, debounce_ms, stop) if polls else _told(place, debounce_ms, stop)
        for _ in waits:
            _update(place, on_update)
    except KeyboardInterrupt:
        return


def _update(place: WatchedIndex, on_update: Callable[[Update], None]) -> None:
    try:
        update = place.rebuild()
    except RagError as error:
        update = Update(error=str(error))
    if update is not None:
        on_update(update)


def _told(place: WatchedIndex, debounce_ms: int, stop: Event | None) -> Iterator[None]:
    """An item at once, and one after each burst of changes, as the operating system reports them.

    One more follows when reports have begun, for what changed until then.
    """
    try:
        from watchfiles import watch as changes
    except ImportError:
        yield from _polled(place, debounce_ms, stop)
        return
    own = os.path.join(os.path.realpath(place.folder), "")

    def is_other(change: object, path: str) -> bool:
        return not os.path.realpath(path).startswith(own)

    yield
    has_begun = False
    for reported in changes(
        *place.places,
        watch_filter=is_other,
        debounce=debounce_ms * _MOST_WAITS,
        step=max(debounce_ms, _STEP_MS),
        stop_event=stop,
        rust_timeout=_TICK_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
    ):
        if reported or not has_begun:
            has_begun = True
            yield


def _polled(place: WatchedIndex, debounce_ms: int, stop: Event | None) -> Iterator[None]:
    """An item at once, and one after each burst of changes, found by looking."""
    indexed, pause_s = place.facts(), _POLL_S
    yield
    while not _is_over(stop, pause_s):
        began = time.monotonic()
        now = place.facts()
        pause_s = max(_POLL_S, (time.monotonic() - began) / _POLL_SHARE)
        if now == indexed:
            continue
        for _ in range(_MOST_WAITS):
            if _is_over(stop, debounce_ms / 1000):
                return
            before, now = now, place.facts()
            if now == before:
                break
        indexed = now
        yield


def _is_over(stop: Event | None, seconds: float) -> bool:
    """Wait; whether the watch was ended meanwhile."""
    if stop is not None:
        return stop.wait(seconds)
    time.sleep(seconds)
    return False
