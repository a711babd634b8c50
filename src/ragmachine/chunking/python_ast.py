"""Python by its syntax tree: definitions whole, their decorators and comments with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ragmachine.chunking.builder import Block, LineMap, NodeContext

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
MODULE = NodeContext("module")
_IMPORT_CONTEXT = NodeContext("imports")
_COMPOUNDS = (
    *_DEFINITIONS, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try,
    ast.TryStar, ast.Match,
)  # fmt: skip
_SUITES = ("body", "handlers", "orelse", "finalbody", "cases")
_MAX_DECORATOR_CHARS = 80
# blank lines, then the indentation of a comment
_INDENTED_COMMENT = re.compile(r"(?:[ \t\f]*+(?>\r\n|[\r\n]))*+([ \t]++)#")

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def python_blocks(text: str, max_chars: int = 0) -> list[Block]:
    """Tile a module into imports, definitions and module-level code.

    Args:
        text: the source.
        max_chars: the limit of a chunk; blocks far below it are not cut any finer.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does; the caller
            falls back to lines.
    """
    # a byte order mark is part of the text but not of the program; it stands on line 1 alone
    tree = ast.parse(text.removeprefix("\ufeff"))
    return _Tiler(text, max_chars).tile(tree.body, 0, len(text), MODULE)


class _Tiler:
    """Cuts a text at the lines of syntax nodes; every range given is tiled without a gap."""

    def __init__(self, text: str, max_chars: int) -> None:
        self.text = text
        self.max_chars = max_chars
        # blocks up to here are never cut, not even to make room for what leads them
        self.whole_chars = max_chars // 2
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
            elif isinstance(first, _IMPORTS):
                own = _IMPORT_CONTEXT if context is MODULE else context
                blocks.append(Block(from_, to, own, self._imports(statements, from_, to, own)))
            else:
                children = self._nested(first, from_, to, context) if len(statements) == 1 else ()
                blocks.append(Block(from_, to, context, children))
        if not blocks and start < end:
            blocks.append(Block(start, end, context))
        return blocks

    def _cuts(
        self, body: Sequence[ast.stmt], start: int, end: int, *, joins_imports: bool = True
    ) -> Iterator[tuple[list[ast.stmt], int, int]]:
        """Group what shares a line, a run of imports or a docstring; yield each group's range.

        The comments and blank lines before a statement go to it, but for comments that are
        indented as the suite of the statement before.
        """
        groups: list[list[ast.stmt]] = []
        last_lines: list[int] = []
        for statement in body:
            if groups and (
                statement.lineno <= last_lines[-1]
                or (joins_imports and _are_imports(groups[-1][0], statement))
                or _is_described(groups[-1][-1], statement)
            ):
                groups[-1].append(statement)
            else:
                groups.append([statement])
                last_lines.append(0)
            last_lines[-1] = statement.end_lineno or statement.lineno
        position = start
        for index, statements in enumerate(groups):
            cut = end
            if index + 1 < len(groups):
                after = self._after(statements[-1], groups[index + 1][0])
                cut = min(max(after, position), end)
            if cut > position:
                yield statements, position, cut
            position = cut

    def _after(self, statement: ast.stmt, following: ast.stmt) -> int:
        """Where a statement ends, with the comments that close its suite."""
        cut = self.lines.start_of((statement.end_lineno or statement.lineno) + 1)
        if not isinstance(statement, _COMPOUNDS):
            return cut
        limit = self.lines.start_of(_first_line(following))
        while comment := _INDENTED_COMMENT.match(self.text, cut, limit):
            if len(comment[1]) <= statement.col_offset:
                break
            cut = self.lines.start_of(self.lines.line_of(comment.end()) + 1)
        return min(cut, limit)

    def _definition(self, node: _Definition, start: int, end: int, outer: NodeContext) -> Block:
        """A function or class: whole where it fits, else its signature, then its suite."""
        kind = "class" if isinstance(node, ast.ClassDef) else "function"
        if kind == "function" and outer.kind == "class":
            kind = "method"
        context = NodeContext(
            kind=kind,
            name=node.name,
            parents=outer.path,
            decorators=tuple(map(self._as_written, node.decorator_list)),
            summary=_summary(node),
        )
        if end - start <= self.whole_chars:
            return Block(start, end, context)
        head = max(start, self.lines.start_of(self._decorated_line(node)))
        tail = min(end, self.lines.start_of((node.end_lineno or node.lineno) + 1))
        own = self._comment_start(start, head)
        core = Block(head, tail, context, self._suite(node, node.body, head, tail, context))
        if own < head:
            comment = Block(own, head, context, is_lead=True)
            core = Block(own, tail, context, (comment, core))
        if (own, tail) == (start, end):
            return core
        # a heading above a definition that is cut anyway stays with its beginning
        is_lead = tail - own > self.max_chars
        around = (Block(start, own, outer, is_lead=is_lead), core, Block(tail, end, outer))
        children = tuple(block for block in around if block.start < block.end)
        return Block(start, end, context, children)

    def _decorated_line(self, node: _Definition) -> int:
        """The line of the first ``@``, or of the definition itself."""
        line = _first_line(node)
        if node.decorator_list:
            # a decorator in brackets may start below its @
            while line > 1 and not self._line(line).lstrip().startswith("@"):
                line -= 1
        return line

    def _comment_start(self, start: int, head: int) -> int:
        """Where the comment lines directly above `head` start; `head` without any."""
        line = self.lines.line_of(head)
        while line > 1 and self.lines.start_of(line - 1) >= start:
            if not self._line(line - 1).lstrip().startswith("#"):
                break
            line -= 1
        return max(start, self.lines.start_of(line))

    def _suite(
        self, node: ast.stmt, body: Sequence[ast.stmt], start: int, end: int, context: NodeContext
    ) -> tuple[Block, ...]:
        """Header lines, then the suite's statements; () when there is nothing finer."""
        if not body or end - start <= self.whole_chars:
            return ()
        first = body[0]
        line = self._decorated_line(first) if isinstance(first, _DEFINITIONS) else first.lineno
        # the comments above the first statement are its own
        while line - 1 > node.lineno and self._line(line - 1).lstrip()[:1] in ("", "#"):
            line -= 1
        inner = self.lines.start_of(line)
        if line <= node.lineno or not start < inner < end:
            return tuple(self.tile(body, start, end, context))
        header = Block(start, inner, context, is_lead=True)
        return (header, *self.tile(body, inner, end, context))

    def _nested(
        self, statement: ast.stmt, start: int, end: int, context: NodeContext
    ) -> tuple[Block, ...]:
        """Finer blocks of a compound statement (if, for, try, with, match): its suites in order."""
        if end - start <= self.whole_chars:
            return ()
        value = getattr(statement, "value", None)
        if isinstance(value, ast.expr):
            return self._items(value, start, end, context)
        suites: list[ast.stmt] = []
        for part in _branches(statement):
            for child in part:
                if isinstance(child, ast.stmt):
                    suites.append(child)
                else:  # an except handler or a match case holds a suite of its own
                    suites.extend(getattr(child, "body", ()))
        return self._suite(statement, suites, start, end, context) if suites else ()

    def _items(
        self, value: ast.expr, start: int, end: int, context: NodeContext
    ) -> tuple[Block, ...]:
        """The items of a literal or the arguments of a call, where they have lines of their own.

        The comments above an item go to it, the brackets to the first and the last one.
        """
        items = _items_of(value) if end - start > self.whole_chars else []
        blocks: list[Block] = []
        position, last_line = start, value.lineno
        held: list[ast.expr] = []
        for first, last, item in items:
            cut = self.lines.start_of(last_line + 1)
            if first > last_line and start < cut < end:
                blocks.append(self._item(held, position, cut, context))
                position, held = cut, []
            held.append(item)
            last_line = max(last_line, last)
        if not blocks:
            return self._items(items[0][2], start, end, context) if len(items) == 1 else ()
        return (*blocks, self._item(held, position, end, context))

    def _item(self, held: list[ast.expr], start: int, end: int, context: NodeContext) -> Block:
        """Items that share their lines; those before the first are the opening bracket."""
        children = self._items(held[0], start, end, context) if len(held) == 1 else ()
        return Block(start, end, context, children, is_lead=not held)

    def _imports(
        self, statements: Sequence[ast.stmt], start: int, end: int, context: NodeContext
    ) -> tuple[Block, ...]:
        """One block for each import, so that none is cut in the middle."""
        if end - start <= self.whole_chars:
            return ()
        cuts = self._cuts(statements, start, end, joins_imports=False)
        return tuple(Block(from_, to, context) for _, from_, to in cuts)

    def _as_written(self, decorator: ast.expr) -> str:
        """The lines of a decorator as one, without the ``@``."""
        last = decorator.end_lineno or decorator.lineno
        start, end = self.lines.start_of(decorator.lineno), self.lines.start_of(last + 1)
        words = self.text[start:end].partition("#")[0].split()
        line = " ".join(words).replace("( ", "(").replace(" )", ")")
        return line.removeprefix("@").lstrip()[:_MAX_DECORATOR_CHARS]

    def _line(self, number: int) -> str:
        return self.text[self.lines.start_of(number) : self.lines.start_of(number + 1)]


