"""The pieces every chunker hands over, and the one builder that turns them into chunks.

A chunker knows a format: it cuts a document into nested blocks of whole lines. The builder knows
the promises: chunks reproduce the source, cover every line that is not blank, stay within the
limit and do not overlap unless asked to.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK = " \t\r\n\f\v\ufeff"


@dataclass(frozen=True, slots=True)
class NodeContext:
    """Where in its document a block stands.

    Attributes:
        kind: ``module``, ``class``, ``function``, ``method``, ``imports``, ``section`` or ``text``.
        name: own name, e.g. ``step`` or the heading.
        parents: names of the enclosing classes, functions or sections, outermost first.
        decorators: as written, without ``@``.
        summary: first line of the docstring.
    """

    kind: str = "text"
    name: str = ""
    parents: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    summary: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        """Names from the outermost parent to the node itself."""
        return (*self.parents, self.name) if self.name else self.parents

    def label(self) -> str:
        """The human-readable place: ``Class: X - Method: y`` or ``Section: A > B``."""
        if self.kind == "section":
            return "Section: " + (" > ".join(self.path) or "Introduction")
        if self.kind == "method":
            return f"Class: {'.'.join(self.parents)} - Method: {self.name}"
        if self.kind in ("class", "function"):
            return f"{self.kind.capitalize()}: {'.'.join(self.path)}"
        return {"imports": "Imports", "module": "Module"}.get(self.kind, "")


TEXT = NodeContext()


@dataclass(frozen=True, slots=True)
class Block:
    """A run of whole lines that belongs together.

    Attributes:
        start, end: character offsets, end exclusive; the blocks of a document tile it.
        context: where it stands.
        children: a finer tiling of the same range, used when the block exceeds the limit.
        is_anchor: opens something too large for one chunk, so that what comes before it is not
            packed together with its first lines.
    """

    start: int
    end: int
    context: NodeContext = TEXT
    children: tuple[Block, ...] = ()
    is_anchor: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk before it has an id: a range of its file and the contexts it meets, in order."""

    start: int
    end: int
    contexts: tuple[NodeContext, ...]


class LineMap:
    """Line starts of a text; LF, CR LF and a lone CR each end a line."""

    __slots__ = ("end", "starts")

    def __init__(self, text: str) -> None:
        if "\r" in text:
            self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        else:
            lengths = (len(line) + 1 for line in text.split("\n"))
            self.starts = list(accumulate(lengths, initial=0))[:-1]
        self.end = len(text)

    def start_of(self, line: int) -> int:
        """Offset at which a line, counted from 1, starts; the text's end beyond the last."""
        return self.starts[line - 1] if line <= len(self.starts) else self.end


@dataclass(frozen=True, slots=True)
class ChunkBuilder:
    """Packs blocks into chunks.

    Attributes:
        max_chars: hard limit of a chunk, in characters.
        target_chars: neighbours are packed together up to this size.
        overlap_chars: how much of the end of a chunk the next repeats, in whole lines at most.
    """

    max_chars: int
    target_chars: int
    overlap_chars: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.target_chars <= self.max_chars:
            raise ValueError("target_chars must lie in 1..max_chars")
        if not 0 <= self.overlap_chars < self.max_chars:
            raise ValueError("overlap_chars must lie in 0..max_chars-1")

    def build(self, text: str, blocks: Sequence[Block]) -> list[Piece]:
        """Chunks of a document, in order, without leading or trailing blank lines."""
        units: list[Block] = []
        for block in blocks:
            self._fit(text, block, units)
        pieces = self._pack(text, units)
        return self._overlapped(text, pieces) if self.overlap_chars else pieces

    def _fit(self, text: str, block: Block, units: list[Block]) -> None:
        """Append the block, or as many smaller ones as the limit makes of it."""
        if block.end - block.start <= self.max_chars:
            units.append(block)
        elif block.children:
            first = len(units)
            for child in block.children:
                self._fit(text, child, units)
            # a definition too large for one chunk starts a chunk of its own
            units[first] = replace(units[first], is_anchor=True)
        else:
            # leave room for the overlap, so that repeated lines do not break the limit
            limit = self.max_chars - self.overlap_chars
            units.extend(
                Block(start, end, block.context)
                for start, end in cut_lines(text, block.start, block.end, limit)
            )

    def _pack(self, text: str, units: Sequence[Block]) -> list[Piece]:
        pieces: list[Piece] = []
        start = end = -1
        contexts: list[NodeContext] = []
        for unit in units:
            if contexts and self._joins(text, start, end, unit):
                end = unit.end
            else:
                self._close(text, start, end, contexts, pieces)
                start, end, contexts = unit.start, unit.end, []
            if unit.context not in contexts:
                contexts.append(unit.context)
        self._close(text, start, end, contexts, pieces)
        return pieces

    def _joins(self, text: str, start: int, end: int, unit: Block) -> bool:
        """Whether a unit is packed onto the open chunk."""
        joined = unit.end - start
        if joined <= self.target_chars and not unit.is_anchor:
            return True
        # a crumb (a bracket, a lone heading, a blank run) never takes a chunk of its own
        crumb = self.max_chars // 25
        if len(text[start:end].strip(_BLANK)) <= crumb:
            return joined <= self.max_chars
        return joined <= self.max_chars and len(text[unit.start : unit.end].strip(_BLANK)) <= crumb

    @staticmethod
    def _close(
        text: str, start: int, end: int, contexts: list[NodeContext], pieces: list[Piece]
    ) -> None:
        """Emit the open chunk without its outer blank lines; nothing when it is all blank."""
        if not contexts:
            return
        body = text[start:end]
        stripped = body.lstrip(_BLANK)
        if not stripped:
            return
        lead = len(body) - len(stripped)
        # keep the indentation of the first line: go back to where that line starts
        line_start = max(body.rfind("\n", 0, lead), body.rfind("\r", 0, lead)) + 1
        tail = len(body.rstrip(_BLANK))
        pieces.append(Piece(start + line_start, start + tail, tuple(contexts)))

    def _overlapped(self, text: str, pieces: Sequence[Piece]) -> list[Piece]:
        """Extend each chunk backwards over whole lines of the one before it."""
        lines = LineMap(text).starts
        result = list(pieces[:1])
        for before, piece in pairwise(pieces):
            room = min(self.overlap_chars, self.max_chars - (piece.end - piece.start))
            earliest = max(before.start, piece.start - room)
            start = next_line_start(lines, earliest, piece.start)
            result.append(Piece(start, piece.end, piece.contexts))
        return result


def next_line_start(lines: Sequence[int], offset: int, limit: int) -> int:
    """First line start at or after `offset`, `limit` when there is none before it."""
    index = bisect_left(lines, offset)
    return min(lines[index], limit) if index < len(lines) else limit


def cut_lines(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """Cut a range at line ends into ranges of at most `limit` characters.

    A single line over the limit is cut at a space in its last fifth where there is one, else at
    the limit; a CR LF pair stays together.
    """
    ranges = []
    while end - start > limit:
        window = start + limit
        cut = max(text.rfind("\n", start, window), text.rfind("\r", start, window - 1)) + 1
        if cut <= start:
            space = text.rfind(" ", window - limit // 5, window) + 1
            cut = space if space > start else window
            if limit > 1 and text[cut - 1 : cut + 1] == "\r\n":
                cut -= 1
        ranges.append((start, cut))
        start = cut
    if start < end:
        ranges.append((start, end))
    return ranges
