"""The lines of a hit that are worth showing, with the words that were found marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ragmachine.models import Hit
from ragmachine.terminal.clean import clean

if TYPE_CHECKING:
    from ragmachine.index.tokens import Tokenizer

_PREVIEW_LINES = 2
_PREVIEW_CHARS = 110


def preview(hit: Hit, tokenizer: Tokenizer, mark: Callable[[str], str]) -> list[str]:
    """The two lines of a hit that hold most of the query's terms, in file order, terms marked."""
    wanted = set(hit.terms)
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", hit.chunk.text)]
    found = [wanted.intersection(tokenizer.terms(line)) for line in lines]
    order = sorted(
        (number for number, line in enumerate(lines) if line),
        key=lambda number: (-len(found[number]), number),
    )
    chosen = sorted(order[:_PREVIEW_LINES])
    windows = (_window(lines[number], wanted, tokenizer) for number in chosen)
    return [
        f"{before}{_marked(shown, wanted, tokenizer, mark)}{after}"
        for before, shown, after in windows
    ]


def _window(line: str, wanted: set[str], tokenizer: Tokenizer) -> tuple[str, str, str]:
    """At most `_PREVIEW_CHARS` of a line around its first match, between marks of omission."""
    line = clean(line)
    if len(line) <= _PREVIEW_CHARS:
        return "", line, ""
    first = next((start for start, _ in _matches(line, wanted, tokenizer)), 0)
    start = max(0, min(first - 20, len(line) - _PREVIEW_CHARS))
    shown = line[start : start + _PREVIEW_CHARS]
    return "…" if start else "", shown, "…" if start + _PREVIEW_CHARS < len(line) else ""


def _marked(line: str, wanted: set[str], tokenizer: Tokenizer, mark: Callable[[str], str]) -> str:
    pieces, done = [], 0
    for start, end in _matches(line, wanted, tokenizer):
        pieces += [line[done:start], mark(line[start:end])]
        done = end
    return "".join([*pieces, line[done:]])


def _matches(line: str, wanted: set[str], tokenizer: Tokenizer) -> Iterator[tuple[int, int]]:
    """Where the words stand that the query matched, as the index cuts words."""
    end = 0
    for word in tokenizer.raw_words(line):
        start = line.index(word, end)
        end = start + len(word)
        if wanted.intersection(tokenizer.expand(word)):
            yield start, end
