"""Where a chunk is cut before its passages are made: each row of a large table by itself."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ragmachine.chunking.tables import Table

# A table of fewer rows that is whole in its chunk is read as one: measured best of 1, 4, 8 and 16.
LARGE_TABLE_ROWS = 8


class Stretch(NamedTuple):
    """A part of a chunk.

    Attributes:
        header: of the table whose rows these are; "" outside of large tables.
        bounds: offsets at which it is cut, its own start and end included, ascending.
    """

    header: str
    bounds: Sequence[int]


def stretches(start: int, end: int, tables: Sequence[Table]) -> list[Stretch]:
    """Tile a chunk with the rows of each large table and with what is between.

    Args:
        start: of the chunk, in characters.
        end: of the chunk, exclusive.
        tables: those of its file, in order.
    """
    if not tables:
        return [Stretch("", (start, end))]
    result: list[Stretch] = []
    first = bisect_right(tables, start, key=lambda table: table.end)
    for table in tables[first : bisect_left(tables, end, key=lambda table: table.rows[0])]:
        is_whole = start <= table.start and table.end <= end
        if is_whole and len(table.rows) < LARGE_TABLE_ROWS:
            continue
        at = result[-1].bounds[-1] if result else start
        if at < table.rows[0]:
            result.append(Stretch("", (at, table.rows[0])))
            at = table.rows[0]
        inner = table.rows[bisect_right(table.rows, at) : bisect_left(table.rows, end)]
        result.append(Stretch(table.header, (at, *inner, min(table.end, end))))
    at = result[-1].bounds[-1] if result else start
    return [*result, Stretch("", (at, end))] if at < end else result
