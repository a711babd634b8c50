"""Units of a passage that can be quoted, and how prose is cut into them.

A unit is one or more exact pieces of the passage. Units overlap: a short code block is offered
whole, line by line, and together with the sentence that announces it; the extractor chooses.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

MAX_UNIT_CHARS = 700
_MAX_BLOCK_CHARS = 500
_MAX_ITEM_CHARS = 350
_SHORT_INTRO_CHARS = 40

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\n|\r|\Z)")
_FENCE = re.compile(r"\s*(?:>\s*)*(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"\s{0,3}(=+|-{3,}|~{3,}|\^{3,})\s*$")
_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+•]|\d{1,3}[.)])\s+\S")
# "name: …" and "name (type): …" in docstrings
_ENTRY = re.compile(r"\s*[`*]*[\w./-]+[`*]*(?:\s*\([^)\n]*\))?:\s+\S")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE = re.compile(r"[\s|:+=-]+$")
# Anchors, admonition openers, comments, directives: structure, not content.
_MARKUP = re.compile(
    r"\s*(?:\[\]\(\)\{.*\}|[!?=]{3}\+?\s.*|<!--.*-->|<[^>]+>|:\w+:.*|\.\.\s.*::.*)\s*$"
)
_SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\betc)(?<!^\d)"
    r"[.!?][\"'”’)\]*_`]*(?=\s+[^\sa-z]|\s*$)|[。！？]"
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Unit:
    """A quotable part of a passage.

    Attributes:
        pieces: spans of the passage's text, ascending, without white space at their edges.
        lead: a span before them that they are read with, such as a table's header; two units
            may share it.
        kind: ``sentence``, ``item``, ``row``, ``block``, ``list``, ``code`` or ``comment``.
        near: text that the unit continues, such as its introduction or condition.
        scope: headings or definitions around it, one a line, the nearest last.
    """

    pieces: tuple[Span, ...]
    kind: str
    near: str = ""
    scope: str = ""
    lead: Span | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """The lead, if any, and the pieces."""
        return (self.lead, *self.pieces) if self.lead else self.pieces

    @property
    def nearest_scope(self) -> str:
        """The heading or definition right above it; what is known of the passage without one."""
        return self.scope.rpartition("\n")[2]

    @property
    def length(self) -> int:
        """Characters of all spans."""
        return sum(end - start for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a passage without its terminator, offsets into the passage."""

    start: int
    end: int
    text: str

    @property
    def indent(self) -> int:
        """Width of the leading white space; a tab counts as four."""
        expanded = self.text.expandtabs(4)
        return len(expanded) - len(expanded.lstrip())

    @property
    def is_blank(self) -> bool:
        """Whether nothing but white space is there."""
        return not self.text.strip()


@dataclass(frozen=True, slots=True)
class _Block:
    kind: str  # heading, code, table, item, paragraph
    lines: Sequence[Line]

    @property
    def span(self) -> Span:
        return self.lines[0].start, self.lines[-1].end


def split_lines(text: str, start: int = 0, end: int | None = None) -> list[Line]:
    """The lines of ``text[start:end]``, whichever of LF, CRLF and CR ends them."""
    lines = []
    for match in _LINE.finditer(text, start, len(text) if end is None else end):
        if match.end() > match.start():
            lines.append(Line(match.start(), match.end(1), match[1]))
    return lines


def quote(text: str, spans: Sequence[Span]) -> str:
    """The spans of a text, one below the other."""
    return "\n".join(text[start:end] for start, end in spans)


def trim(text: str, start: int, end: int) -> Span:
    """The span without white space at its edges."""
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def prose_units(
    text: str,
    lines: Sequence[Line],
    scope: str,
    cut_code: Callable[[Sequence[Line], str], Iterator[Unit]],
) -> Iterator[Unit]:
    """Sentences, list items, table rows and fenced code of Markdown, docstrings or plain text.

    Args:
        text: the passage.
        lines: the part of it to read.
        scope: what encloses it, such as its section's label.
        cut_code: cuts lines of code into units, given their scope.
    """
    intro: Span | None = None
    items: list[Span] = []
    list_intro: Span | None = None
    blocks = [*_blocks(lines), _Block("end", ())]
    for block, following in itertools.pairwise(blocks):
        if block.kind == "heading":
            line = block.lines[0]
            scope = f"{scope}\n{line.text}"
            intro = list_intro = trim(text, line.end - len(line.text.lstrip("# ")), line.end)
        elif block.kind == "paragraph":
            sentences = split_sentences(text, *block.span)
            has_block = following.kind in ("item", "table", "code")
            is_opener = has_block and text[sentences[-1][1] - 1] in ":：*"
            yield from _sentence_units(text, sentences[: -1 if is_opener else None], scope)
            intro = list_intro = _introduction(text, sentences)
        elif block.kind == "item":
            items.append(trim(text, *block.span))
            if following.kind != "item":
                yield from _list_units(text, items, list_intro, scope)
                intro, items = items[-1], []
        elif block.kind == "table":
            yield from _table_units(text, block.lines, intro, scope)
        elif block.kind == "code" and block.lines:
            yield from _fenced_units(text, block, intro, scope, cut_code)


def _introduction(text: str, sentences: Sequence[Span]) -> Span:
    """The last sentence, with the one before it where it says little, like "For example:"."""
    start, end = sentences[-1]
    if len(sentences) > 1 and end - start < _SHORT_INTRO_CHARS and text[end - 1] == ":":
        start = sentences[-2][0]
    return start, end


