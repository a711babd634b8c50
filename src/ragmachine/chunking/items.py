"""What stands where in a syntax tree: the nodes that take lines of their own, as a flat list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ragmachine.chunking.builder import NodeContext
from ragmachine.chunking.languages import TYPES
from ragmachine.chunking.nodes import Definition, NodeReader

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_UNFOLDED = 8
_MAX_PATH = 16
_LISTS = frozenset(
    ("declaration_list", "statement_block", "compound_statement", "body_statement", "block")
)
_HEADS = ("name", "condition", "value")  # what a section is called, rather than what it holds


class Item(NamedTuple):
    """A node that takes lines of its own.

    Attributes:
        node: what stands there.
        type: of the node.
        first, last: its rows, counted from 0; the last line of a section is its last item's too.
        context: what it stands in.
        leads: comments and attributes right above it.
    """

    node: Node
    type: str
    first: int
    last: int
    context: NodeContext
    leads: tuple[Node, ...]


class ItemReader:
    """Lists the items of nodes, without recursion: a tree may be deeper than Python's stack."""

    def __init__(self, nodes: NodeReader) -> None:
        self.nodes = nodes
        self.language = nodes.language

    def of(self, node: Node, context: NodeContext) -> list[Item]:
        """What a node holds, in order; sections and scopes are replaced by what they hold."""
        language = self.language
        items: list[Item] = []
        leads: list[Node] = []
        open_: list[tuple[Iterator[Node], NodeContext, int, int]] = []
        todo, first, last = iter(node.named_children), 0, -1
        while True:
            child = next(todo, None)
            if child is None:
                if len(items) > first and items[-1].last < last:
                    items[-1] = items[-1]._replace(last=last)
                if not open_:
                    return items
                todo, context, first, last = open_.pop()
                continue
            kind = child.type
            if kind in language.wrappers and language.scopes and child.named_child_count == 1:
                inner = child.named_children[0]
                child, kind = (
                    (inner, inner.type) if inner.type in language.scopes else (child, kind)
                )
            if kind in language.leads:
                leads.append(child)
            elif kind in language.sections or (kind in language.scopes and self._is_scope(child)):
                within = self._scope(child, context) if kind in language.scopes else context
                held = _held(child)
                if held:
                    open_.append((todo, context, first, last))
                    todo, context, first, last = iter(held), within, len(items), last_row(child)
                else:  # all that follows is in this scope
                    context = within
            else:
                row = child.start_point.row
                above = _above(leads, row) if leads else ()
                items.append(Item(child, kind, row, last_row(child), context, above))
                leads = []

    def _is_scope(self, node: Node) -> bool:
        """Whether a node is nothing by itself; Ruby's modules are only if they hold types."""
        definitions = self.language.definitions
        return node.type not in definitions or any(
            definitions.get(child.type) in TYPES for child in _held(node)
        )

    def _scope(self, node: Node, context: NodeContext) -> NodeContext:
        path = (*context.path, *self.nodes.path_of(node))
        # scopes within scopes without an end would cost the square of their number
        return NodeContext("module", path[-1], path[:-1]) if 0 < len(path) <= _MAX_PATH else context

    def definition_of(self, item: Item) -> Definition | None:
        """What an item defines, None for any other."""
        if item.type not in self.language.definitions and item.type not in self.language.wrappers:
            return None
        return self.nodes.definition_of(item.node)

    def held_by(self, node: Node, context: NodeContext) -> list[Item]:
        """The items in a node's body, and in what follows it; else its parts, unfolded."""
        body = _body_of(node)
        items = self.of(body or node, context)
        if body:
            rest = self.of(node, context)
            items += [item for item in rest if item.node.start_byte >= body.end_byte]
        for _ in range(_MAX_UNFOLDED):
            if any(one.last < two.first for one, two in pairwise(items)):
                return items
            if any(map(self.definition_of, items)):
                return items
            parts: list[Item] = []
            for item in items:
                parts += self.of(item.node, context) if item.first < item.last else [item]
            items = parts
        return []


def _held(node: Node) -> list[Node]:
    """What a section or scope holds; [] for one without a body."""
    body = node.child_by_field_name("body")
    if body is not None:
        return body.named_children if body.type in _LISTS else [body]
    heads = (node.child_by_field_name(field) for field in _HEADS)
    ids = {head.id for head in heads if head is not None}
    return [child for child in node.named_children if child.id not in ids]


def _body_of(node: Node) -> Node | None:
    """The body of a definition or statement, or of the function that is its value."""
    for _ in range(_MAX_UNFOLDED):
        body = node.child_by_field_name("body")
        if body is not None:
            return body
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if value is None:
            return None
        node = value
    return None


def _above(leads: list[Node], row: int) -> tuple[Node, ...]:
    """Those comments and attributes that end right above a row, without a line between."""
    first = len(leads)
    while first and last_row(leads[first - 1]) >= row - 1:
        first -= 1
        row = leads[first].start_point.row
    return tuple(leads[first:])


def last_row(node: Node) -> int:
    """The row that a node ends on; one that takes its line end with it ends before that."""
    end = node.end_point
    return end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row
