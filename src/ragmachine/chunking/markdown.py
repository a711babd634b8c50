"""Markdown by its headings: sections with their breadcrumb, tables and fences kept whole."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragmachine.chunking.builder import Block, LineMap
from ragmachine.chunking.sections import Element, Heading, section_blocks, start_of

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
    return section_blocks(len(text), headings, elements, max_chars, title)


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


def _headings(lines: LineMap, tokens: list[Token]) -> Iterator[Heading]:
    """Each heading that is not inside a list or quote."""
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            start = lines.start_of(opening.map[0] + 1)
            yield Heading(start, int(opening.tag[1]), plain_text(content.content))


def _with_anchor(text: str, heading: Heading, elements: list[Element]) -> Heading:
    """The heading with the link target right above it, which becomes its first line."""
    own = bisect_left(elements, heading.start, key=start_of)
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


def _elements(lines: LineMap, tokens: list[Token]) -> Iterator[Element]:
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
            yield Element(lines.start_of(token.map[0] + 1), depth, is_intro)
        depth += is_container
