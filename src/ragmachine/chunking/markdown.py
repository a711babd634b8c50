"""Markdown by its headings: sections with their breadcrumb, tables and fences kept whole."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragmachine.chunking.builder import Block, LineMap, NodeContext

_FRONT_MATTER = re.compile(
    r"\ufeff?---[ \t]*(?:\r\n|\r|\n)(.*?)(?:\r\n|\r|\n)(?:---|\.\.\.)[ \t]*(?=\r|\n|\Z)", re.S
)
# What may stand in column 0 of a YAML mapping; anything else was prose between two rules.
_YAML_LINE = re.compile(r"""[ \t#\]}]|-[ \t]|["'\w.$-][^:#]*:(?:[ \t]|\Z)|\Z""")
_CODE_SPAN = re.compile(r"(?<!`)(`++)(.+?)(?<!`)\1(?!`)")
# links and images, attributes, tags (but not List<int>), emphasis (but not 2 * 3)
_INLINE_NOISE = re.compile(
    r"!?\[([^\]]*)\]\([^)]*\)|\{ ?[#:.][^}]*\}"
    r"|</?(?:a|abbr|b|br|code|del|div|em|font|i|img|kbd|mark|p|s|small|span|strong|sub|sup|u)\b[^<>]*>"
    r"|\*+(?=\S)|(?<=\S)\*+"
)
# An introducing line, or the head of a MkDocs admonition or tab, whose body parses as code.
_INTRO = re.compile(r"[:：]\**\Z|(?:\A|\n)(?:!!!|\?\?\?\+?|===)[ \t][^\n]*\Z")
_ANCHOR = re.compile(r"(?:\[\]\(\)\{[^{}\r\n]*\}|<a [^<>\r\n]*>[ \t]*</a>)\s*")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MAX_TITLE_CHARS = 300


class _Element(NamedTuple):
    """A block of the document.

    Attributes:
        start: its offset.
        depth: inside how many list items and quotes it stands.
        is_intro: a line such as "For example:" that needs what follows it.
    """

    start: int
    depth: int
    is_intro: bool = False


class _Heading(NamedTuple):
    start: int
    level: int
    title: str


@cache
def _parser() -> MarkdownIt:
    """Block structure only: inline parsing costs most of the time and moves no boundary."""
    return MarkdownIt("commonmark").enable("table").disable("inline")


def markdown_blocks(text: str, max_chars: int = 0) -> list[Block]:
    """Tile a document into sections, a section into its elements, a list into its items.

    Args:
        text: the source.
        max_chars: the limit of a chunk; blocks far below it are not cut any finer.
    """
    lines = LineMap(text)
    skipped, title = _front_matter(text)
    body = text.removeprefix("\ufeff")
    if skipped:
        # the parser would read `---` as a rule and the last key as a heading
        body = re.sub(r"[^\r\n]", " ", text[:skipped]) + text[skipped:]
    tokens = _parser().parse(body)
    elements = sorted(_elements(lines, tokens))
    headings = [_with_anchor(text, heading, elements) for heading in _headings(lines, tokens)]
    tiler = _Tiler(elements, max_chars // 2)
    return list(_sections(len(text), headings, title, tiler))


def _front_matter(text: str) -> tuple[int, str]:
    """End of the YAML front matter (0 without one), and its title."""
    match = _FRONT_MATTER.match(text)
    if not match:
        return 0, ""
    lines = re.split(r"\r\n|\r|\n", match.group(1))
    has_key = any(":" in line for line in lines if not line.startswith(("#", " ", "\t")))
    if not has_key or not all(map(_YAML_LINE.match, lines)):
        return 0, ""
    titles = (line.partition(":")[2].strip() for line in lines if line.startswith("title:"))
    return match.end(), _unquoted(next(titles, ""))


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value


def _headings(lines: LineMap, tokens: list[Token]) -> Iterator[_Heading]:
    """Each heading that is not inside a list or quote."""
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            start = lines.start_of(opening.map[0] + 1)
            yield _Heading(start, int(opening.tag[1]), plain_text(content.content))


def _with_anchor(text: str, heading: _Heading, elements: list[_Element]) -> _Heading:
    """The heading with the link target right above it, which becomes its first line."""
    own = bisect_left(elements, heading.start, key=_start)
    if own == 0 or not _ANCHOR.fullmatch(text, elements[own - 1].start, heading.start):
        return heading
    del elements[own]  # the two are one element
    return heading._replace(start=elements[own - 1].start)


def plain_text(title: str) -> str:
    """A heading or the like as it is read: links by their text, no emphasis, attributes or tags.

    What is longer than 300 characters is cut there.
    """
    parts = []
    position = 0
    title = title[:_MAX_TITLE_CHARS]  # the patterns below look ahead to the end
    for code in _CODE_SPAN.finditer(title):
        parts += [_without_marks(title[position : code.start()]), code.group(2)]
        position = code.end()
    parts.append(_without_marks(title[position:]))
    return " ".join("".join(parts).split())


def _without_marks(text: str) -> str:
    return _ESCAPE.sub(r"\1", _INLINE_NOISE.sub(r"\1", text))


def _elements(lines: LineMap, tokens: list[Token]) -> Iterator[_Element]:
    """Paragraphs, fences, tables, items, … ; a list is its items, a table or a fence is one."""
    depth = 0
    in_table = False
    for index, token in enumerate(tokens):
        kind = token.type
        if kind in ("table_open", "table_close"):
            in_table = token.nesting > 0
        is_container = kind.startswith(("list_item", "blockquote"))
        if token.nesting < 0:
            depth -= is_container
            continue
        is_inner = kind == "inline" or (in_table and kind != "table_open")
        if token.map and not is_inner and not kind.endswith("_list_open"):
            is_intro = kind == "paragraph_open" and bool(_INTRO.search(tokens[index + 1].content))
            yield _Element(lines.start_of(token.map[0] + 1), depth, is_intro)
        depth += is_container


def _sections(
    end: int, headings: list[_Heading], front_title: str, tiler: _Tiler
) -> Iterator[Block]:
    bounds = [*(heading.start for heading in headings), end]
    root = (front_title,) if front_title else ()
    if bounds[0] > 0:
        yield tiler.section(0, bounds[0], NodeContext("section", "", root))
    if headings and root == (headings[0].title,):
        root = ()  # the first heading says it once more
    trail: list[_Heading] = []
    for heading, (start, to) in zip(headings, pairwise(bounds), strict=True):
        while trail and trail[-1].level >= heading.level:
            trail.pop()
        names = (*root, *(parent.title for parent in trail))
        context = NodeContext("section", heading.title, tuple(name for name in names if name))
        trail.append(heading)
        yield tiler.section(start, to, context)


class _Tiler:
    """Cuts ranges at the elements of the document."""

    def __init__(self, elements: list[_Element], whole_chars: int) -> None:
        self.elements = elements
        self.whole_chars = whole_chars

    def section(self, start: int, end: int, context: NodeContext) -> Block:
        """A section as a block; its heading leads its first element, or the next section."""
        children = self._tile(start, end, 0, context)
        if not context.name:
            return Block(start, end, context, children)
        if len({element.start for element in self._inside(start, end)}) < 2:
            return Block(start, end, context, is_lead=True)
        if children:
            heading = Block(start, children[0].end, context, is_lead=True)
            children = (heading, *children[1:])
        return Block(start, end, context, children)

    def _tile(self, start: int, end: int, depth: int, context: NodeContext) -> tuple[Block, ...]:
        """The range cut at the elements of one depth, each cut at those it holds."""
        if end - start <= self.whole_chars:
            return ()
        inside = self._inside(start, end)
        if not inside or inside[-1].start == start:
            return ()
        own = [element for element in inside if element.depth == depth]
        if not own or own[0].start > start:
            own.insert(0, _Element(start, depth))
        bounds = pairwise([*(element.start for element in own), end])
        tiles: list[Block] = []
        for element, (from_, to) in zip(reversed(own), reversed(list(bounds)), strict=True):
            tile = Block(from_, to, context, self._tile(from_, to, depth + 1, context))
            if element.is_intro and tiles:  # whole with what it introduces, where that fits
                tile = Block(from_, tiles[-1].end, context, (tile, tiles.pop()))
            tiles.append(tile)
        return tuple(reversed(tiles)) if len(tiles) > 1 else tiles[0].children

    def _inside(self, start: int, end: int) -> list[_Element]:
        """The elements that start in a range."""
        first = bisect_left(self.elements, start, key=_start)
        return self.elements[first : bisect_left(self.elements, end, key=_start)]


def _start(element: _Element) -> int:
    return element.start
