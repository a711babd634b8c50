"""How much two character ranges of files share."""

from collections.abc import Iterable
from dataclasses import dataclass

FOUND_ABOVE = 0.05
"""A true source is found by an overlap strictly greater than this."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters of one file.

    Attributes:
        file_path: compared as text, exactly as the files write it.
        start: index of the first character, from 0.
        end: index after the last character (exclusive).
    """

    file_path: str
    start: int
    end: int

    @property
    def length(self) -> int:
        """Number of characters; zero or negative for a span that holds none."""
        return self.end - self.start

    @property
    def is_valid(self) -> bool:
        """Whether the span holds at least one character and starts inside a file."""
        return 0 <= self.start < self.end


def overlap(a: Span, b: Span) -> float:
    """Share of the characters of two spans that lie in both: intersection / union.

    Returns: 0.0 (other file, nothing shared, or a negative, inverted or empty span)
        to 1.0 (the same range). Symmetric.
    Source: Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 1912.
    """
    if a.file_path != b.file_path or not (a.is_valid and b.is_valid):
        return 0.0
    intersection = min(a.end, b.end) - max(a.start, b.start)
    if intersection <= 0:
        return 0.0
    return intersection / (a.length + b.length - intersection)


def is_found(true_source: Span, retrieved: Iterable[Span], *, above: float = FOUND_ABOVE) -> bool:
    """Whether some retrieved span overlaps the true source strictly more than `above`."""
    return any(overlap(true_source, span) > above for span in retrieved)
