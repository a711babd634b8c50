"""Passages prepared for looking things up, and the few lines that hold most of a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ragmachine.models import Citation

from .exact import Source
from .stitch import Passage

_WINDOW_LINES = 8
# A further line must bring this share of the sentence, or the window ends before it.
_LINE_COST = 0.02
# Numbers must stand in the window or so near to it: that finds a fifth more of the wrong numbers
# that stand elsewhere in the passage, at the price of 1 true answer in 100.
_NEAR_LINES = 5
# What a line is given for saying what the header of its passage says already.
_REPEAT_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Window:
    """Lines of a passage and what they hold of a sentence.

    Attributes:
        page: the passage.
        first, last: lines, counted from 0 in the passage; the last is part of it.
        held: terms of the sentence in these lines, or in the passage's header.
    """

    page: Page
    first: int
    last: int
    held: frozenset[str]


class Page:
    """A passage prepared for looking things up.

    Args:
        passage: as its reader was shown it.
        terms: cuts a text into stemmed terms without stopwords.
    """

    def __init__(self, passage: Passage, terms: Callable[[str], list[str]]) -> None:
        self._passage = passage
        self._terms = terms
        chunk = passage.hit.chunk
        # its author was shown these too
        self._header = f"{chunk.file_path}\n{chunk.label}"
        self._place = f"{self._header}\nlines {chunk.first_line} - {chunk.last_line}"
        self.source = Source(f"{self._place}\n{passage.text}")

    @cached_property
    def header(self) -> frozenset[str]:
        """Terms of path and label."""
        return frozenset(self._terms(self._header))

    @cached_property
    def lines(self) -> list[tuple[int, int, frozenset[str]]]:
        """Start, end and terms of each line; offsets into the passage."""
        found, start = [], 0
        for line in self._passage.text.split("\n"):
            found.append((start, start + len(line.rstrip("\r")), frozenset(self._terms(line))))
            start += len(line) + 1
        return found

    def quotes(self, text: str) -> bool:
        """Whether the last line of a text stands in the passage."""
        return text.strip().rpartition("\n")[2].strip() in self._passage.text

    def has_text(self, text: str) -> bool:
        """Whether all of a text stands in the passage as words, blanks and line ends aside."""
        flat = " ".join(text.split())
        pattern = rf"(?<!\w){re.escape(flat)}(?!\w)"
        return bool(flat) and flat in self._flat and re.search(pattern, self._flat) is not None

    @cached_property
    def _flat(self) -> str:
        return " ".join(self._passage.text.split())

    def near(self, window: Window) -> Source:
        """A window with some lines around it, and what is said about the passage's place."""
        first = max(window.first - _NEAR_LINES, 0)
        last = min(window.last + _NEAR_LINES, len(self.lines) - 1)
        start, end = self.lines[first][0], self.lines[last][1]
        return Source(f"{self._place}\n{self._passage.text[start:end]}")

    def span(self, first: int, last: int) -> Citation:
        """The lines from one to another, counted from 0 in the passage, as a place in the file."""
        chunk = self._passage.hit.chunk
        return Citation(
            self._passage.number,
            chunk.file_path,
            chunk.start + self.lines[first][0],
            chunk.start + self.lines[last][1],
            chunk.first_line + first,
            chunk.first_line + last,
            chunk.place,
        )


def weight(mass: Mapping[str, float], terms: Collection[str]) -> float:
    """Summed mass of some terms."""
    return sum(mass[term] for term in terms)


def best_window(mass: Mapping[str, float], page: Page) -> Window | None:
    """The lines that hold most of a sentence, and no line more than that takes; ties go upwards.

    What the header says counts for every line of the passage; a line that says it too is better.
    """
    total = sum(mass.values())
    known = page.header & mass.keys()
    found = Window(page, 0, 0, known) if known else None
    best = weight(mass, known) / total if known else 0.0
    for first, last, own in _windows(page.lines, mass.keys()):
        held = own | known
        value = (weight(mass, held) + _REPEAT_SHARE * weight(mass, own & known)) / total
        value -= _LINE_COST * (last - first)
        if value > best + 1e-9:
            best, found = value, Window(page, first, last, held)
    return found


def _windows(
    lines: Sequence[tuple[int, int, frozenset[str]]], wanted: Set[str]
) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Windows that begin and end with a line that brings a wanted term: first, last, terms."""
    holding = [(row, own) for row, (_, _, terms) in enumerate(lines) if (own := terms & wanted)]
    for place, (first, held) in enumerate(holding):
        yield first, first, held
        for last, own in holding[place + 1 :]:
            if last - first >= _WINDOW_LINES:
                break
            if not own <= held:
                held = held | own
                yield first, last, held
