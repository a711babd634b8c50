"""Pages in an index: how they were read, for the manifest, and where on them each chunk stands.

An index of files without pages has nothing of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragmachine.places import Box, PageCounts, PageTotals, around

if TYPE_CHECKING:
    from ragmachine.chunking.builder import Piece
    from ragmachine.corpus.loaders.loaded import Pages, Places
    from ragmachine.index.analyze import FileRecord

PAGES, BOXES = "pages", "boxes"  # keys of the manifest and of the chunk map
ChunkBoxes = tuple[tuple[Box, ...], ...]


@dataclass(frozen=True, slots=True)
class FilePages:
    """Pages of an indexed file.

    Attributes:
        counts: how they were read.
        boxes: (chunks,) the boxes of each, on the page where it begins.
    """

    counts: PageCounts
    boxes: ChunkBoxes


def file_pages(pages: Pages, text: str, places: Places, pieces: Sequence[Piece]) -> FilePages:
    """What an index keeps of a document's pages.

    Args:
        pages: the document's.
        text: its text.
        places: where its pages begin in it.
        pieces: its chunks.
    """
    page_starts = [start for start, _ in places]
    line_starts = [start for start, _ in pages.boxes]
    found = []
    for piece in pieces:
        blank = piece.end - piece.start - len(text[piece.start : piece.end].lstrip())
        start = piece.start + blank
        page = bisect_right(page_starts, piece.start)
        low = page_starts[page - 1] if page else 0
        high = min([piece.end, *page_starts[page : page + 1]])
        first = max(bisect_right(line_starts, start) - 1, bisect_left(line_starts, low))
        lines = pages.boxes[first : bisect_left(line_starts, high)]
        found.append(columns_of(box for _, box in lines if box))
    return FilePages(pages.counts, tuple(found))


def columns_of(lines: Iterable[Box]) -> tuple[Box, ...]:
    """Boxes around lines that stand below each other; another column has a box of its own.

    Args:
        lines: boxes in the order in which they are read.
    """
    found: list[Box] = []
    before: Box | None = None
    for box in lines:
        is_below = before is not None and box[1] >= before[1]
        if is_below and min(box[2], found[-1][2]) > max(box[0], found[-1][0]):
            found[-1] = around((found[-1], box))
        else:
            found.append(box)
        before = box
    return tuple(found)


def manifest_pages(files: Sequence[FileRecord]) -> dict[str, Any]:
    """The manifest's part, empty where no file has pages."""
    totals = PageTotals({file.path: file.pages.counts for file in files if file.pages})
    return {PAGES: totals.rows()} if totals.by_file else {}


def chunk_map_boxes(files: Sequence[FileRecord]) -> dict[str, Any]:
    """The chunk map's part, empty where no chunk has boxes."""
    boxes = {file.path: file.pages.boxes for file in files if file.pages and any(file.pages.boxes)}
    return {BOXES: boxes} if boxes else {}


def page_totals(manifest: Mapping[str, Any]) -> PageTotals:
    """How the pages of an index were read."""
    return PageTotals.from_json(manifest.get(PAGES, {}))


def kept_pages(
    manifest: Mapping[str, Any], chunk_map: Mapping[str, Any], path: str, chunks: int
) -> FilePages | None:
    """The pages of a file that is taken over; None where it has none."""
    row = manifest.get(PAGES, {}).get(path)
    if row is None:
        return None
    boxes = chunk_map.get(BOXES, {}).get(path, ((),) * chunks)
    return FilePages(PageCounts(*row), tuple(map(boxes_of, boxes)))


def boxes_of(written: Sequence[Sequence[int]]) -> tuple[Box, ...]:
    """Boxes as JSON has them."""
    return tuple((left, top, right, bottom) for left, top, right, bottom in written)
