"""Markdown by its headings: sections with their breadcrumb, tables and fences kept whole."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragmachine.chunking.builder import Block, LineMap, NodeContext

_FRONT_MATTER = re.compile(
    r"\ufeff?---[ \t]*(?:\r\n|\r|\n)(.*?)(?:\r\n|\r|\n)(?:---|\.\.\.)[ \t]*(?=\r|\n|$)", re.S
)
_TITLE = re.compile(r"^title:[ \t]*[\"']?(.*?)[\"']?[ \t]*$", re.M)
_INLINE_NOISE = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|\{[#:][^}]*\}|<[^>]+>|[`*]")


@cache
def _parser() -> MarkdownIt:
    """Block structure only: inline parsing costs most of the time and moves no boundary."""
    return MarkdownIt("commonmark").enable("table").disable("inline")


def markdown_blocks(text: str) -> list[Block]:
    """Tile a document into sections; each section's children are its top-level elements."""
    lines = LineMap(text)
    skipped, trail_root = _front_matter(text)
    body = text.removeprefix("\ufeff")
    if skipped:
        # the parser would read `---` as a rule and the last key as a heading
        body = re.sub(r"[^\r\n]", " ", text[:skipped]) + text[skipped:]
    tokens = _parser().parse(body)
    headings = _headings(tokens)
    return _sections(text, lines, tokens, headings, trail_root)


def _front_matter(text: str) -> tuple[int, tuple[str, ...]]:
    """End of the YAML front matter (0 without one), and its title as a breadcrumb."""
    match = _FRONT_MATTER.match(text)
    if not match:
        return 0, ()
    title = _TITLE.search(match.group(1))
    return match.end(), (title.group(1),) if title and title.group(1) else ()


def _headings(tokens: list[Token]) -> list[tuple[int, int, str]]:
    """(line from 0, level, plain text) of each heading that is not inside a list or quote."""
    found = []
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            title = _INLINE_NOISE.sub(r"\1", content.content).strip()
            found.append((opening.map[0], int(opening.tag[1]), " ".join(title.split())))
    return found


def _sections(
    text: str,
    lines: LineMap,
    tokens: list[Token],
    headings: list[tuple[int, int, str]],
    root: tuple[str, ...],
) -> list[Block]:
    starts = [lines.start_of(line + 1) for line, _, _ in headings]
    bounds = [*starts, len(text)]
    blocks: list[Block] = []
    elements = _element_starts(lines, tokens)
    if bounds[0] > 0:
        intro = NodeContext("section", "", root)
        blocks.append(_section(0, bounds[0], intro, elements))
    trail: list[tuple[int, str]] = []
    for index, (_, level, title) in enumerate(headings):
        while trail and trail[-1][0] >= level:
            trail.pop()
        parents = (*root, *(name for _, name in trail))
        context = NodeContext("section", title, tuple(name for name in parents if name))
        trail.append((level, title))
        blocks.append(_section(bounds[index], bounds[index + 1], context, elements))
    return blocks


def _section(start: int, end: int, context: NodeContext, elements: list[int]) -> Block:
    """A section whose children start at its elements."""
    first = bisect_right(elements, start)
    cuts = [start, *elements[first : bisect_left(elements, end)], end]
    children = tuple(Block(a, b, context) for a, b in pairwise(cuts))
    return Block(start, end, context, children if len(children) > 1 else ())


def _element_starts(lines: LineMap, tokens: list[Token]) -> list[int]:
    """Offsets of top-level elements, the items of a list one by one; a table or fence is one."""
    starts = set()
    for token in tokens:
        is_element = token.level == 0 and not token.type.endswith("_list_open")
        is_item = token.level == 1 and token.type == "list_item_open"
        if token.map and token.nesting >= 0 and (is_element or is_item):
            starts.add(lines.start_of(token.map[0] + 1))
    return sorted(starts)
