"""Cuts code of any language into quotable statements, by brackets and indentation alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .units import MAX_UNIT_CHARS, Line, Span, Unit, prose_units, split_sentences, trim

_MAX_BODY_CHARS = 450
_MAX_BODY_STATEMENTS = 8
_LONG_STATEMENT_LINES = 4
_TRIPLE = re.compile(r"\s*[rRbBuUfF]{0,2}(\"\"\"|''')")
_COMMENT = re.compile(r"\s*(?:#(?!\s*(?:if|ifdef|ifndef|else|elif|endif|include|define|pragma)\b)|//|/\*|\*(?:\s|/|$)|--\s|;;)")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(?<!\S)(?:#|//).*$")
_DEFINITION = re.compile(
    r"\s*(?:@|(?:(?:export|default|public|private|protected|static|async|inline|virtual|abstract|"
    r"final|pub|constexpr|template\b.*>)\s+)*"
    r"(?:def|class|function|fn|func|struct|enum|interface|trait|impl|namespace|macro)\b)"
)
_CONTROL = re.compile(
    r"\s*\}?\s*(?:if|elif|else|for|while|with|try|except|finally|case|match|switch|catch|async)\b"
)
_COMMENT_MARK = re.compile(r"^[\s#/*;-]+|[\s*/]+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A logical line: one line and those that its brackets or backslashes continue."""

    lines: Sequence[Line]
    kind: str  # code, comment, docstring

    @property
    def span(self) -> Span:
        return self.lines[0].start, self.lines[-1].end

    @property
    def indent(self) -> int:
        return self.lines[0].indent

    @property
    def is_header(self) -> bool:
        """Whether an indented body may follow."""
        tail = self.lines[-1].text.rstrip()
        return self.kind == "code" and tail.endswith((":", "{", "then", "do"))


def code_units(text: str, lines: Sequence[Line], scope: str) -> Iterator[Unit]:
    """Statements, conditions with their short bodies, comments with what they comment, docstrings.

    Args:
        text: the passage.
        lines: the part of it that is code.
        scope: label of the chunk, such as its class and method.
    """
    statements = list(_statements(lines))
    headers: list[_Statement] = []
    for place, statement in enumerate(statements):
        while headers and headers[-1].indent >= statement.indent:
            headers.pop()
        around = " ".join([scope, *(_head(text, h) for h in headers if _is_definition(h))])
        near = _head(text, headers[-1]) if headers and not _is_definition(headers[-1]) else ""
        following = statements[place + 1] if place + 1 < len(statements) else None
        for unit in _units(text, statement, following):
            yield replace(unit, near=f"{near} {unit.near}", scope=f"{around} {unit.scope}")
        if statement.is_header:
            body = _body(statements, place)
            for unit in _body_units(text, statement, body):
                yield replace(unit, near=near, scope=around)
            headers.append(statement)


def _units(text: str, statement: _Statement, following: _Statement | None) -> Iterator[Unit]:
    """The units that one statement gives by itself or with the one after it."""
    start, end = trim(text, *statement.span)
    if statement.kind == "docstring":
        yield from _docstring_units(text, statement)
        return
    if statement.kind == "comment":
        yield from _comment_units(text, statement, following)
        return
    if end - start <= MAX_UNIT_CHARS:
        yield Unit(((start, end),), "code")
    if len(statement.lines) >= _LONG_STATEMENT_LINES:
        first = trim(text, statement.lines[0].start, statement.lines[0].end)
        for line in statement.lines[1:]:
            span = trim(text, line.start, line.end)
            if re.search(r"\w", text[slice(*span)]):
                yield Unit((first, span), "code")
    if following and following.kind == "docstring" and _is_definition(statement):
        yield from _documented_units(text, (start, end), following)


def _comment_units(
    text: str, comment: _Statement, following: _Statement | None
) -> Iterator[Unit]:
    """The comment, and the comment together with the statement right below it."""
    start, end = trim(text, *comment.span)
    if end - start <= MAX_UNIT_CHARS:
        below = text[slice(*following.span)] if following else ""
        yield Unit(((start, end),), "comment", near=below[:200])
    if following and following.kind == "code":
        stop = trim(text, *following.span)[1]
        if stop - start <= _MAX_BODY_CHARS:
            yield Unit(((start, stop),), "code")


def _docstring_units(text: str, docstring: _Statement) -> Iterator[Unit]:
    """A docstring is prose between its quotes."""
    for unit in prose_units(text, _without_quotes(docstring), "", code_units_of(text)):
        yield unit


def _documented_units(text: str, signature: Span, docstring: _Statement) -> Iterator[Unit]:
    """A definition with the first sentence of its docstring."""
    lines = _without_quotes(docstring)
    sentences = split_sentences(text, lines[0].start, lines[-1].end) if lines else []
    if sentences and sentences[0][1] - signature[0] <= MAX_UNIT_CHARS:
        yield Unit((signature, sentences[0]), "code")


def _body_units(text: str, header: _Statement, body: Sequence[_Statement]) -> Iterator[Unit]:
    """A header with its whole body, where that is short."""
    if not body or len(body) > _MAX_BODY_STATEMENTS:
        return
    start, end = header.span[0], body[-1].span[1]
    if end - start <= _MAX_BODY_CHARS:
        yield Unit((trim(text, start, end),), "code")


def code_units_of(text: str) -> CodeCutter:
    """`code_units` bound to a passage, as `prose_units` takes it."""
    return lambda lines, scope: code_units(text, lines, scope)
