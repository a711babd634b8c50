"""Code by its syntax tree, whatever the language: definitions whole, what leads them with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ragmachine.chunking.builder import Block, LineMap, NodeContext
from ragmachine.chunking.cuts import LINE_END
from ragmachine.chunking.grammars import parse
from ragmachine.chunking.items import Item, ItemReader
from ragmachine.chunking.languages import TYPES, Language
from ragmachine.chunking.nodes import Definition, NodeReader

if TYPE_CHECKING:
    from tree_sitter import Node

_MODULE = NodeContext("module")
_IMPORTS = NodeContext("imports")
_MAX_DEPTH = 24  # definitions and statements within each other; below, lines are good enough


class _Group(NamedTuple):
    """Items that share lines, and the first definition among them."""

    items: list[Item]
    last: int
    definition: Definition | None
    is_import: bool

    @property
    def context(self) -> NodeContext:
        return self.items[0].context


def syntax_blocks(text: str, max_chars: int, language: Language) -> list[Block]:
    """Tile a text into imports, definitions and statements, those of a paragraph together.

    What cannot be parsed is cut as well, at the nodes that could be read in it.

    Args:
        text: the source.
        max_chars: the limit of a chunk; blocks far below it are not cut any finer.
        language: one whose grammar is installed.

    Raises: ParseLimitError: the text is too much for a parser.
    """
    # the parser is given the same lines, so that its rows hold for any text
    lines = text.removeprefix("\ufeff")
    source = LINE_END.sub("\n", lines) if "\r" in lines else lines
    encoded = source.encode("utf-8", "replace")
    root = parse(encoded, language)
    tiler = _Tiler(text, max_chars, NodeReader(encoded, language))
    return tiler.tile(tiler.items.of(root, _MODULE), 0, len(text), _MODULE)


class _Tiler:
    """Cuts a text at the lines of syntax nodes; every range given is tiled without a gap."""

    def __init__(self, text: str, max_chars: int, nodes: NodeReader) -> None:
        self.text = text
        self.max_chars = max_chars
        # blocks up to here are never cut, not even to make room for what leads them
        self.whole_chars = max_chars // 2
        self.nodes = nodes
        self.language = nodes.language
        self.items = ItemReader(nodes)
        self.lines = LineMap(text)

    def tile(
        self, items: Sequence[Item], start: int, end: int, context: NodeContext, depth: int = 0
    ) -> list[Block]:
        """Blocks for items that together fill start..end; what is above an item goes to it."""
        blocks: list[Block] = []
        position = start
        paragraphs = list(self._paragraphs(self._groups(items)))
        for number, groups in enumerate(paragraphs, 1):
            is_last = number == len(paragraphs)
            cut = end if is_last else min(max(self._after(groups[-1]), position), end)
            if cut > position:
                blocks.append(self._paragraph(groups, position, cut, depth))
            position = cut
        if not blocks and start < end:
            blocks.append(Block(start, end, context))
        return blocks

    def _groups(self, items: Sequence[Item]) -> list[_Group]:
        """Items that share lines as one group."""
        runs: list[tuple[list[Item], int]] = []
        for item in items:
            if runs and item.first <= runs[-1][1]:
                runs[-1][0].append(item)
                runs[-1] = (runs[-1][0], max(runs[-1][1], item.last))
            else:
                runs.append(([item], item.last))
        return [self._group(run, last) for run, last in runs]

    def _group(self, items: list[Item], last: int) -> _Group:
        definition = None
        for item in items:
            definition = definition or self.items.definition_of(item)
        return _Group(items, last, definition, items[0].type in self.language.imports)

    def _paragraphs(self, groups: Sequence[_Group]) -> Iterator[list[_Group]]:
        """Groups by what is packed together: imports, and statements without a blank line."""
        run: list[_Group] = []
        for group in groups:
            if run and not self._continues(run[-1], group):
                yield run
                run = []
            run.append(group)
        if run:
            yield run

    def _continues(self, before: _Group, group: _Group) -> bool:
        if before.definition or group.definition or before.context != group.context:
            return False
        if before.is_import or group.is_import:
            return before.is_import and group.is_import
        rows = range(before.last + 1, group.items[0].first)
        return not any(self.text[self._row(n) : self._row(n + 1)].isspace() for n in rows)

    def _paragraph(self, groups: Sequence[_Group], start: int, end: int, depth: int) -> Block:
        context = groups[0].context
        if groups[0].is_import and context.kind == "module":
            context = _IMPORTS
        if len(groups) == 1:
            return self._block(groups[0], start, end, context, depth)
        if end - start <= self.whole_chars:
            return Block(start, end, context)
        cuts = [start, *(max(start, self._after(group)) for group in groups[:-1]), end]
        children = tuple(
            self._block(group, from_, to, context, depth)
            for group, (from_, to) in zip(groups, pairwise(cuts), strict=True)
            if from_ < to
        )
        return Block(start, end, context, children)

    def _block(
        self, group: _Group, start: int, end: int, context: NodeContext, depth: int
    ) -> Block:
        """A definition with its context, or a statement with the finer blocks it is made of."""
        if group.definition:
            return self._definition(group, group.definition, start, end, depth)
        if len(group.items) > 1 or end - start <= self.whole_chars:
            return Block(start, end, context)
        return Block(
            start, end, context, self._suite(group.items[0].node, start, end, context, depth)
        )

    def _definition(
        self, group: _Group, definition: Definition, start: int, end: int, depth: int
    ) -> Block:
        """A definition: whole where it fits, else what leads it, its header, then its body."""
        item = group.items[0]
        context = self._context(item, definition)
        if end - start <= self.whole_chars:
            return Block(start, end, context)
        head, tail = max(start, self._row(item.first)), min(end, self._after(group))
        own = max(start, self._row(item.leads[0].start_point.row)) if item.leads else head
        core = Block(head, tail, context, self._suite(definition.node, head, tail, context, depth))
        if own < head:
            lead = Block(own, head, context, is_lead=True)
            core = Block(own, tail, context, (lead, core))
        # a heading above a definition that is cut anyway stays with its beginning
        above = Block(start, own, item.context, is_lead=tail - own > self.max_chars)
        parts = (above, core, Block(tail, end, item.context))
        children = tuple(part for part in parts if part.start < part.end)
        return core if len(children) == 1 else Block(start, end, context, children)

    def _context(self, item: Item, definition: Definition) -> NodeContext:
        kind, owners = definition.kind, definition.owners
        if kind == "function" and (owners or item.context.kind in TYPES):
            kind = "method"
        attributes = self.nodes.attributes_of(item.leads, item.node)
        comments = [lead for lead in item.leads if lead.type not in self.language.attributes]
        return NodeContext(
            kind=kind,
            name=definition.name,
            parents=(*item.context.path, *owners),
            decorators=tuple(attributes),
            summary=self.nodes.summary_of(comments),
        )

    def _suite(
        self, node: Node, start: int, end: int, context: NodeContext, depth: int
    ) -> tuple[Block, ...]:
        """The header of a node, then what it holds; () when there is nothing finer."""
        if end - start <= self.whole_chars or depth >= _MAX_DEPTH:
            return ()
        items = self.items.held_by(node, context)
        row = node.start_point.row
        while items and items[0].first == items[0].last == row:
            items = items[1:]
        if not items:
            return ()
        inner = self._row(items[0].leads[0].start_point.row if items[0].leads else items[0].first)
        if not start < inner < end or items[0].first == row:
            blocks = self.tile(items, start, end, context, depth + 1)
            return tuple(blocks) if len(blocks) > 1 else blocks[0].children
        header = Block(start, inner, context, is_lead=True)
        return (header, *self.tile(items, inner, end, context, depth + 1))

    def _after(self, group: _Group) -> int:
        return self._row(group.last + 1)

    def _row(self, row: int) -> int:
        return self.lines.start_of(row + 1)
