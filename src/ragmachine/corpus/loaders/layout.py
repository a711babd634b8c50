"""Where text stands on a page, to the order in which it is read: columns, then lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, median

_MIN_COLUMN_ROWS = 4
_GUTTER_STEP = 3.0  # points between the places where a gutter is looked for
_MOST_CROSSING = 0.35  # share of what a gutter divides that may cross it: titles, figures
_MIN_COLUMN_WORDS = 3.5  # a line of running text has more words than a cell of a table
_MIN_COLUMN_FILL = 0.5
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of characters on one line.

    Attributes:
        x0, top, x1, bottom: its box in points from the page's top left corner.
        size: of the font, in points.
        text: without line ends; blanks between words are one space.
        is_bold, is_mono: what its font is.
        table: for a table found beforehand, the number of it; -1 for text.
    """

    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    text: str
    is_bold: bool = False
    is_mono: bool = False
    table: int = -1

    @property
    def middle(self) -> float:
        """Half-way down."""
        return (self.top + self.bottom) / 2


Row = list[Segment]


def flows(segments: Sequence[Segment], depth: int = 0) -> list[list[Row]]:
    """Stretches of one column each, in reading order; each is rows from top to bottom.

    A title over both columns ends what is above it and begins what is below.
    """
    gutter = _gutter(segments) if depth < _MAX_DEPTH else None
    if gutter is None:
        return [rows_of(segments)] if segments else []
    crossing = sorted((one for one in segments if _crosses(one, gutter)), key=_top)
    rest = [one for one in segments if not _crosses(one, gutter)]
    result: list[list[Row]] = []
    pending: list[Segment] = []  # crossing segments not followed by a band yet
    bounds = [one.middle for one in crossing]
    for number in range(len(crossing) + 1):
        low = bounds[number - 1] if number else float("-inf")
        high = bounds[number] if number < len(bounds) else float("inf")
        band = [one for one in rest if low <= one.middle < high]
        left = [one for one in band if one.x1 <= gutter]
        right = [one for one in band if one.x0 >= gutter]
        if _is_column(left) and _is_column(right):
            if pending:
                result.append(rows_of(pending))
            result += [*flows(left, depth + 1), *flows(right, depth + 1)]
            pending = []
        else:
            pending += band
        if number < len(crossing):
            pending.append(crossing[number])
    return [*result, rows_of(pending)] if pending else result


def rows_of(segments: Iterable[Segment]) -> list[Row]:
    """Segments side by side as rows, from top to bottom, each from left to right."""
    rows: list[Row] = []
    for segment in sorted(segments, key=_top):
        last = rows[-1] if rows else None
        if last and _is_beside(segment, last[0]):
            last.append(segment)
        else:
            rows.append([segment])
    for row in rows:
        row.sort(key=_left)
    return rows


def _is_beside(segment: Segment, first: Segment) -> bool:
    if segment.table >= 0 or first.table >= 0:
        return False
    overlap = min(segment.bottom, first.bottom) - max(segment.top, first.top)
    height = min(segment.bottom - segment.top, first.bottom - first.top)
    return overlap > 0.5 * height


def _gutter(segments: Sequence[Segment]) -> float | None:
    """Where a blank stripe down the page divides columns of text; None where none does."""
    texts = [one for one in segments if one.table < 0]
    if len(texts) < 2 * _MIN_COLUMN_ROWS:
        return None
    low, high = min(map(_left, texts)), max(one.x1 for one in texts)
    best: tuple[int, int] | None = None
    places: list[float] = []
    x = low + 0.12 * (high - low)
    while x < low + 0.88 * (high - low):
        left = sum(one.x1 <= x for one in texts)
        right = sum(one.x0 >= x for one in texts)
        crossing = len(texts) - left - right
        x, here = x + _GUTTER_STEP, x
        if min(left, right) < _MIN_COLUMN_ROWS or crossing > _MOST_CROSSING * (left + right):
            continue
        score = (-crossing, min(left, right))
        if best is None or score > best:
            best, places = score, []
        if score == best:
            places.append(here)
    return places[len(places) // 2] if places else None


def _crosses(segment: Segment, x: float) -> bool:
    return segment.x0 < x < segment.x1


def _is_column(segments: Sequence[Segment]) -> bool:
    """Whether segments look like running text rather than like a column of a table."""
    if any(one.table >= 0 for one in segments):
        return True
    rows = rows_of(segments)
    if len(rows) < 2:
        return False
    width = max(one.x1 for one in segments) - min(map(_left, segments))
    words = mean(sum(len(one.text.split()) for one in row) for row in rows)
    fill = median((row[-1].x1 - row[0].x0) / max(width, 1.0) for row in rows)
    return words >= _MIN_COLUMN_WORDS and fill >= _MIN_COLUMN_FILL


def _top(segment: Segment) -> tuple[float, float]:
    return segment.top, segment.x0


def _left(segment: Segment) -> float:
    return segment.x0
