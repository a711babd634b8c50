"""The text layer of a PDF page as segments: runs of characters on one line. Runs in the child."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from typing import Any

import pypdfium2.raw as c

from ragmachine.corpus.loaders.layout import Segment

Box = tuple[float, float, float, float]

_GAP_EMS = 1.0  # a wider blank ends a segment: it may be a gutter
_RISE_EMS = 0.45  # so does a character that stands higher or lower by as much
_LEAST_ACROSS = 0.95  # cosine of the angle between a line of text and the page
_BOLD_WEIGHT = 600
_BOLD_NAMES = ("bold", "black", "heavy", "semibd", "demi")
_MONO_NAMES = ("mono", "courier", "consol", "code", "typewriter", "cmtt")
_IS_FIXED_PITCH = 1
_HYPHENS = "\u00ad\u2010"


class _Geometry:
    """Geometry of one page: points from its top left corner, as it is shown."""

    def __init__(self, page: Any) -> None:
        self.width, self.height = page.get_size()
        scale = 20
        spots = []
        for x, y in ((0, 0), (1000, 0), (0, 1000)):
            across, down = ctypes.c_int(), ctypes.c_int()
            size = (round(self.width * scale), round(self.height * scale))
            c.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, across, down)
            spots.append((across.value / scale, down.value / scale))
        (self._x, self._y), first, second = spots
        self._xx, self._xy = (first[0] - self._x) / 1000, (first[1] - self._y) / 1000
        self._yx, self._yy = (second[0] - self._x) / 1000, (second[1] - self._y) / 1000

    def is_turned(self, angle: float) -> bool:
        """Whether a character's angle, in radians, is another than that of the page's lines."""
        # PDFium counts some angles clockwise: either reading may be the upright one
        across = math.cos(angle) * self._xx + abs(math.sin(angle) * self._yx)
        length = math.hypot(self._xx, self._xy) or 1.0
        return angle >= 0 and across < _LEAST_ACROSS * length

    def has(self, box: Box) -> bool:
        """Whether a box lies on the page as it is shown."""
        return box[2] > 0 and box[3] > 0 and box[0] < self.width and box[1] < self.height

    def box(self, rect: Any) -> Box:
        """Left, top, right, bottom of a rectangle in the page's own space."""
        a = self._shown(rect.left, rect.bottom)
        b = self._shown(rect.right, rect.top)
        return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        return self._x + x * self._xx + y * self._yx, self._y + x * self._xy + y * self._yy


class _Run:
    """A segment while it grows."""

    __slots__ = ("box", "first", "last", "last_box", "parts", "size")

    def __init__(self, index: int, char: str, box: Box) -> None:
        self.first = self.last = index
        self.parts = [char]
        self.box = self.last_box = box
        self.size = max(box[3] - box[1], 0.1)

    def takes(self, box: Box, has_blank: bool) -> bool:
        """Whether a character goes on with this run."""
        before = self.last_box
        gap = box[0] - before[2]
        rise = abs((box[1] + box[3]) - (before[1] + before[3])) / 2
        if rise > _RISE_EMS * self.size or gap < -0.5 * self.size:
            return False
        return gap <= (_GAP_EMS if has_blank else 2 * _GAP_EMS / 3) * self.size

    def repeats(self, char: str, box: Box) -> bool:
        """Whether a character is the last one printed again, a little aside, to look bold."""
        aside = max(abs(box[0] - self.last_box[0]), abs(box[1] - self.last_box[1]))
        return self.parts[-1] == char and aside < 0.12 * self.size

    def add(self, index: int, char: str, box: Box, has_blank: bool) -> None:
        """Append a character."""
        if has_blank or box[0] - self.last_box[2] > 0.25 * self.size:
            self.parts.append(" ")
        self.parts.append(char)
        self.last, self.last_box = index, box
        a = self.box
        self.box = min(a[0], box[0]), min(a[1], box[1]), max(a[2], box[2]), max(a[3], box[3])


def segments_of(page: Any, text_page: Any) -> list[Segment]:
    """The segments of a page in the order in which its file draws them.

    Text that is turned against the page comes last, as if it stood below it.
    """
    geometry = _Geometry(page)
    turned: list[str] = []
    found = [_segment(text_page, run) for run in _runs(text_page, geometry, turned)]
    aside = " ".join("".join(turned).split())
    if aside:
        below = geometry.height + 100
        found.append(Segment(0, below, geometry.width, below + 10, 10, aside))
    return [segment for segment in found if segment.text.strip()]


def _runs(text_page: Any, geometry: _Geometry, turned: list[str]) -> Iterator[_Run]:
    run: _Run | None = None
    has_blank = False
    rect = c.FS_RECTF()
    for index in range(c.FPDFText_CountChars(text_page)):
        char = _char(text_page, index)
        if char.isspace():
            has_blank = True
            if turned:
                turned.append(" ")
            continue
        if not c.FPDFText_GetLooseCharBox(text_page, index, rect):
            continue
        box = geometry.box(rect)
        if not geometry.has(box):
            continue
        if run and run.repeats(char, box):
            continue
        if run and run.takes(box, has_blank):
            run.add(index, char, box, has_blank)
        else:
            if run:
                yield run
            run = None
            if geometry.is_turned(c.FPDFText_GetCharAngle(text_page, index)):
                turned.append(char)
            else:
                run = _Run(index, char, box)
        has_blank = False
    if run:
        yield run


def _char(text_page: Any, index: int) -> str:
    code = c.FPDFText_GetUnicode(text_page, index)
    if code in (0, 2, 0xFFFE):  # how PDFium writes a hyphen at the end of a line
        return "-" if c.FPDFText_IsHyphen(text_page, index) == 1 else " "
    if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        return "\ufffd"
    char = chr(code)
    return "-" if char in _HYPHENS else char


def _segment(text_page: Any, run: _Run) -> Segment:
    first, last = _font(text_page, run.first), _font(text_page, run.last)
    return Segment(
        *run.box,
        size=_size(text_page, run),
        text="".join(run.parts),
        is_bold=first[0] and last[0],
        is_mono=first[1] and last[1],
    )


def _size(text_page: Any, run: _Run) -> float:
    """Size of the font as it is shown, in points; the box tells it where the file does not."""
    matrix = c.FS_MATRIX()
    size = c.FPDFText_GetFontSize(text_page, run.last)
    if c.FPDFText_GetMatrix(text_page, run.last, matrix):
        size *= math.hypot(matrix.c, matrix.d)
    is_likely = 0.5 < size / run.size < 2
    return round(size if is_likely else run.size, 1)


def _font(text_page: Any, index: int) -> tuple[bool, bool]:
    """(is bold, is monospaced) of a character's font."""
    flags = ctypes.c_int()
    name_buffer = ctypes.create_string_buffer(128)
    c.FPDFText_GetFontInfo(text_page, index, name_buffer, 128, flags)
    name = name_buffer.value.decode("utf-8", "replace").lower()
    weight = c.FPDFText_GetFontWeight(text_page, index)
    is_bold = weight >= _BOLD_WEIGHT or any(sign in name for sign in _BOLD_NAMES)
    is_mono = bool(flags.value & _IS_FIXED_PITCH) or any(sign in name for sign in _MONO_NAMES)
    return is_bold, is_mono
