"""Line numbers and byte offsets of ascending character offsets, counted forward."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from ragmachine.chunking.builder import LineMap


class Lines:
    """Line numbers of ascending offsets, counted forward so that each line is seen once."""

    def __init__(self, text: str) -> None:
        self.of: Callable[[int], int]
        if "\r" in text:
            starts = LineMap(text).starts
            self.of = lambda offset: bisect_right(starts, offset)
        else:
            self.of = _Forward(lambda start, end: text.count("\n", start, end), first=1).of


class ByteOffsets:
    """UTF-8 byte offsets of ascending character offsets."""

    def __init__(self, text: str) -> None:
        self.of: Callable[[int], int]
        if text.isascii():
            self.of = lambda offset: offset
        else:
            self.of = _Forward(lambda start, end: len(text[start:end].encode("utf-8"))).of


class _Forward:
    """A running total over a text, moved forward or, with overlapping chunks, back."""

    def __init__(self, measure: Callable[[int, int], int], first: int = 0) -> None:
        self.measure = measure
        self.position = 0
        self.total = first

    def of(self, offset: int) -> int:
        """The total up to an offset."""
        if offset >= self.position:
            self.total += self.measure(self.position, offset)
        else:
            self.total -= self.measure(offset, self.position)
        self.position = offset
        return self.total