def _first_line(node: ast.stmt) -> int:
    """The first line of a statement, decorators included."""
    if isinstance(node, _DEFINITIONS) and node.decorator_list:
        return min(node.lineno, node.decorator_list[0].lineno)
    return node.lineno


def _are_imports(first: ast.stmt, second: ast.stmt) -> bool:
    return isinstance(first, _IMPORTS) and isinstance(second, _IMPORTS)


def _is_described(variable: ast.stmt, text: ast.stmt) -> bool:
    """Whether a string below an assignment is the variable's docstring."""
    return (
        isinstance(variable, ast.Assign | ast.AnnAssign)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    )


def _branches(statement: ast.stmt) -> Iterator[Sequence[ast.AST]]:
    """The suites of a compound statement; a chain of elif counts as one statement."""
    while True:
        for name in _SUITES:
            part: Sequence[ast.AST] = getattr(statement, name, None) or ()
            only = part[0] if name == "orelse" and len(part) == 1 else None
            if isinstance(only, ast.If) and only.col_offset == statement.col_offset:
                break
            yield part
        else:
            return
        statement = only


def _items_of(value: ast.expr) -> list[tuple[int, int, ast.expr]]:
    """(first line, last line, value) of each item of a literal or argument of a call."""
    items: list[tuple[ast.expr | ast.keyword, ast.expr]]
    if isinstance(value, ast.Dict):
        items = [(key or item, item) for key, item in zip(value.keys, value.values, strict=True)]
    elif isinstance(value, ast.List | ast.Tuple | ast.Set):
        items = [(item, item) for item in value.elts]
    elif isinstance(value, ast.Call):
        items = [(item, item) for item in value.args]
        items += [(word, word.value) for word in value.keywords]
        items.sort(key=lambda item: item[0].lineno)  # *args may follow keywords
    else:
        return []
    return [(first.lineno, item.end_lineno or item.lineno, item) for first, item in items]


def _summary(node: _Definition) -> str:
    """First line of a docstring; a lone surrogate in it could not be written to any file."""
    line = (ast.get_docstring(node, clean=False) or "").strip().partition("\n")[0].strip()
    return line.encode("utf-8", "replace").decode("utf-8")
