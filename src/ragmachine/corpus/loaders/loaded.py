"""What a loader hands over: the text of a document, and where each part of it stood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragmachine.places import Box, PageCounts

Places = tuple[tuple[int, str], ...]
# Column to value of a record, or to the values of a list in it: what a search is filtered by.
Metadata = dict[str, str | list[str]]

MARKDOWN, ROWS = "markdown", "rows"


class LoadError(Exception):
    """A document is refused; its text is the reason, for the report, in one line."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What is known of a document's pages.

    Attributes:
        counts: how they were read.
        boxes: (start in characters, box on its page) of each line and row, ascending; None for one
            that stands nowhere in particular.
        notice: why a model that was to read images did not, and what to do, else "".
    """

    counts: PageCounts
    boxes: tuple[tuple[int, Box | None], ...] = ()
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A document as text.

    Attributes:
        text: Markdown: headings with ``#``, tables as pipe tables.
        file_type: what hits and filters show, e.g. ``pdf``.
        format: how it is cut: ``markdown``, or ``rows``, one chunk for each place at least.
        title: of the whole document, "" where it has none; need not stand in the text.
        places: (start in characters, place such as ``p.2``, ``row 17``, ``cell 3``), ascending.
        names: under ``rows``, what each place is called, "" for nothing; empty otherwise.
        metadata: under ``rows``, the short columns of each place; empty otherwise.
        problem: what was odd about the document, or is not in the text, else "".
        pages: None where it has none.
    """

    text: str
    file_type: str
    format: str = MARKDOWN
    title: str = ""
    places: Places = ()
    names: tuple[str, ...] = ()
    metadata: tuple[Metadata, ...] = ()
    problem: str = ""
    pages: Pages | None = None


@dataclass(slots=True)
class Writer:
    """Collects the parts of a text and the places where they begin.

    Attributes:
        max_chars: the text may not grow beyond this.
    """

    max_chars: int
    places: list[tuple[int, str]] = field(default_factory=list)
    chars: int = 0
    _parts: list[str] = field(default_factory=list)

    def at(self, place: str) -> None:
        """What follows stands at this place."""
        if self.places and self.places[-1][0] == self.chars:
            self.places.pop()
        self.places.append((self.chars, place))

    def write(self, text: str) -> None:
        """Append text.

        Raises: LoadError: the document says more than it may.
        """
        self.chars += len(text)
        if self.chars > self.max_chars:
            raise LoadError(f"refused: it holds more than {self.max_chars:,} characters of text")
        self._parts.append(text)

    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)


def plain_line(text: str) -> str:
    """Text in one line, without characters that no document means."""
    return " ".join(_without_controls(text).split())


def cell(text: str) -> str:
    """Text as it may stand in a pipe table."""
    return plain_line(text).replace("|", "\\|")


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """A pipe table whose first row is the header; "" where there are no cells.

    Args:
        rows: texts of the cells; short rows are filled up.
    """
    width = max(map(len, rows), default=0)
    if not width:
        return ""
    lines = [_row([cell(text) for text in row], width) for row in rows]
    lines.insert(1, "|" + "---|" * width)
    return "\n".join(lines) + "\n"


def table_rows(rows: Sequence[Sequence[str]], width: int) -> str:
    """Rows that go on with a table begun before."""
    return "".join(_row([cell(text) for text in row], width) + "\n" for row in rows)


def _row(cells: list[str], width: int) -> str:
    return "| " + " | ".join([*cells, *[""] * (width - len(cells))]) + " |"


def fenced(text: str, language: str = "") -> str:
    """Text whose blanks count, between fences longer than any in it."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


_BLOCK_SIGN = re.compile(r"(?:#{1,6}(?=\s|\Z)|=+\s*\Z|-{2,}\s*\Z|>|`{3}|~{3}|<(?=[a-zA-Z/!?]))")


def literal(line: str) -> str:
    """A line of text that Markdown would take for a heading, a rule or markup, made plain."""
    return f"\\{line}" if _BLOCK_SIGN.match(line) else line


_CONTROL = {number: " " for number in (*range(32), *range(127, 160)) if number not in (9, 10, 13)}
_SURROGATES = re.compile("[\ud800-\udfff]")


def _without_controls(text: str) -> str:
    return _SURROGATES.sub("\ufffd", text.translate(_CONTROL))


def clean_text(text: str) -> str:
    """Text of several lines without control characters; line ends become newlines."""
    return _without_controls(text).replace("\r\n", "\n").replace("\r", "\n")
