"""reStructuredText by its headings: sections with their breadcrumb, directives and lists whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragmachine.chunking.builder import Block, LineMap
from ragmachine.chunking.cuts import LINE_END
from ragmachine.chunking.sections import Element, Heading, section_blocks

# A line of one punctuation character repeated: what a title is underlined with.
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*\Z")
_TARGET = re.compile(r"\.\. _(?:[^:`\\]|\\.)+:[ \t]*\Z|\.\. _`[^`]+`:[ \t]*\Z")
_OPENING = re.compile(r"\.\. (?:_[^_]|(?:rubric|index)::)")
# A bullet, a number, a field or explicit markup begins an element without a blank line before it.
_MARKER = re.compile(
    r"[-*+•‣⁃][ \t]|\(?(?:\d{1,4}|#|[A-Za-z])[.)][ \t]|:[\w ]{1,40}:(?=\s|\Z)|\.\.[ \t]"
)
_ROLE = re.compile(r":[\w:+.-]{1,60}:`([^`]*)`|`([^`]+)`_{0,2}|\|([^|]+)\|_{0,2}")
_REFERENCE = re.compile(r"\s*<[^<>]*>\Z")
_EMPHASIS = re.compile(r"(?<!\\)\*{1,2}(?=\S)|(?<![\s\\])\*{1,2}")
_ESCAPE = re.compile(r"\\(.)")
_MIN_TRANSITION = 4
_MAX_DEPTH = 12
_MAX_TITLE_CHARS = 300
_TAB = 8


class _Title(NamedTuple):
    """A heading by its lines, counted from 0: from its overline or text to its underline."""

    first: int
    text: int
    last: int
    style: str


def rst_blocks(text: str, max_chars: int = 0) -> list[Block]:
    """Tile a document into sections, a section into paragraphs, directives and list items.

    Args:
        text: the source.
        max_chars: the limit of a chunk; blocks far below it are not cut any finer.
    """
    rows = [row.rstrip() for row in LINE_END.split(text.removeprefix("\ufeff"))]
    lines = LineMap(text)
    titles = list(_titles(rows))
    elements = [
        Element(lines.start_of(row + 1), depth, is_intro)
        for row, depth, is_intro in _elements(rows, titles)
    ]
    return section_blocks(len(text), list(_headings(rows, lines, titles)), elements, max_chars)


def _titles(rows: Sequence[str]) -> Iterator[_Title]:
    """Each title; its style is its character, twice where there is a line above it too."""
    row = 0
    while row + 1 < len(rows):
        found = _title_at(rows, row)
        if found:
            yield found
            row = found.last
        row += 1


def _title_at(rows: Sequence[str], row: int) -> _Title | None:
    if row and rows[row - 1].strip() and not _TARGET.match(rows[row - 1]):
        return None
    over = _ADORNMENT.match(rows[row])
    if over and row + 2 < len(rows) and rows[row + 1].strip() and rows[row + 2] == rows[row]:
        is_long = len(rows[row]) >= min(len(rows[row + 1].strip()), _MIN_TRANSITION)
        return _Title(row, row + 1, row + 2, over[1] * 2) if is_long else None
    title, under = rows[row], _ADORNMENT.match(rows[row + 1])
    if not under or not title or title[0].isspace() or over or title.startswith(".. "):
        return None
    if len(rows[row + 1]) < min(len(title), _MIN_TRANSITION):
        return None
    return _Title(row, row, row + 1, under[1])


def _headings(rows: Sequence[str], lines: LineMap, titles: Sequence[_Title]) -> Iterator[Heading]:
    """Levels are numbered as their styles come up; targets right above a title belong to it."""
    styles: list[str] = []
    for title in titles:
        if title.style not in styles:
            styles.append(title.style)
        first = _with_targets(rows, title.first)
        level = styles.index(title.style) + 1
        yield Heading(lines.start_of(first + 1), level, plain_title(rows[title.text]))


def _with_targets(rows: Sequence[str], row: int) -> int:
    """The first of the link targets above a row, blank lines between them left out."""
    first = above = row
    while above and (not rows[above - 1] or _TARGET.match(rows[above - 1])):
        above -= 1
        if rows[above]:
            first = above
    return first


def _elements(rows: Sequence[str], titles: Sequence[_Title]) -> Iterator[tuple[int, int, bool]]:
    """(row, depth, whether it introduces what follows) of everything that begins a block.

    Depth is how many lines with less indentation an element stands under.
    """
    starts = {_with_targets(rows, title.first): title.last for title in titles}
    indents = [0]
    row, is_free = 0, True
    while row < len(rows):
        last = starts.get(row)
        if last is not None:
            yield row, 0, False
            indents, row, is_free = [0], last + 1, True
            continue
        bare = rows[row].lstrip()
        if bare and (is_free or _MARKER.match(bare)):
            indent = len(rows[row].expandtabs(_TAB)) - len(bare.expandtabs(_TAB))
            while indents[-1] > indent:
                indents.pop()
            if indents[-1] < indent and len(indents) < _MAX_DEPTH:
                indents.append(indent)
            yield row, len(indents) - 1, _is_intro(rows, row)
        is_free = not bare
        row += 1


def _is_intro(rows: Sequence[str], row: int) -> bool:
    """Whether what starts here needs what follows it: a colon at its end, a target, a rubric."""
    bare = rows[row].lstrip()
    if bare.startswith(".. "):
        return bool(_OPENING.match(bare))
    while row + 1 < len(rows) and rows[row + 1] and not _MARKER.match(rows[row + 1].lstrip()):
        row += 1
    return rows[row].endswith(":")


def plain_title(title: str) -> str:
    """A title as it is read: roles and references by their text, no emphasis or literals."""
    title = title.strip()[:_MAX_TITLE_CHARS].replace("``", "")
    title = _ROLE.sub(lambda found: _shown(found[1] or found[2] or found[3] or ""), title)
    return " ".join(_ESCAPE.sub(r"\1", _EMPHASIS.sub("", title)).split())


def _shown(reference: str) -> str:
    shown = _REFERENCE.sub("", reference)
    return shown if shown != reference else reference.lstrip("~!")
