"""Reads single nodes of a syntax tree: which of them define something, and under what name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ragmachine.chunking.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_HOPS = 12  # declarators and wrappers within each other; more is nonsense
_MAX_NAME_CHARS = 120
_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")
_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*,?\s*\)\s*\Z")
# C#'s definitions without a name; "" is read from the text
_SIGNS = {
    "indexer_declaration": "this",
    "operator_declaration": "",
    "conversion_operator_declaration": "",
}
_QUOTES = "\"'`[] $&*"
_SEPARATOR = re.compile(r"::|\\|\.|->")
_ATTRIBUTE = re.compile(r"#?!?\[+(.*?)\]+|@(.*)")
_OBJECTS = ("object_reference", "identifier")
_NO_NAME = re.compile(r"[(){};,]")
_OPERATOR = re.compile(r"\boperator(?:( \w)|\W).*\Z")  # a type follows, or signs
# What stands before a name in JavaScript without being a type
_NO_OWNERS = frozenset(("module", "exports", "prototype", "this", "window", "self", "globalThis"))
_COMMENT_MARKS = re.compile(r"\A(?:/\*+!?<?|///?!?<?|#+!?|--+|%+)|\*+/\s*\Z")
_TAG = re.compile(r"</?\w[^<>]*>|\A[@\\]brief\s+")


class Definition(NamedTuple):
    """What a node defines.

    Attributes:
        node: the definition itself, without its wrappers.
        kind: see `NodeContext`.
        owners: names that its own name is qualified with, e.g. the class of an outlying method.
        name: own name.
    """

    node: Node
    kind: str
    owners: tuple[str, ...]
    name: str


class NodeReader:
    """Reads the nodes of one text.

    `Node.text` is not used: it crashes for a text that the parser was handed in pieces.
    """

    def __init__(self, source: bytes, language: Language) -> None:
        self.source = source
        self.language = language

    def definition_of(self, node: Node) -> Definition | None:
        """The definition that a node is, or that its wrappers hold; None for other statements."""
        holder = node
        for _ in range(_MAX_HOPS):
            kind = self._kind_of(node)
            if kind:
                path = self.path_of(node) or (self.path_of(holder) if holder is not node else ())
                return Definition(node, kind, path[:-1], path[-1]) if path else None
            if node.type not in self.language.wrappers:
                return None
            held = next(filter(self._may_define, node.named_children), None)
            if held is None:
                return None
            holder, node = node, held
        return None

    def _may_define(self, node: Node) -> bool:
        return node.type in self.language.wrappers or bool(self._kind_of(node))

    def _kind_of(self, node: Node) -> str:
        """The kind of a definition, "" for a node that is none."""
        kind, _, needed = self.language.definitions.get(node.type, "").partition("/")
        if needed:
            field, _, types = needed.partition("=")
            child = node.child_by_field_name(field)
            if child is None or (types and child.type not in types.split()):
                return ""
        return kind

    def path_of(self, node: Node) -> tuple[str, ...]:
        """The name of a definition or scope, after the names that it is qualified with."""
        if node.type in _SIGNS:
            return (_SIGNS[node.type] or _operator(self._text(node)),)
        for field in ("name", "declarator", "type", "left", "property", "key", "column"):
            child = node.child_by_field_name(field)
            if child is not None:
                break
        else:
            objects = (c for c in node.named_children if c.type in _OBJECTS)
            return split_name(self._text(next(objects, None)))[-1:]
        path = split_name(self._text(_declared(child)))
        owner = _RECEIVER.search(self._text(node.child_by_field_name("receiver")))
        return (owner[1], *path) if owner else path

    def summary_of(self, comments: Iterable[Node]) -> str:
        """The first line that says something in the comments above a definition."""
        for comment in comments:
            for line in self._text(comment).split("\n"):
                bare = _COMMENT_MARKS.sub("", line.strip()).strip().lstrip("*").strip()
                bare = _TAG.sub("", bare).strip()
                if any(character.isalnum() for character in bare):
                    return bare
        return ""

    def attributes_of(self, leads: Iterable[Node], node: Node) -> Iterator[str]:
        """Attributes, annotations and decorators as written: above a node, and first inside it."""
        parts = list(leads)
        for child in node.named_children[:_MAX_HOPS]:
            parts += child.named_children if child.type == "modifiers" else [child]
        for part in parts:
            if part.type in self.language.attributes:
                words = " ".join(self._text(part).split())
                bare = _ATTRIBUTE.fullmatch(words)
                yield (bare[1] or bare[2] if bare else words)[:_MAX_NAME_CHARS]

    def _text(self, node: Node | None) -> str:
        if node is None:
            return ""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _declared(node: Node) -> Node:
    """The name within C's declarators: of pointers, references, arrays and functions."""
    for _ in range(_MAX_HOPS):
        if not node.type.endswith("declarator"):
            break
        inner = node.child_by_field_name("declarator") or next(reversed(node.named_children), None)
        if inner is None:
            break
        node = inner
    return node


def _operator(text: str) -> str:
    """``operator +`` of the declaration of an operator."""
    return " ".join(text[max(0, text.find("operator")) :].partition("(")[0].split())


def split_name(text: str) -> tuple[str, ...]:
    """``Ring<T>::pop`` as (Ring, pop); an operator is one name, whatever its signs.

    More than 120 characters are no name, nor is what holds brackets.
    """
    text = " ".join(text.split())
    if len(text) > _MAX_NAME_CHARS:
        return ()
    operator = _OPERATOR.search(text)
    before = text[: operator.start()] if operator else text
    shorter = _TEMPLATE_ARGUMENTS.sub("", before)
    while shorter and shorter != before:
        before, shorter = shorter, _TEMPLATE_ARGUMENTS.sub("", shorter)
    parts = [part.strip(_QUOTES) or part for part in _SEPARATOR.split(before)]
    names = [part for part in parts if part and part not in _NO_OWNERS]
    if operator:
        sign = operator[0].partition("(")[0] if operator[1] else operator[0]
        return (*names, sign.rstrip())
    return () if _NO_NAME.search("".join(names)) else tuple(names)
