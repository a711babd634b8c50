"""Pipe tables of a Markdown text, found by their delimiter rows without parsing the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ragmachine.chunking.builder import LineMap
from ragmachine.chunking.markdown import plain_text

# Each delimiter row of several columns holds this; what it finds is then looked at closely.
_DELIMITER_SIGN = re.compile(r"\|[ \t]*+:?-")
# possessive throughout: a long line of blanks or dashes is read once
_DELIMITER_ROW = re.compile(
    r"[ \t>]*+\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-++:?+[ \t]*+)*+\|?+\s*+"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a text.

    Attributes:
        start: offset at which the line of the header starts.
        end: offset at which the last row ends, its line end excluded.
        rows: (rows,) offset at which each row of the body starts, ascending; at least one.
        header: the line of the header as it is read, without markup.
    """

    start: int
    end: int
    rows: tuple[int, ...]
    header: str


def pipe_tables(text: str) -> list[Table]:
    """The tables of a text, in order.

    A table is a line with a pipe, a delimiter row such as ``|---|:--|``, and the lines with a pipe
    right below it. One in a fence, a list or a quote counts: it reads as a table too.
    """
    sign = _DELIMITER_SIGN.search(text)
    if not sign:
        return []
    starts = LineMap(text).starts
    tables = []
    while sign:
        line = bisect_right(starts, sign.start()) - 1
        last = _last_row(text, starts, line)
        if last > line:
            row = text[starts[last] : _end_of(text, starts, last)]
            header = text[starts[line - 1] : starts[line]]
            tables.append(
                Table(
                    start=starts[line - 1],
                    end=starts[last] + len(row.rstrip()),
                    rows=tuple(starts[line + 1 : last + 1]),
                    header=plain_text(" ".join(header.split())),
                )
            )
        sign = _DELIMITER_SIGN.search(text, _end_of(text, starts, last))
    return tables


def _last_row(text: str, starts: Sequence[int], line: int) -> int:
    """The last row of the table with this delimiter row; the line itself where there is none."""
    last = line
    is_delimiter = _DELIMITER_ROW.fullmatch(text, starts[line], _end_of(text, starts, line))
    if line and is_delimiter and text.find("|", starts[line - 1], starts[line]) >= 0:
        while last + 1 < len(starts):
            if text.find("|", starts[last + 1], _end_of(text, starts, last + 1)) < 0:
                break
            last += 1
    return last


def _end_of(text: str, starts: Sequence[int], line: int) -> int:
    return starts[line + 1] if line + 1 < len(starts) else len(text)
