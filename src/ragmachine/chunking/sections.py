"""Documents by their headings: sections with their breadcrumb, cut at the elements they hold.

The chunkers of Markdown, reStructuredText and AsciiDoc find headings and elements; this cuts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ragmachine.chunking.builder import Block, NodeContext

_MAX_JOINED = 8  # lines that each introduce the next


class Element(NamedTuple):
    """A block of the document.

    Attributes:
        start: its offset.
        depth: inside how many list items and quotes it stands.
        is_intro: a line such as "For example:" that needs what follows it.
    """

    start: int
    depth: int
    is_intro: bool = False


class Heading(NamedTuple):
    """A heading: its offset, its level (smaller is higher) and its text as it is read."""

    start: int
    level: int
    title: str


def section_blocks(
    end: int,
    headings: Sequence[Heading],
    elements: Sequence[Element],
    max_chars: int,
    front_title: str = "",
) -> list[Block]:
    """Tile a document into sections, a section into its elements, a list into its items.

    Args:
        end: length of the text.
        headings: in order.
        elements: in order; a heading is one too.
        max_chars: the limit of a chunk; blocks far below it are not cut any finer.
        front_title: what the document is called elsewhere than in its headings.
    """
    return list(_sections(end, headings, front_title, _Tiler(elements, max_chars // 2)))


def _sections(
    end: int, headings: Sequence[Heading], front_title: str, tiler: _Tiler
) -> Iterator[Block]:
    bounds = [*(heading.start for heading in headings), end]
    root = (front_title,) if front_title else ()
    if bounds[0] > 0:
        yield tiler.section(0, bounds[0], NodeContext("section", "", root))
    if headings and root == (headings[0].title,):
        root = ()  # the first heading says it once more
    trail: list[Heading] = []
    for heading, (start, to) in zip(headings, pairwise(bounds), strict=True):
        while trail and trail[-1].level >= heading.level:
            trail.pop()
        names = (*root, *(parent.title for parent in trail))
        context = NodeContext("section", heading.title, tuple(name for name in names if name))
        trail.append(heading)
        yield tiler.section(start, to, context)


class _Tiler:
    """Cuts ranges at the elements of the document."""

    def __init__(self, elements: Sequence[Element], whole_chars: int) -> None:
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
            own.insert(0, Element(start, depth))
        bounds = pairwise([*(element.start for element in own), end])
        tiles: list[Block] = []
        joined = 0
        for element, (from_, to) in zip(reversed(own), reversed(list(bounds)), strict=True):
            tile = Block(from_, to, context, self._tile(from_, to, depth + 1, context))
            joined = joined + 1 if element.is_intro and tiles and joined < _MAX_JOINED else 0
            if joined:  # whole with what it introduces, where that fits
                tile = Block(from_, tiles[-1].end, context, (tile, tiles.pop()))
            tiles.append(tile)
        return tuple(reversed(tiles)) if len(tiles) > 1 else tiles[0].children

    def _inside(self, start: int, end: int) -> Sequence[Element]:
        """The elements that start in a range."""
        first = bisect_left(self.elements, start, key=start_of)
        return self.elements[first : bisect_left(self.elements, end, key=start_of)]


def start_of(element: Element) -> int:
    """Where an element starts, as a key to search by."""
    return element.start
