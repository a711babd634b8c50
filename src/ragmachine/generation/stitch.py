"""Joins hits into one bounded context of numbered passages; every shown character is source text.

Used by the answerer; search output does not go through here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragmachine.models import Chunk, Hit
from ragmachine.places import joined_place

_SHORTEST_CUT_CHARS = 80  # less than a line or two tells nothing and costs a header
_LINE_END = re.compile(r"\r\n|\n|\r")
# Lines that could be taken for a header or for the line below it, however they are ended.
_LINE_START = r"(?:^|(?<=[\r\v\f\x1c-\x1e\x85\u2028\u2029]))[^\S\n]*"
_PLANTED_HEADER = re.compile(rf"{_LINE_START}[-–—]{{2,}}(?=\s*snippet\b)", re.I | re.M)
_PLANTED_NUMBER = re.compile(rf"{_LINE_START}\[(?=\s*\d+\s*\]\s*lines?\b)", re.I | re.M)


@dataclass(frozen=True, slots=True)
class Passage:
    """A numbered piece of the context.

    Attributes:
        number: the n of ``[n]``, from 1, best first.
        hit: the best hit in it; its chunk is widened by merging and narrowed by cutting, so that
            its span and lines are those of `text`.
        text: exact source text, equal to ``hit.chunk.text``.
        hidden_lines: lines of the chunk left out at its end.
    """

    number: int
    hit: Hit
    text: str
    hidden_lines: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether the end of the chunk is left out."""
        return self.hidden_lines > 0


@dataclass(frozen=True, slots=True)
class Context:
    """What a model gets to read.

    Attributes:
        text: the blocks, best first, at most the budget long.
        passages: the passages in `text`, by number.
        omitted: hits of which nothing is shown, duplicates not counted.
    """

    text: str
    passages: tuple[Passage, ...]
    omitted: int


class ContextStitcher:
    """Packs hits, best first, into a number of characters.

    Args:
        budget_chars: longest context, headers included.
    Raises: ValueError: the budget is negative.
    """

    def __init__(self, budget_chars: int) -> None:
        if budget_chars < 0:
            raise ValueError(f"budget_chars must not be negative, got {budget_chars}")
        self._budget_chars = budget_chars

    def stitch(self, hits: Sequence[Hit]) -> Context:
        """Number, merge and, where the budget ends, cut the hits.

        A hit that touches or overlaps a better one of its file joins it, as long as both fit. A
        hit that does not fit whole is cut after its last fitting line, and nothing follows it; one
        that has no such line is left out.

        Args:
            hits: best first.
        """
        blocks: list[Passage] = []
        omitted = 0
        is_full = False
        for hit in hits:
            if _is_shown(hit, blocks) or (not is_full and self._join(hit, blocks)):
                continue
            block = None if is_full else self._fit(hit, blocks)
            if block is None:
                omitted += 1
            else:
                blocks.append(block)
                is_full = block.is_cut
        blocks = [replace(block, number=rank) for rank, block in enumerate(blocks, 1)]
        return Context("\n\n".join(map(_render, blocks)), tuple(blocks), omitted)

    def _fit(self, hit: Hit, blocks: Sequence[Passage]) -> Passage | None:
        """The hit as the next block, cut if need be, or None where not even its start fits."""
        block = Passage(len(blocks) + 1, hit, hit.chunk.text)
        room = self._budget_chars - _length(blocks) - (2 if blocks else 0)
        return block if len(_render(block)) <= room else _cut(block, room)

    def _join(self, hit: Hit, blocks: list[Passage]) -> bool:
        """Widen a better block of the same file by this hit, if that fits."""
        for place, block in enumerate(blocks):
            chunk = _union(block.hit.chunk, hit.chunk)
            if chunk is None:
                continue
            merged = blocks.copy()
            merged[place] = replace(block, hit=replace(block.hit, chunk=chunk), text=chunk.text)
            _close_ranks(merged, place)
            if _length(merged) <= self._budget_chars:
                blocks[:] = merged
                return True
        return False


def _close_ranks(blocks: list[Passage], place: int) -> None:
    """After a block grew, take in any later block that it now touches."""
    for later in range(len(blocks) - 1, place, -1):
        block = blocks[place]
        if chunk := _union(block.hit.chunk, blocks[later].hit.chunk):
            blocks[place] = replace(block, hit=replace(block.hit, chunk=chunk), text=chunk.text)
            del blocks[later]


def _union(kept: Chunk, other: Chunk) -> Chunk | None:
    """Both chunks as one span of their file, or None where source text between them is unknown."""
    if kept.file_path != other.file_path:
        return None
    first, second = (kept, other) if kept.start <= other.start else (other, kept)
    overlap = first.end - second.start
    if overlap < 0:
        return None
    shared = min(overlap, len(second.text))
    if first.text[second.start - first.start :][:shared] != second.text[:shared]:
        return None  # the file changed between two indexings; neither text is the other's
    return replace(
        kept,
        start=first.start,
        end=max(first.end, second.end),
        first_line=first.first_line,
        last_line=max(first.last_line, second.last_line),
        text=first.text + second.text[shared:],
        place=joined_place(first.place, second.place),
        boxes=first.boxes + (second.boxes if first.place == second.place else ()),
    )


def _is_shown(hit: Hit, blocks: Sequence[Passage]) -> bool:
    """Whether the whole hit lies in a block already."""
    chunk = hit.chunk
    return any(
        block.hit.chunk.file_path == chunk.file_path
        and block.hit.chunk.start <= chunk.start
        and chunk.end <= block.hit.chunk.end
        for block in blocks
    )


def _cut(block: Passage, room: int) -> Passage | None:
    """The block's first whole lines that fit into `room` with the line that says so."""
    chunk = block.hit.chunk
    ends = [match.end() for match in _LINE_END.finditer(chunk.text)]
    if ends and ends[-1] == len(chunk.text):
        ends.pop()
    best = None
    for kept_lines, end in enumerate(ends, 1):
        text = chunk.text[:end]
        last_line = min(chunk.first_line + kept_lines - 1, chunk.last_line)
        part = replace(chunk, end=chunk.start + end, last_line=last_line, text=text)
        hidden = len(ends) + 1 - kept_lines
        cut = replace(block, hit=replace(block.hit, chunk=part), text=text, hidden_lines=hidden)
        if len(_render(cut)) > room:
            break
        best = cut
    return best if best and len(best.text.strip()) >= _SHORTEST_CUT_CHARS else None


def _render(block: Passage) -> str:
    """Header, line of number, lines and label, then the text.

    A line of the text that looks like one of these is disarmed, so that no passage can forge
    another.
    """
    chunk = block.hit.chunk
    lines = chunk.place or (
        f"line {chunk.first_line}"
        if chunk.first_line == chunk.last_line
        else f"lines {chunk.first_line}-{chunk.last_line}"
    )
    label = f", {_one_line(chunk.label)}" if chunk.label.strip() else ""
    text = _PLANTED_HEADER.sub("- - -", block.text.rstrip())
    text = _PLANTED_NUMBER.sub("[ ", text)
    note = f"\n[… {block.hidden_lines} more lines not shown]" if block.is_cut else ""
    path = _one_line(chunk.file_path)
    return f"--- Snippet from {path} ---\n[{block.number}] {lines}{label}\n{text}{note}"


def _length(blocks: Sequence[Passage]) -> int:
    return sum(len(_render(block)) + 2 for block in blocks) - (2 if blocks else 0)


def _one_line(text: str) -> str:
    return " ".join(text.split())
