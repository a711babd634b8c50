"""AsciiDoc by its headings: sections with their breadcrumb, delimited blocks and lists whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ragmachine.chunking.builder import Block, LineMap
from ragmachine.chunking.cuts import LINE_END
from ragmachine.chunking.sections import Element, Heading, section_blocks

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
# Title and underline of the older style, by the character of each level.
_UNDERLINES = "=-~^+"
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|[|,:!]={3,}|```.*)\Z")
_ATTRIBUTES = re.compile(r"\[[^\]]*\]+\Z|\.[^\s.].*\Z")
_MARKER = re.compile(
    r"[ \t]*(?:\*{1,5}|-|\.{1,5}|\d{1,4}\.|<[\d.]+>)[ \t]+\S|.{1,200}?:{2,4}(?:\s|\Z)"
)
_INLINE = re.compile(
    r"\[\[[^\]]*\]\]|\[[#.][^\]]*\]|<<[^,>]*,?([^>]*)>>|(?:link|xref):\S*?\[([^\]]*)\]"
)
_MARKS = re.compile(r"(?<!\w)[*_`#]{1,2}(?=\S)|(?<=\S)[*_`#]{1,2}(?=\W|\Z)")
_MAX_TITLE_CHARS = 300


def asciidoc_blocks(text: str, max_chars: int = 0) -> list[Block]:
    """Tile a document into sections, a section into paragraphs, delimited blocks and list items.

    Args:
        text: the source.
        max_chars: the limit of a chunk; blocks far below it are not cut any finer.
    """
    rows = [row.rstrip() for row in LINE_END.split(text.removeprefix("\ufeff"))]
    lines = LineMap(text)
    headings: list[Heading] = []
    elements: list[Element] = []
    for row, level, is_intro in _elements(rows):
        start = lines.start_of(row + 1)
        elements.append(Element(start, 0, is_intro))
        if level:
            title = rows[_below_attributes(rows, row)]
            found = _HEADING.fullmatch(title)
            headings.append(Heading(start, level, plain_title(found[2] if found else title)))
    return section_blocks(len(text), headings, elements, max_chars)


def _elements(rows: Sequence[str]) -> Iterator[tuple[int, int, bool]]:
    """(row, level of a heading or 0, whether it introduces what follows) of every block."""
    last_of = {text: row for row, text in enumerate(rows)}
    row, is_free = 0, True
    while row < len(rows):
        own = _below_attributes(rows, row) if is_free else row
        level, last = _heading_at(rows, own) if is_free or own > row else (0, own)
        if level:
            yield row, level, False
            row, is_free = last + 1, True
            continue
        if _DELIMITER.match(rows[own]):
            yield row, 0, False
            row, is_free = _closing(rows, own, last_of) + 1, True
            continue
        if rows[row] and (is_free or _MARKER.match(rows[row])):
            yield row, 0, _is_intro(rows, own)
        is_free = not rows[row]
        row = (own if rows[own] else row) + 1


def _below_attributes(rows: Sequence[str], row: int) -> int:
    """The row below anchors, attributes and a block's title, which belong to what follows."""
    while row + 1 < len(rows) and _ATTRIBUTES.match(rows[row]):
        row += 1
    return row


def _heading_at(rows: Sequence[str], row: int) -> tuple[int, int]:
    """(level, last row) of the heading at a row; level 0 where there is none."""
    found = _HEADING.fullmatch(rows[row])
    if found:
        return len(found[1]), row
    title = rows[row]
    under = rows[row + 1] if row + 1 < len(rows) else ""
    is_line = len(under) > 1 and under[0] in _UNDERLINES and under == under[0] * len(under)
    if is_line and title[:1].isalnum() and abs(len(under) - len(title)) <= 1:
        return _UNDERLINES.index(under[0]) + 1, row + 1
    return 0, row


def _closing(rows: Sequence[str], row: int, last_of: Mapping[str, int]) -> int:
    """The row that closes the block opened at a row; the row itself where nothing does."""
    mark = "```" if rows[row].startswith("```") else rows[row]
    return rows.index(mark, row + 1) if last_of.get(mark, -1) > row else row


def _is_intro(rows: Sequence[str], row: int) -> bool:
    """Whether the paragraph that starts here ends in a colon: it needs what follows it."""
    while row + 1 < len(rows) and rows[row + 1] and not _MARKER.match(rows[row + 1]):
        row += 1
    return rows[row].endswith(":") and not rows[row].endswith("::")


def plain_title(title: str) -> str:
    """A title as it is read: links by their text, no anchors or emphasis."""
    title = _INLINE.sub(lambda found: found[1] or found[2] or "", title[:_MAX_TITLE_CHARS])
    return " ".join(_MARKS.sub("", title).split())
