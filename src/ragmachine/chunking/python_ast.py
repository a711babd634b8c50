"""Python by its syntax tree: definitions whole, their decorators and comments with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ragmachine.chunking.builder import Block, LineMap, NodeContext

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
MODULE = NodeContext("module")
_IMPORT_CONTEXT = NodeContext("imports")


def python_blocks(text: str) -> list[Block]:
    """Tile a module into imports, definitions and module-level code.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does; the caller
            falls back to lines.
    """
    # a byte order mark is part of the text but not of the program; it stands on line 1 alone
    tree = ast.parse(text.removeprefix("\ufeff"))
    return _Tiler(text).tile(tree.body, 0, len(text), MODULE)


class _Tiler:
    """Cuts a text at the lines of syntax nodes; every range given is tiled without a gap."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = LineMap(text)

    def tile(
        self, body: Sequence[ast.stmt], start: int, end: int, context: NodeContext
    ) -> list[Block]:
        """Blocks for the statements of one suite that together fill start..end."""
        blocks: list[Block] = []
        for statements, from_, to in self._cuts(body, start, end):
            first = statements[0]
            if isinstance(first, _DEFINITIONS):
                blocks.append(self._definition(first, from_, to, context))
            elif isinstance(first, _IMPORTS) and context is MODULE:
                blocks.append(Block(from_, to, _IMPORT_CONTEXT))
            else:
                children = self._nested(first, from_, to, context) if len(statements) == 1 else ()
                blocks.append(Block(from_, to, context, children))
        if not blocks and start < end:
            blocks.append(Block(start, end, context))
        return blocks

    def _cuts(
        self, body: Sequence[ast.stmt], start: int, end: int
    ) -> Iterator[tuple[list[ast.stmt], int, int]]:
        """Group statements that share a line or an import block; yield each group's range.

        The comments and blank lines before a statement go to it.
        """
        groups: list[tuple[list[ast.stmt], int]] = []
        previous_end = 0
        for statement in body:
            begin = statement.lineno
            if isinstance(statement, _DEFINITIONS) and statement.decorator_list:
                begin = min(begin, statement.decorator_list[0].lineno)
            last = statement.end_lineno or begin
            joins = groups and (
                begin <= previous_end
                or (isinstance(statement, _IMPORTS) and isinstance(groups[-1][0][0], _IMPORTS))
            )
            if joins:
                groups[-1][0].append(statement)
            else:
                groups.append(([statement], begin))
            previous_end = max(previous_end, last)
        position = start
        for index, (statements, _) in enumerate(groups):
            if index + 1 < len(groups):
                last = max(statement.end_lineno or statement.lineno for statement in statements)
                cut = min(max(self.lines.start_of(last + 1), position), end)
            else:
                cut = end
            if cut > position:
                yield statements, position, cut
            position = cut

    def _definition(self, node: ast.stmt, start: int, end: int, outer: NodeContext) -> Block:
        """A function or class: whole where it fits, else its suite with the signature first."""
        if not isinstance(node, _DEFINITIONS):  # for the type checker: callers have looked
            raise TypeError(type(node).__name__)
        kind = "class" if isinstance(node, ast.ClassDef) else "function"
        if kind == "function" and outer.kind == "class":
            kind = "method"
        context = NodeContext(
            kind=kind,
            name=node.name,
            parents=outer.path,
            decorators=tuple(self._source(item) for item in node.decorator_list),
            summary=(ast.get_docstring(node, clean=False) or "").strip().partition("\n")[0].strip(),
        )
        return Block(start, end, context, self._suite(node.body, start, end, context))

    def _suite(
        self, body: Sequence[ast.stmt], start: int, end: int, context: NodeContext
    ) -> tuple[Block, ...]:
        """Header lines, then the suite's statements; () when there is nothing finer."""
        if not body or end - start < 400:  # far below any useful limit: spare the work
            return ()
        first = body[0]
        begin = first.lineno
        if isinstance(first, _DEFINITIONS) and first.decorator_list:
            begin = min(begin, first.decorator_list[0].lineno)
        inner = self.lines.start_of(begin)
        if not start < inner < end:
            return ()
        return (Block(start, inner, context), *self.tile(body, inner, end, context))

    def _nested(
        self, statement: ast.stmt, start: int, end: int, context: NodeContext
    ) -> tuple[Block, ...]:
        """Finer blocks of a compound statement (if, for, try, with, match): its suites in order."""
        if end - start < 400:
            return ()
        suites: list[ast.stmt] = []
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            for child in getattr(statement, name, ()) or ():
                if isinstance(child, ast.stmt):
                    suites.append(child)
                else:  # an except handler or a match case holds a suite of its own
                    suites.extend(getattr(child, "body", ()))
        return self._suite(suites, start, end, context) if suites else ()

    def _source(self, node: ast.expr) -> str:
        """A decorator as written, on one line."""
        try:
            return " ".join(ast.unparse(node).split())[:80]
        except (ValueError, RecursionError):
            return ""
