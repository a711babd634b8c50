"""Tables without rules: rows of a flow whose texts stand in the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean, median

from ragmachine.corpus.loaders.layout import Row, Segment

_MIN_ROWS = 3
_MAX_ROW_GAP = 1.6  # between rows of one table, in heights of a line
_WRAP_GAP = 0.35  # a line as near as this below a cell goes on with it
_MAX_CELL_WORDS = 9.0
_MIN_FILLED = 0.55
_SLACK = 2.0  # points by which cells of different columns may overlap


@dataclass(frozen=True, slots=True)
class Grid:
    """A table.

    Attributes:
        first, last: rows of the flow that it takes, last exclusive.
        cells: (rows, columns) texts.
        starts: (rows,) the row of the flow in which each begins.
        edges: (columns,) where each column begins, in points.
    """

    first: int
    last: int
    cells: list[list[str]]
    starts: list[int]
    edges: list[float]


@dataclass(slots=True)
class _Columns:
    """Columns as (left, right) intervals, ascending and apart."""

    spans: list[tuple[float, float]] = field(default_factory=list)

    def with_row(self, row: Row) -> _Columns | None:
        """The columns with a row more; None where a text of it stands in two of them."""
        spans = list(self.spans)
        for segment in row:
            met = [span for span in spans if _overlap(span, segment) > _SLACK]
            if len(met) > 1:
                return None
            left = min([segment.x0, *(span[0] for span in met)])
            right = max([segment.x1, *(span[1] for span in met)])
            spans = sorted([*(span for span in spans if span not in met), (left, right)])
        is_apart = all(a[1] <= b[0] + _SLACK for a, b in pairwise(spans))
        return _Columns(spans) if is_apart else None

    def place(self, segment: Segment) -> int:
        """The column that a segment stands in."""
        shares = [_overlap(span, segment) for span in self.spans]
        return shares.index(max(shares))


def _overlap(span: tuple[float, float], segment: Segment) -> float:
    return min(span[1], segment.x1) - max(span[0], segment.x0)


def find_grids(rows: Sequence[Row]) -> list[Grid]:
    """The tables among the rows of a flow, in order."""
    found: list[Grid] = []
    at = 0
    while at < len(rows):
        grid = _grid_at(rows, at) if _is_grid_row(rows[at]) else None
        if grid:
            found.append(grid)
        at = grid.last if grid else at + 1
    return found


def _grid_at(rows: Sequence[Row], first: int) -> Grid | None:
    """The table that begins with a row; None where there is none."""
    columns = _Columns().with_row(rows[first])
    taken = [first]
    for at in range(first + 1, len(rows)):
        if columns is None or _gap(rows[taken[-1]], rows[at]) > _MAX_ROW_GAP:
            break
        is_multiple = _is_grid_row(rows[at])
        if not is_multiple and not _goes_on(rows, at):
            break
        wider = columns.with_row(rows[at])
        if wider is None or (not is_multiple and len(wider.spans) > len(columns.spans)):
            break
        columns = wider
        taken.append(at)
    if columns is None or not _is_table([rows[at] for at in taken], columns):
        return None
    cells, starts = _cells([rows[at] for at in taken], columns)
    edges = [span[0] for span in columns.spans]
    return Grid(first, taken[-1] + 1, cells, [taken[start] for start in starts], edges)


def _is_grid_row(row: Row) -> bool:
    return len(row) > 1 and not any(one.table >= 0 or one.is_mono for one in row)


def _goes_on(rows: Sequence[Row], at: int) -> bool:
    """Whether a row of one text belongs to the table above it: near, in its font."""
    one, above = rows[at][0], rows[at - 1]
    if one.table >= 0 or abs(one.size - above[0].size) > 0.5:
        return False
    is_near = _gap(above, rows[at]) <= _WRAP_GAP
    has_more = at + 1 < len(rows) and _is_grid_row(rows[at + 1])
    return is_near and (has_more or one.x0 > above[0].x1)


def _gap(above: Row, below: Row) -> float:
    """Blank between two rows in heights of a line."""
    height = median(one.bottom - one.top for one in above)
    blank = min(one.top for one in below) - max(one.bottom for one in above)
    return blank / max(height, 1.0)


def _is_table(rows: Sequence[Row], columns: _Columns) -> bool:
    multiple = [row for row in rows if len(row) > 1]
    if len(multiple) < _MIN_ROWS or len(columns.spans) < 2:
        return False
    filled = sum(map(len, multiple)) / (len(multiple) * len(columns.spans))
    words = mean(len(one.text.split()) for row in multiple for one in row)
    return filled >= _MIN_FILLED and words <= _MAX_CELL_WORDS


def _cells(rows: Sequence[Row], columns: _Columns) -> tuple[list[list[str]], list[int]]:
    """Texts by row and column, and where each row begins among those given.

    A line that goes on with the cell above is joined to it.
    """
    table: list[list[str]] = []
    starts: list[int] = []
    for number, row in enumerate(rows):
        cells = [""] * len(columns.spans)
        for segment in row:
            place = columns.place(segment)
            cells[place] = f"{cells[place]} {segment.text}".strip()
        is_wrapped = bool(table) and not cells[0] and _gap(rows[number - 1], row) <= _WRAP_GAP
        if is_wrapped or (len(row) == 1 and table and _gap(rows[number - 1], row) < _tight(rows)):
            table[-1] = [f"{a} {b}".strip() for a, b in zip(table[-1], cells, strict=True)]
        else:
            table.append(cells)
            starts.append(number)
    return table, starts


def _tight(rows: Sequence[Row]) -> float:
    """Below this gap a single text wraps: rows of the table stand clearly wider apart."""
    gaps = [_gap(a, b) for a, b in pairwise(rows) if len(b) > 1]
    return min(_WRAP_GAP, 0.6 * median(gaps)) if gaps else 0.0