def split_sentences(text: str, start: int, end: int) -> list[Span]:
    """The sentences of a paragraph, endless ones in parts; the last may lack its full stop."""
    cuts = [match.end() for match in _SENTENCE_END.finditer(text, start, end)]
    spans: list[Span] = []
    for cut in [*cuts, end]:
        spans.extend(windows(text, *trim(text, start, cut)))
        start = cut
    return spans


def windows(text: str, start: int, end: int) -> Iterator[Span]:
    """The span in parts of at most `MAX_UNIT_CHARS`, cut at white space where there is any."""
    while end - start > MAX_UNIT_CHARS:
        limit = start + MAX_UNIT_CHARS
        cut = max(text.rfind(" ", start + 1, limit), text.rfind("\n", start + 1, limit))
        cut = cut if cut > start else limit
        yield trim(text, start, cut)
        start = trim(text, cut, end)[0]
    if start < end:
        yield start, end


def _sentence_units(text: str, sentences: Sequence[Span], scope: str) -> Iterator[Unit]:
    near = ""
    for start, end in sentences:
        yield Unit(((start, end),), "sentence", near, scope)
        near = text[start:end]


def _list_units(text: str, items: Sequence[Span], intro: Span | None, scope: str) -> Iterator[Unit]:
    """Each item, long ones by sentence too, and the list below its introduction, whole or short."""
    near = text[slice(*intro)] if intro else ""
    for start, end in items:
        if end - start <= MAX_UNIT_CHARS:
            yield Unit(((start, end),), "item", near, scope)
        if end - start > _MAX_ITEM_CHARS:
            for unit in _sentence_units(text, split_sentences(text, start, end), scope):
                yield replace(unit, near=f"{near} {unit.near}")
    if len(items) < 2:
        return
    openings = tuple(split_sentences(text, *item)[0] for item in items)
    for pieces in (((items[0][0], items[-1][1]),), openings):
        unit = Unit(pieces, "list", "", scope, intro)
        if unit.length <= MAX_UNIT_CHARS:
            yield unit
            break


def _table_units(
    text: str, lines: Sequence[Line], intro: Span | None, scope: str
) -> Iterator[Unit]:
    """Each row below the header, and a small table whole below its introduction."""
    rows = [trim(text, line.start, line.end) for line in lines if not _RULE.match(line.text)]
    spans = [part for row in rows for part in windows(text, *row)]
    has_header = len(lines) > 1 and bool(_RULE.match(lines[1].text))
    near = text[slice(*intro)] if intro else ""
    for span in spans[has_header:]:
        yield Unit((span,), "row", near, scope, spans[0] if has_header else None)
    whole = Unit(tuple(spans), "list", "", scope, intro)
    if len(spans) > 2 and whole.length <= MAX_UNIT_CHARS:
        yield whole


def _fenced_units(
    text: str,
    block: _Block,
    intro: Span | None,
    scope: str,
    cut_code: Callable[[Sequence[Line], str], Iterator[Unit]],
) -> Iterator[Unit]:
    """A short block whole, alone and below its introduction; every block by statements."""
    near = text[slice(*intro)] if intro else ""
    span = trim(text, *block.span)
    if 0 < span[1] - span[0] <= _MAX_BLOCK_CHARS:
        yield Unit((span,), "block", near, scope)
        if intro:
            yield Unit((span,), "block", "", scope, intro)
    for unit in cut_code(block.lines, scope):
        yield replace(unit, near=f"{near} {unit.near}")


def _blocks(lines: Sequence[Line]) -> Iterator[_Block]:
    position = 0
    while position < len(lines):
        line = lines[position]
        kind = _kind(lines, position)
        stop = position + 1
        if kind == "code":
            stop = _fence_end(lines, position)
            yield _Block("code", lines[position + 1 : stop])
            stop += 1
        elif kind == "heading":
            yield _Block("heading", [line])
            stop += not _HEADING.match(line.text)
        elif kind != "blank":
            while stop < len(lines) and _kind(lines, stop) == _continuation(kind):
                stop += 1
            yield _Block(kind, lines[position:stop])
        position = stop


def _kind(lines: Sequence[Line], position: int) -> str:
    text = lines[position].text
    if _FENCE.match(text):
        return "code"
    following = lines[position + 1].text if position + 1 < len(lines) else ""
    if _HEADING.match(text) or (text.strip() and _UNDERLINE.match(following)):
        return "heading"
    if _ROW.match(text):
        return "table"
    if not text.strip() or _RULE.match(text) or _MARKUP.match(text):
        return "blank"
    return "item" if _ITEM.match(text) or _ENTRY.match(text) else "paragraph"


def _continuation(kind: str) -> str:
    """The kind of line that goes on with a block of `kind`: an item's is a paragraph's."""
    return "table" if kind == "table" else "paragraph"


def _fence_end(lines: Sequence[Line], position: int) -> int:
    """Index of the line that closes the fence opened at `position`, or past the last line."""
    opened = _FENCE.match(lines[position].text)
    mark = opened[1] if opened else "```"
    for stop in range(position + 1, len(lines)):
        stripped = lines[stop].text.strip(" \t>")
        if stripped.startswith(mark) and not stripped.strip(mark[0]):
            return stop
    return len(lines)
