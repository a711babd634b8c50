"""One PDF, page by page, in the child process; a page becomes plain values for `pdf_pages`."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as c

from ragmachine.corpus.loaders.grids import find_grids
from ragmachine.corpus.loaders.layout import Row, Segment, flows
from ragmachine.corpus.loaders.loaded import LoadError
from ragmachine.corpus.loaders.pdf_chars import segments_of

_MIN_RULES = 4  # a table with rules has at least as many paths
_MAX_RULES = 20_000  # a drawing
_MAX_SEGMENTS = 20_000
_FEW_CHARS = 16  # a text layer of fewer characters is a page number or nothing
_STAMPED_CHARS = 200  # over a picture of a page, fewer are a stamp on the scan
_SCAN_SHARE = 0.5  # of the page that a picture must cover to be its scan
_OCR_SCALE = 2.35  # 170 dots per inch: at 144 lines of small print were misread
_MAX_TOC = 5_000
_UNREADABLE = "\ufffd"
_MAX_UNREADABLE_SHARE = 0.3

_HELD = 0.9  # share of the text in a table's box that its cells must have

# A ruled table: its box, the top of each row, and the cells.
_Ruled = tuple[Sequence[float], list[float], list[list[str]]]

_open: dict[str, Any] = {}


def open_pdf(data: bytes) -> Mapping[str, Any]:
    """Open a document, which stays open until the next.

    Returns: number of pages, title, bookmarks as (level from 1, title, page from 1).
    Raises: LoadError: it is encrypted or no PDF.
    """
    _open.clear()
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        raise LoadError(_refusal(str(error))) from error
    _open.update(data=data, document=document)
    title = document.get_metadata_dict().get("Title", "")
    return {"pages": len(document), "title": title, "toc": _bookmarks(document)}


def _refusal(words: str) -> str:
    if "password" in words.lower():
        return "encrypted: its text cannot be read without the password"
    return "cannot be read: it is damaged or no PDF"


def _bookmarks(document: Any) -> list[tuple[int, str, int]]:
    found: list[tuple[int, str, int]] = []
    try:
        for mark in document.get_toc(max_depth=8):
            target = mark.get_dest()
            page = target.get_index() if target else None
            if page is not None:
                found.append((mark.level + 1, mark.get_title(), page + 1))
            if len(found) >= _MAX_TOC:
                break
    except (pdfium.PdfiumError, ValueError, AttributeError):
        return found  # bookmarks only help; a broken tree of them is no reason to refuse
    return found


def read_page(number: int, has_tables: bool, has_ocr: bool, max_pixels: int) -> Mapping[str, Any]:
    """The content of one page of the open document.

    Args:
        number: from 1.
        has_tables: whether pdfplumber may look for ruled tables.
        has_ocr: whether a page without text may be read from its image.
        max_pixels: of that image.
    Returns: ``height`` in points; ``source``: ``text``, ``ocr``, ``blank`` for a page with nothing
        on it, ``image`` for one that only OCR could have read; ``is_image``: whether its text was
        to be read in its image; ``items`` in reading order.
    """
    page = _open["document"][number - 1]
    text_page = page.get_textpage()
    try:
        segments = segments_of(page, text_page)[:_MAX_SEGMENTS]
        source = _source(page, segments)
        tables: list[_Ruled] = []
        is_image = source == "image"
        if is_image and has_ocr:
            segments, source = _from_image(page, segments, max_pixels)
        elif source == "text" and has_tables and _MIN_RULES <= _paths(page) <= _MAX_RULES:
            tables = _tables_if_any(number)
        items = _items(segments, tables)
        height = page.get_height()
        return {"height": height, "source": source, "is_image": is_image, "items": items}
    finally:
        text_page.close()
        page.close()


def render_page(number: int, max_pixels: int) -> Mapping[str, Any]:
    """The image of one page of the open document.

    Args:
        number: from 1.
        max_pixels: of the image.
    Returns: ``png``: the file in Base64.
    """
    import io

    page = _open["document"][number - 1]
    try:
        stream = io.BytesIO()
        bitmap = page.render(scale=_scale(page, max_pixels))
        bitmap.to_pil().convert("RGB").save(stream, "PNG", compress_level=1)
        return {"png": base64.b64encode(stream.getvalue()).decode("ascii")}
    finally:
        page.close()


def _scale(page: Any, max_pixels: int) -> float:
    """Pixels in a point of the image that is read."""
    area = max(page.get_width() * page.get_height(), 1.0)
    return min(_OCR_SCALE, math.sqrt(max_pixels / area))


def _source(page: Any, segments: Sequence[Segment]) -> str:
    """What the text of a page has to be taken from."""
    text = "".join(one.text for one in segments)
    chars = len("".join(text.split()))
    garbled = text.count(_UNREADABLE) + sum("\ue000" <= char <= "\uf8ff" for char in text)
    if garbled > _MAX_UNREADABLE_SHARE * max(chars, 1):
        return "image"
    if chars >= _STAMPED_CHARS:
        return "text"
    area, objects = 0.0, 0
    for item in page.get_objects(max_depth=3):
        objects += 1
        if item.type == c.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = item.get_bounds()
            area = max(area, (right - left) * (top - bottom))
    is_scan = area >= _SCAN_SHARE * page.get_width() * page.get_height()
    if chars >= _FEW_CHARS and not is_scan:
        return "text"
    if objects == 0 or (chars and not is_scan and objects <= chars):
        return "text" if chars else "blank"
    return "image"


def _from_image(page: Any, segments: list[Segment], max_pixels: int) -> tuple[list[Segment], str]:
    """What is read in the image of a page, where that is more than its text layer has."""
    from ragmachine.corpus.loaders.ocr import read_image

    scale = _scale(page, max_pixels)
    bitmap = page.render(scale=scale)
    found = read_image(bitmap.to_numpy()[:, :, :3], scale)
    if sum(len(one.text) for one in found) > sum(len(one.text) for one in segments):
        return found, "ocr"
    return segments, "text" if segments else "blank"


def _paths(page: Any) -> int:
    """How many lines and shapes a page has, as far as that matters."""
    count = 0
    for item in page.get_objects(max_depth=3):
        count += item.type == c.FPDF_PAGEOBJ_PATH
        if count > _MAX_RULES:
            break
    return count


def _tables_if_any(number: int) -> list[_Ruled]:
    """The ruled tables of a page; none where the second parser cannot read what the first can."""
    try:
        return _ruled_tables(number)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - the text is there all the same
        return []


def _ruled_tables(number: int) -> list[_Ruled]:
    """The tables whose cells have borders."""
    import io

    import pdfplumber

    found: list[_Ruled] = []
    if "tables" not in _open:  # opened once: it reads the directory of the whole file
        _open["tables"] = pdfplumber.open(io.BytesIO(_open["data"]))
    page = _open["tables"].pages[number - 1]
    left, top = page.bbox[:2]
    for table in page.find_tables():
        rows, tops = [], []
        for cells, row in zip(table.extract(), table.rows, strict=True):
            if any(text and text.strip() for text in cells):
                rows.append([text or "" for text in cells])
                tops.append(row.bbox[1] - top)
        if _is_table(rows):
            box = table.bbox
            shown = (box[0] - left, box[1] - top, box[2] - left, box[3] - top)
            found.append((shown, tops, rows))
    page.close()
    return found


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether what has borders is a table, rather than a frame around text."""
    cells = [text for row in rows for text in row if text.strip()]
    width = max(map(len, rows), default=0)
    if len(rows) < 2 or width < 2 or len(cells) < 3:
        return False
    return max(len(text.split()) for text in cells) <= 150


