"""Places in documents whose bytes are not their text: pages with boxes on them, rows, cells."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

_PLACE = re.compile(r"(.*?)(\d+)(?:-(\d+))?", re.S)
_PAGE = re.compile(r"p\.(\d+)(?:-\d+)?")

# x0, top, x1, bottom in PDF points (72 to the inch) from the top left corner of a page as it is
# shown, turned and cropped; y grows downwards.
Box = tuple[int, int, int, int]


def joined_place(first: str, last: str) -> str:
    """Two places of a document, in order, as one: ``p.2`` and ``p.4`` are ``p.2-4``."""
    head, tail = _PLACE.fullmatch(first), _PLACE.fullmatch(last)
    if first == last or not head or not tail or head[1] != tail[1]:
        return first
    return f"{head[1]}{head[2]}-{tail[3] or tail[2]}"


def place_of(starts: Sequence[int], places: Sequence[str], start: int, end: int) -> str:
    """The place of a range of a document's text: ``p.2``, or ``p.2-3`` where it runs on.

    Args:
        starts: where its parts start, ascending.
        places: of the same parts; "" comes of none.
        start: of the range, in characters.
        end: of the range, exclusive.
    """
    if not places:
        return ""
    first = max(bisect_right(starts, start) - 1, 0)
    last = max(bisect_right(starts, max(start, end - 1)) - 1, first)
    return joined_place(places[first], places[last])


def page_number(place: str) -> int:
    """The page of a place, from 1, the first of several; 0 for a place that is no page."""
    match = _PAGE.fullmatch(place)
    return int(match[1]) if match else 0


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds others, of which there is one at least."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


@dataclass(frozen=True, slots=True)
class PageCounts:
    """How the pages of a document were read.

    Attributes:
        pages: all of them.
        ocr: whose text was read in their image by OCR.
        model: whose text was read in their image by a vision model.
        empty: on which there is nothing to be read.
        unread: images that nothing could read, and pages that were lost.
    """

    pages: int
    ocr: int = 0
    model: int = 0
    empty: int = 0
    unread: int = 0


KINDS = ("ocr", "model", "empty", "unread")


@dataclass(frozen=True, slots=True)
class PageTotals:
    """How the pages of all documents were read; only documents with pages are counted.

    Attributes:
        by_file: counts of each document, by its path.
    """

    by_file: Mapping[str, PageCounts] = field(default_factory=dict)

    @classmethod
    def from_json(cls, rows: Mapping[str, Sequence[int]]) -> PageTotals:
        """Out of what `rows` gave."""
        return cls({path: PageCounts(*row) for path, row in rows.items()})

    def rows(self) -> dict[str, Sequence[int]]:
        """The counts of each document as a list."""
        return {path: astuple(counts) for path, counts in self.by_file.items()}

    @property
    def pages(self) -> int:
        """Pages of all documents."""
        return sum(counts.pages for counts in self.by_file.values())

    def of(self, kind: str) -> tuple[int, int]:
        """(pages of a kind, documents that have such): one of `KINDS`."""
        found = [getattr(counts, kind) for counts in self.by_file.values()]
        return sum(found), sum(map(bool, found))

    @property
    def empty_files(self) -> list[str]:
        """Documents on whose pages there is nothing to be read."""
        return [path for path, one in self.by_file.items() if one.pages == one.empty]

    def to_json(self) -> dict[str, Any] | None:
        """Sums, and the documents that are empty throughout; None without documents."""
        if not self.by_file:
            return None
        kinds = {kind: dict(zip(("pages", "files"), self.of(kind), strict=True)) for kind in KINDS}
        return {
            "files": len(self.by_file),
            "pages": self.pages,
            **kinds,
            "empty_files": self.empty_files,
        }
