"""Cuts code of any language into quotable statements, by brackets and indentation alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from .units import MAX_UNIT_CHARS, Line, Span, Unit, prose_units, split_sentences, trim, windows

_MAX_BODY_CHARS = 450
_SHORT_BODY_CHARS = 250
_MAX_STATEMENT_LINES = 60
_LONG_STATEMENT_LINES = 4
_MAX_HEAD_CHARS = 200
_TRIPLE = re.compile(r"\s*[rRbBuUfF]{0,2}(\"\"\"|''')")
_COMMENT = re.compile(
    r"\s*(?:#(?!\s*(?:if|ifn?def|else|elif|endif|include|define|pragma)\b)|//|/\*|\*(?:\s|/|$)|--\s)"
)
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(?<!\S)(?:#|//).*$")
_BLOCK_BRACE = re.compile(r"(?<=[\w)>])\s*\{$")
_DEFINITION = re.compile(
    r"\s*(?:@|(?:(?:export|default|public|private|protected|static|async|inline|virtual|abstract|"
    r"final|pub|constexpr)\s+)*"
    r"(?:def|class|function|fn|func|struct|enum|interface|trait|impl|namespace|macro)\b)"
)
_BRANCH = re.compile(r"\s*\}?\s*(?:else|elif|except|finally|catch)\b")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A line with those that its brackets, quotes or backslashes continue."""

    lines: Sequence[Line]
    kind: str  # code, comment, docstring

    @property
    def span(self) -> Span:
        return self.lines[0].start, self.lines[-1].end

    @property
    def indent(self) -> int:
        return self.lines[0].indent

    @property
    def is_definition(self) -> bool:
        return self.kind == "code" and bool(_DEFINITION.match(self.lines[0].text))

    @property
    def is_header(self) -> bool:
        """Whether an indented body may follow."""
        tail = _bare(self.lines[-1].text)
        return self.kind == "code" and tail.endswith((":", "{", "then", "do"))

    def head(self, text: str) -> str:
        """What a body needs to know of its header: a definition's first line, else all of it."""
        if not self.is_definition:
            return text[slice(*self.span)][:_MAX_HEAD_CHARS]
        lines = [line.text for line in self.lines if not line.text.lstrip().startswith("@")]
        return lines[0] if lines else ""


def code_units(text: str, lines: Sequence[Line], scope: str) -> Iterator[Unit]:
    """Statements, headers with their short bodies, comments with what they explain, docstrings.

    Args:
        text: the passage.
        lines: the part of it that is code.
        scope: label of the chunk, such as its class and method.
    """
    statements = list(_statements(lines))
    headers: list[_Statement] = []
    for place, statement in enumerate(statements):
        left = None
        while headers and headers[-1].indent >= statement.indent:
            left = headers.pop()
        around = " ".join([scope, *(h.head(text) for h in headers if h.is_definition)])
        near = " ".join(h.head(text) for h in headers[-1:] if not h.is_definition)
        if place and statements[place - 1].kind == "comment":
            near = f"{near} {text[slice(*statements[place - 1].span)]}"
        branch = _branch_head(text, statement, left)
        for unit in _units(text, statements, place):
            yield replace(
                unit,
                near=f"{near} {unit.near}",
                scope=f"{around} {unit.scope}",
                lead=unit.lead or branch,
            )
        if statement.is_header:
            headers.append(statement)


def _branch_head(text: str, statement: _Statement, left: _Statement | None) -> Span | None:
    """The condition that an ``else`` or its like answers, which must be read with it."""
    if left is None or not _BRANCH.match(statement.lines[0].text):
        return None
    start, end = trim(text, *left.span)
    return (start, end) if end - start <= _MAX_HEAD_CHARS else None


def _units(text: str, statements: Sequence[_Statement], place: int) -> Iterator[Unit]:
    """The units that start at one statement."""
    statement = statements[place]
    following = statements[place + 1] if place + 1 < len(statements) else None
    if statement.kind == "docstring":
        yield from prose_units(text, _without_quotes(statement), "", code_cutter(text))
        return
    start, end = trim(text, *statement.span)
    if statement.kind == "comment":
        below = following.head(text) if following else ""
        yield from (Unit((part,), "comment", below) for part in windows(text, start, end))
        if following and following.kind == "code":
            stop = _quotable_end(statements, place + 1)
            yield from _within(text, start, stop, _MAX_BODY_CHARS)
        return
    yield from _within(text, start, _quotable_end(statements, place), MAX_UNIT_CHARS)
    if len(statement.lines) >= _LONG_STATEMENT_LINES:
        yield from _line_units(text, statement)
    elif end - start > MAX_UNIT_CHARS:
        yield from (Unit((part,), "code") for part in windows(text, start, end))
    if statement.is_definition:
        if following and following.kind == "docstring":
            yield from _documented_units(text, (start, end), following)
        body = _body(statements, place)
        if body:
            yield from _within(text, start, body[-1].span[1], _MAX_BODY_CHARS)