def _holds(cells: Sequence[Sequence[str]], inside: Sequence[Segment]) -> bool:
    """Whether the cells of a table have the text within its box: none of it may be lost."""
    found = sum(len("".join(text.split())) for row in cells for text in row)
    return found >= _HELD * sum(len("".join(one.text.split())) for one in inside)


def _items(segments: Sequence[Segment], tables: Sequence[_Ruled]) -> list[dict[str, Any]]:
    """Lines and tables of a page in reading order."""
    tables = [
        (box, tops, cells)
        for box, tops, cells in tables
        if _holds(cells, [one for one in segments if _is_inside(one, box)])
    ]
    outside = [one for one in segments if not any(_is_inside(one, box) for box, *_ in tables)]
    stands = [
        Segment(box[0], box[1], box[2], box[3], 0, "", table=number)
        for number, (box, *_) in enumerate(tables)
    ]
    items: list[dict[str, Any]] = []
    for flow in flows([*outside, *stands]):
        grids = {grid.first: grid for grid in find_grids(flow)}
        at = 0
        while at < len(flow):
            grid, row = grids.get(at), flow[at]
            if grid:
                inside = [one for row in flow[grid.first : grid.last] for one in row]
                tops = [min(one.top for one in flow[start]) for start in grid.starts]
                items.append(_table_item(grid.cells, tops, inside))
            elif row[0].table >= 0:
                one = row[0]
                _, tops, cells = tables[one.table]
                items.append(_table_item(cells, tops, [one]))
            else:
                items.append(_line_item(row))
            at = grid.last if grid else at + 1
    return items


def _is_inside(segment: Segment, box: Sequence[float]) -> bool:
    middle = (segment.x0 + segment.x1) / 2
    return box[0] <= middle <= box[2] and box[1] <= segment.middle <= box[3]


def _table_item(
    cells: list[list[str]], tops: list[float], inside: Sequence[Segment]
) -> dict[str, Any]:
    return {
        "rows": cells,
        "tops": tops,
        "x0": min(one.x0 for one in inside),
        "x1": max(one.x1 for one in inside),
        "top": min(one.top for one in inside),
        "bottom": max(one.bottom for one in inside),
    }


def _line_item(row: Row) -> dict[str, Any]:
    widest = max(row, key=lambda one: len(one.text))
    return {
        "text": " ".join(one.text for one in row),
        "x0": row[0].x0,
        "x1": row[-1].x1,
        "top": min(one.top for one in row),
        "bottom": max(one.bottom for one in row),
        "size": widest.size,
        "bold": all(one.is_bold for one in row),
        "mono": all(one.is_mono for one in row),
    }
