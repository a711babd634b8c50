"""The pieces every chunker hands over, and the one builder that turns them into chunks.

A chunker knows a format: it cuts a document into nested blocks of whole lines. The builder knows
the promises: chunks reproduce the source, cover every line that is not blank, stay within the
limit and do not overlap unless asked to.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ragmachine.chunking.cuts import CRUMBS_PER_CHUNK, LINE_END, cut_without_crumbs

# whitespace as `str.isspace` has it, and the byte order mark
_BLANK = (
    " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_PLAIN = {"imports": "Imports", "module": "Module", "text": ""}


@dataclass(frozen=True, slots=True)
class NodeContext:
    """Where in its document a block stands.

    Attributes:
        kind: ``module``, ``imports``, ``section``, ``text``, ``method``, or any other that a
            definition has in its language, e.g. ``class``, ``function``, ``trait``, ``table``.
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
        return _PLAIN.get(self.kind, f"{self.kind.capitalize()}: {'.'.join(self.path)}")


TEXT = NodeContext()


@dataclass(frozen=True, slots=True)
class Block:
    """A run of whole lines that belongs together.

    Attributes:
        start, end: character offsets, end exclusive; the blocks of a document tile it.
        context: where it stands.
        children: a finer tiling of the same range, used when the block exceeds the limit.
        is_lead: introduces what follows (a heading, a signature, a comment above a definition) and
            shares its chunk.
    """

    start: int
    end: int
    context: NodeContext = TEXT
    children: tuple[Block, ...] = ()
    is_lead: bool = False


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
            self.starts = [0, *(match.end() for match in LINE_END.finditer(text))]
        else:
            lengths = accumulate(map(len, text.split("\n")), initial=0)
            self.starts = [total + number for number, total in enumerate(lengths)][:-1]
        self.end = len(text)

    def start_of(self, line: int) -> int:
        """Offset at which a line, counted from 1, starts; the text's end beyond the last."""
        return self.starts[line - 1] if line <= len(self.starts) else self.end

    def line_of(self, offset: int) -> int:
        """The line, counted from 1, that holds an offset."""
        return bisect_right(self.starts, offset)


@dataclass(slots=True)
class _Unit:
    """A block, or a part of one, that fits the limit; without outer blank lines.

    Attributes:
        start, end: character offsets, end exclusive.
        contexts: of the blocks it was made of, in order.
        source: the block it stands for, to be cut finer where a lead needs room.
        is_lead: as in `Block`.
        is_anchor: opens something too large for one chunk, so that what comes before it is not
            packed together with its first lines.
    """

    start: int
    end: int
    contexts: list[NodeContext]
    source: Block
    is_lead: bool = False
    is_anchor: bool = False


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
        units: list[_Unit] = []
        for block in blocks:
            self._fit(text, block, self.max_chars, units)
        pieces = self._pack(self._with_leads(text, units))
        return self._overlapped(text, pieces) if self.overlap_chars else pieces

    def _fit(self, text: str, block: Block, limit: int, units: list[_Unit]) -> None:
        """Append the block, or as many smaller units as the limit makes of it."""
        start, end = _trim(text, block.start, block.end)
        if start == end:
            return
        if end - start <= limit:
            units.append(_Unit(start, end, [block.context], block, block.is_lead))
            return
        first = len(units)
        if block.children:
            for child in block.children:
                self._fit(text, child, limit, units)
            # a definition or section too large for one chunk starts a chunk of its own
            before = units[first - 1].contexts[-1] if first else None
            units[first].is_anchor = before != units[first].contexts[0]
            return
        # leave room for the overlap, so that repeated lines do not break the limit
        for from_, to in cut_without_crumbs(text, start, end, max(1, limit - self.overlap_chars)):
            from_, to = _trim(text, from_, to)
            if from_ < to:
                part = Block(from_, to, block.context)
                units.append(_Unit(from_, to, [block.context], part))
        units[-1].is_lead = block.is_lead

    def _with_leads(self, text: str, units: list[_Unit]) -> list[_Unit]:
        """Join each lead to what it introduces, which is cut finer where both are too large."""
        result: list[_Unit] = []
        pending = units[::-1]
        lead: _Unit | None = None
        while pending:
            unit = pending.pop()
            if lead is not None:
                room = self.max_chars - (unit.start - lead.start)
                if unit.end - lead.start <= self.max_chars:
                    unit = _merged(lead, unit)
                elif 4 * room >= 3 * self.max_chars:
                    parts: list[_Unit] = []
                    self._fit(text, unit.source, room, parts)
                    parts[0].is_anchor = unit.is_anchor
                    pending.extend(reversed(parts))
                    continue
                else:  # a long lead stands by itself
                    result.append(lead)
                lead = None
            if unit.is_lead:
                lead = unit
            else:
                result.append(unit)
        if lead is not None:
            result.append(lead)
        return result

    def _pack(self, units: Sequence[_Unit]) -> list[Piece]:
        pieces: list[Piece] = []
        open_: _Unit | None = None
        for unit in units:
            if open_ is not None and self._joins(open_, unit):
                open_.end = unit.end
                open_.contexts += [c for c in unit.contexts if c not in open_.contexts]
                continue
            if open_ is not None:
                pieces.append(Piece(open_.start, open_.end, tuple(open_.contexts)))
            open_ = unit
        if open_ is not None:
            pieces.append(Piece(open_.start, open_.end, tuple(open_.contexts)))
        return pieces

    def _joins(self, open_: _Unit, unit: _Unit) -> bool:
        """Whether a unit is packed onto the open chunk."""
        joined = unit.end - open_.start
        if joined > self.max_chars:
            return False
        # a crumb (a bracket, a stray line) never takes a chunk of its own
        crumb = self.max_chars // CRUMBS_PER_CHUNK
        if open_.end - open_.start <= crumb:
            return True
        if unit.is_anchor:
            return False
        full = min(self.target_chars, self.max_chars - self.overlap_chars)
        return joined <= full or unit.end - unit.start <= crumb

    def _overlapped(self, text: str, pieces: Sequence[Piece]) -> list[Piece]:
        """Extend each chunk backwards over whole lines of the one before it."""
        lines = LineMap(text).starts
        result = list(pieces[:1])
        for before, piece in pairwise(pieces):
            room = min(self.overlap_chars, self.max_chars - (piece.end - piece.start))
            earliest = max(before.start, piece.start - room)
            start = next_line_start(lines, earliest, piece.start)
            start, end = _trim(text, start, max(start, before.end))
            result.append(Piece(start if start < end else piece.start, piece.end, piece.contexts))
        return result


def _merged(lead: _Unit, unit: _Unit) -> _Unit:
    contexts = [*lead.contexts, *(c for c in unit.contexts if c not in lead.contexts)]
    is_anchor = lead.is_anchor or unit.is_anchor
    return _Unit(lead.start, unit.end, contexts, unit.source, unit.is_lead, is_anchor)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without its outer blank lines; empty when it is all blank.

    The indentation of the first line stays: the range goes back to where that line starts.
    """
    body = text[start:end]
    stripped = body.lstrip(_BLANK)
    if not stripped:
        return start, start
    lead = len(body) - len(stripped)
    line_start = max(body.rfind("\n", 0, lead), body.rfind("\r", 0, lead)) + 1
    return start + line_start, start + lead + len(stripped.rstrip(_BLANK))


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