def _within(text: str, start: int, end: int, limit: int) -> Iterator[Unit]:
    """The span as a unit, unless it is longer than `limit`."""
    if end - start <= limit:
        yield Unit((trim(text, start, end),), "code")


def _quotable_end(statements: Sequence[_Statement], place: int) -> int:
    """Where a quote of one statement ends: a condition takes along what it decides.

    At least the first statement of its body, and as many as stay short.
    """
    statement = statements[place]
    end = statement.span[1]
    if not statement.is_header or statement.is_definition:
        return end
    for count, below in enumerate(_body(statements, place)):
        if count and below.span[1] - statement.span[0] > _SHORT_BODY_CHARS:
            break
        end = below.span[1]
    return end


def _line_units(text: str, statement: _Statement) -> Iterator[Unit]:
    """Each line of a long statement below its first, such as one parameter of a signature."""
    line = statement.lines[0]
    first = next(windows(text, *trim(text, line.start, line.end)))
    for line in statement.lines[1:]:
        for span in windows(text, *trim(text, line.start, line.end)):
            if _WORD.search(text, *span):
                yield Unit((span,), "code", lead=first)


def _documented_units(text: str, signature: Span, docstring: _Statement) -> Iterator[Unit]:
    """A definition with the first sentence of its docstring."""
    lines = _without_quotes(docstring)
    sentences = split_sentences(text, lines[0].start, lines[-1].end) if lines else []
    if sentences and sentences[0][1] - signature[0] <= MAX_UNIT_CHARS:
        yield Unit((sentences[0],), "code", lead=signature)


def code_cutter(text: str) -> Callable[[Sequence[Line], str], Iterator[Unit]]:
    """`code_units` bound to a passage, as `prose_units` takes it."""
    return lambda lines, scope: code_units(text, lines, scope)


def _body(statements: Sequence[_Statement], place: int) -> Sequence[_Statement]:
    """The statements below a header that are indented deeper."""
    stop = place + 1
    while stop < len(statements) and statements[stop].indent > statements[place].indent:
        stop += 1
    return statements[place + 1 : stop]


def _without_quotes(docstring: _Statement) -> list[Line]:
    """The docstring's lines, its quotes taken off the first and the last."""
    lines = []
    for line in docstring.lines:
        start, end, content = line.start, line.end, line.text
        if line is docstring.lines[0] and (opened := _TRIPLE.match(content)):
            start, content = start + opened.end(), content[opened.end() :]
        closed = re.search(r"(\"\"\"|''')\s*$", content) if line is docstring.lines[-1] else None
        if closed:
            end, content = start + closed.start(), content[: closed.start()]
        lines.append(Line(start, end, content))
    return lines


def _statements(lines: Sequence[Line]) -> Iterator[_Statement]:
    position = 0
    while position < len(lines):
        line = lines[position]
        stop = position + 1
        if not line.is_blank:
            if _TRIPLE.match(line.text):
                kind, stop = "docstring", _quote_end(lines, position)
            elif _COMMENT.match(line.text):
                kind = "comment"
                while stop < len(lines) and _COMMENT.match(lines[stop].text):
                    stop += 1
            else:
                kind, stop = "code", _statement_end(lines, position)
            yield _Statement(lines[position:stop], kind)
        position = stop


def _quote_end(lines: Sequence[Line], position: int) -> int:
    """Index past the line that closes the last triple quote left open on line `position`."""
    marks = re.findall(r"\"\"\"|'''", lines[position].text)
    if len(marks) % 2 == 0:
        return position + 1
    for stop in range(position + 1, len(lines)):
        if marks[-1] in lines[stop].text:
            return stop + 1
    return len(lines)


def _statement_end(lines: Sequence[Line], position: int) -> int:
    depth = 0
    stop = position
    while stop < min(len(lines), position + _MAX_STATEMENT_LINES):
        raw = lines[stop].text
        if re.search(r"[=(,]\s*[rRbBuUfF]{0,2}(\"\"\"|''')", raw):
            stop = _quote_end(lines, stop) - 1
            raw = lines[stop].text
        bare = _BLOCK_BRACE.sub("", _bare(raw))
        depth += sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))
        stop += 1
        if depth <= 0 and not bare.endswith("\\") and not bare.lstrip().startswith("@"):
            break
    return stop


def _bare(line: str) -> str:
    """The line without strings, trailing comments and white space at its end."""
    return _STRING.sub("", line).rstrip()
