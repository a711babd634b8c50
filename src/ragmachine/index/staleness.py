"""Hits whose file is another one now than when it was indexed, and where their lines went."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragmachine.index.reader import Index
from ragmachine.models import CHANGED, GONE, MOVED, UNMOVED, Chunk, Hit, Staleness

# A larger file is not read for the sake of a line number.
_MOST_BYTES = 10_000_000


def marked(index: Index, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits, those marked whose file has changed since.

    Looks at the files of these hits alone, and reads only such as have another size or time.

    Args:
        index: what found them.
        hits: of that index.
    """
    seen: dict[int, _File] = {}
    result = []
    for hit in hits:
        number = hit.chunk.id
        if not 0 <= number < index.chunk_count:  # a span of a results file, not of the index
            result.append(hit)
            continue
        file = int(index.file_of_chunk[number])
        if file not in seen:
            seen[file] = _File(index, file)
        state = seen[file].staleness(hit.chunk)
        result.append(replace(hit, staleness=state) if state else hit)
    return tuple(result)


class _File:
    """One file of the index, as it is on disk now."""

    def __init__(self, index: Index, file: int) -> None:
        row: list[Any] = index.manifest["files"][file]
        self._path = _absolute(index.manifest["absolute_root"], row[0])
        self._text: str | None = None
        self._state = self._look(row)

    def _look(self, row: list[Any]) -> str:
        """Empty where the bytes are those that were indexed."""
        try:
            info = os.stat(self._path)
            if [info.st_size, info.st_mtime_ns] == row[1:3] and info.st_ctime_ns in row[5:6]:
                return ""
            if info.st_size > _MOST_BYTES:
                return CHANGED
            with open(self._path, "rb") as stream:
                data = stream.read()
        except FileNotFoundError:
            return GONE
        except OSError:
            return CHANGED
        if hashlib.sha256(data).hexdigest() == row[3]:
            return ""
        from ragmachine.corpus.decode import decode, is_binary

        if not is_binary(data):
            self._text = decode(data).text
        return CHANGED

    def staleness(self, chunk: Chunk) -> Staleness | None:
        """What became of a chunk; None where its file is what was indexed."""
        if not self._state:
            return None
        start = self._found(chunk)
        if start is None or self._text is None:
            return Staleness(self._state)
        first = _line_of(self._text, start)
        last = first + (chunk.last_line - chunk.first_line)
        is_there = (first, last) == (chunk.first_line, chunk.last_line)
        return Staleness(UNMOVED if is_there else MOVED, first, last)

    def _found(self, chunk: Chunk) -> int | None:
        """Where the chunk's text stands now: of several places the one nearest to the old one."""
        if self._text is None or chunk.place or not chunk.text:
            return None
        before = self._text.rfind(chunk.text, 0, chunk.start + len(chunk.text))
        after = self._text.find(chunk.text, chunk.start)
        places = [place for place in (before, after) if place >= 0]
        return min(places, key=lambda place: abs(place - chunk.start), default=None)


def _line_of(text: str, position: int) -> int:
    """The line of a character, counted from 1, as the index counts lines."""
    from ragmachine.chunking.builder import LineMap

    return LineMap(text).line_of(position)


def _absolute(root: str, path: str) -> str:
    """Where a file of an index lies; the root itself where that is a file."""
    return (
        root
        if os.path.basename(root) == path and os.path.isfile(root)
        else os.path.join(root, path)
    )
