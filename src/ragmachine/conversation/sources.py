"""Where the last answer comes from, and how these lines of the file stand today."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from ragmachine.models import Answer, Chunk, Citation

_MOST_NEAREST = 5
_MOST_LINES = 120
_LINE = re.compile(r"\r\n|\r|\n")
SAME, MOVED, CHANGED, GONE = "same", "moved", "changed", "gone"


@dataclass(frozen=True, slots=True)
class Source(Citation):
    """Lines that an answer rests on, or that come nearest to one; numbered from 1 where none does.

    Attributes:
        label: symbol or section of the chunk there, else "".
        text: as indexed.
    """

    label: str = ""
    text: str = ""


def sources_of(answer: Answer, read: Callable[[str, int, int], str | None]) -> tuple[Source, ...]:
    """What an answer cites, by number; its first hits where it cites nothing.

    Args:
        answer: its citations and hits are read.
        read: the indexed text of a file from a start to an end; None where it is not there.
    """
    chunks = [hit.chunk for hit in answer.result.hits]
    if not answer.citations:
        return tuple(
            Source(
                number, chunk.file_path, chunk.start, chunk.end,
                chunk.first_line, chunk.last_line, chunk.place, chunk.label, chunk.text,
            )
            for number, chunk in enumerate(chunks[:_MOST_NEAREST], start=1)
        )  # fmt: skip
    return tuple(
        Source(
            one.number, one.file_path, one.start, one.end,
            one.first_line, one.last_line, one.place,
            _label(chunks, one.file_path, one.start, one.end),
            read(one.file_path, one.start, one.end) or "",
        )
        for one in sorted(answer.citations, key=lambda citation: citation.number)
    )  # fmt: skip


def _label(chunks: list[Chunk], file_path: str, start: int, end: int) -> str:
    """Label of the best hit within a place; neighbouring chunks were merged into it."""
    inside = (
        chunk.label
        for chunk in chunks
        if chunk.file_path == file_path and chunk.start < end and start < chunk.end
    )
    return next(inside, "")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a file with some around them.

    Attributes:
        state: ``same``: they stand where they stood; ``moved``: elsewhere in the file;
            ``changed``: other text is there now; ``gone``: the file, or that part of it, is not
            there, and the lines are those indexed.
        first_line: number of the first line shown, from 1.
        lines: without line ends.
        cited: numbers of the first and the last line cited.
        left_out: cited lines that are not shown, for want of room.
    """

    state: str
    first_line: int
    lines: tuple[str, ...]
    cited: tuple[int, int]
    left_out: int = 0


def excerpt(source: Source, now: str | None, *, around: int = 3) -> Excerpt:
    """The lines of a source as they are now.

    Args:
        source: with its text as indexed.
        now: the file's text; None where it is gone. That of a document with places is not its
            file's, and shown as it was indexed.
        around: lines shown before and after.
    """
    if source.place:
        return _as_indexed(source, SAME)
    if now is None:
        return _as_indexed(source)
    if now[source.start : source.end] == source.text:
        return _cut(SAME, now, source.start, source.end, around)
    place = _nearest(now, source.text, source.start)
    if place >= 0:
        return _cut(MOVED, now, place, place + len(source.text), around)
    starts = [0, *(match.end() for match in _LINE.finditer(now))]
    if source.first_line > len(starts) or not now:  # the file has become shorter
        return _as_indexed(source)
    last = starts[source.last_line] if source.last_line < len(starts) else len(now)
    return _cut(CHANGED, now, starts[source.first_line - 1], last, around)


def _as_indexed(source: Source, state: str = GONE) -> Excerpt:
    text = source.text
    return _cut(state, text, 0, len(text), 0, offset=source.first_line - 1)


def _nearest(text: str, wanted: str, start: int) -> int:
    """Where a text stands nearest to a place; -1 where it does not."""
    if not wanted.strip():
        return -1
    before = text.rfind(wanted, 0, start + len(wanted))
    behind = text.find(wanted, start)
    if before < 0 or behind < 0:
        return max(before, behind)
    return before if start - before <= behind - start else behind


def _cut(state: str, text: str, start: int, end: int, around: int, *, offset: int = 0) -> Excerpt:
    """The lines of a text from a start to an end, and those around them."""
    starts = [0, *(match.end() for match in _LINE.finditer(text))]
    first = bisect_right(starts, start)
    last = max(bisect_right(starts, max(end - 1, start)), first)
    shown_last = min(last, first + _MOST_LINES - 1)
    top = max(first - around, 1)
    bottom = shown_last if shown_last < last else min(last + around, len(starts))
    lines = _LINE.split(text)[top - 1 : bottom]
    if bottom == len(starts) and lines and not lines[-1] and bottom > last:
        lines.pop()  # what follows the file's last line end
    cited = (first + offset, last + offset)
    return Excerpt(state, top + offset, tuple(lines), cited, last - shown_last)
