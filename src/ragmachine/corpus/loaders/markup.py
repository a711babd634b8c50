"""Writes Markdown as a parser of nested markup meets headings, paragraphs, lists and tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ragmachine.corpus.loaders.loaded import Writer, fenced, literal, pipe_table, plain_line

_MAX_CELL_CHARS = 600  # a cell of more text lays out the page
_MAX_LIST_DEPTH = 6
_NUMBERED_OR_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?=\s|\Z)")


@dataclass(slots=True)
class _Table:
    """A table while it is read.

    Attributes:
        rows: cells so far.
        is_layout: its cells hold whole parts of the page, and it is no table.
    """

    rows: list[list[str]] = field(default_factory=list)
    is_layout: bool = False


class MarkdownBuilder:
    """Takes text and structure in document order; what nobody closed ends where the next begins.

    Attributes:
        writer: where the text goes.
    """

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._inline: list[str] = []
        self._prefix = ""
        self._indent = ""
        self._depth = 0
        self._is_code = False
        self._tables: list[_Table] = []
        self._is_in_cell = False
        self._span = 1
        self._was_item = False

    @property
    def _table(self) -> _Table | None:
        """The table whose cells are being read; None outside, and in one that lays out a page."""
        table = self._tables[-1] if self._tables else None
        return None if table is None or table.is_layout else table

    @property
    def is_in_table(self) -> bool:
        """Whether cells of a table are being read."""
        return self._table is not None

    @property
    def has_pending(self) -> bool:
        """Whether the open paragraph, cell or code has text already."""
        return any(part.strip() for part in self._inline)

    def write(self, text: str) -> None:
        """Text of the paragraph, cell or code that is open."""
        if text:
            self._inline.append(text)

    def line_break(self) -> None:
        """A new line in the same paragraph."""
        self._inline.append("\n" if self._is_code else "\v")

    def end_block(self) -> None:
        """A paragraph ends; within a cell it is a blank."""
        if self._is_code:
            return
        if self._table and self._is_in_cell:
            self._inline.append(" ")
            return
        lines = [plain_line(line) for line in "".join(self._inline).split("\v")]
        self._inline.clear()
        lines = [line for line in lines if line]
        if not lines:
            return
        is_item = self._prefix.startswith("- ")
        if self.writer.chars and not (is_item and self._was_item):
            self.writer.write("\n")
        first, *others = lines
        if self._prefix.startswith("#"):
            self.writer.write(f"{self._prefix}{' '.join(lines)}\n")
        else:
            shown = first if self._prefix else _plain(first)
            self.writer.write(f"{self._indent}{self._prefix}{shown}\n")
            inner = self._indent + " " * len(self._prefix)
            for line in others:
                self.writer.write(f"{inner}{_plain(line)}\n")
        self._was_item = is_item
        self._prefix = ""
        self._indent = "  " * self._depth if self._depth else ""

    def end(self) -> None:
        """The document ends."""
        if self._is_code:
            self.end_code()
        while self._tables:
            self.close_table()
        self.end_block()

    def heading(self, level: int) -> None:
        """A heading begins; level from 1 to 6."""
        self._leave_table()
        self.end_block()
        self._prefix, self._indent = "#" * level + " ", ""

    def code(self) -> None:
        """Text whose blanks count begins."""
        if self._table:
            return
        self.end_block()
        self._is_code = True

    def end_code(self) -> None:
        """It ends."""
        if not self._is_code:
            return
        self._is_code = False
        text = "".join(self._inline).strip("\n")
        self._inline.clear()
        if text.strip():
            self.writer.write(f"\n{fenced(text)}\n")
        self._was_item = False

    def open_list(self) -> None:
        """A list begins, maybe within an item of another."""
        self.end_block()
        self._depth = min(self._depth + 1, _MAX_LIST_DEPTH)

    def item(self) -> None:
        """An item of a list begins."""
        self.end_block()
        if not (self._table and self._is_in_cell):
            self._prefix, self._indent = "- ", "  " * max(self._depth - 1, 0)

    def list_item(self, depth: int) -> None:
        """The paragraph that is open is an item of a list, in so many other lists."""
        if not self.is_in_table and not self._prefix.startswith("#"):
            self._prefix, self._indent = "- ", "  " * min(depth, _MAX_LIST_DEPTH)

    def close_list(self) -> None:
        """A list ends."""
        self.end_block()
        self._depth = max(self._depth - 1, 0)
        self._prefix, self._indent = "", "  " * self._depth

    def open_table(self) -> None:
        """A table begins; one within a cell makes the outer table mere layout."""
        self._leave_table()
        self.end_block()
        self._tables.append(_Table())
        self._is_in_cell = False

    def row(self) -> None:
        """A row begins."""
        self._end_cell()
        if self._table is not None:
            self._table.rows.append([])

    def cell(self, span: int = 1) -> None:
        """A cell begins that covers so many columns."""
        self._end_cell()
        table = self._table
        if table is None:
            self.end_block()
            return
        if not table.rows:
            table.rows.append([])
        table.rows[-1] += [""] * span
        self._is_in_cell = True
        self._span = span

    def _end_cell(self) -> None:
        table = self._table
        if table is None:
            self.end_block()
            return
        text = " ".join("".join(self._inline).replace("\v", " ").split())
        self._inline.clear()
        if self._is_in_cell and table.rows and table.rows[-1]:
            table.rows[-1][-self._span] = text
            self._is_in_cell = False
            if len(text) > _MAX_CELL_CHARS:
                self._leave_table()
        elif text:  # a caption
            self._paragraph(text)

    def close_table(self) -> None:
        """A table ends."""
        self._end_cell()
        if not self._tables:
            return
        table = self._tables.pop()
        rows = [row for row in table.rows if any(row)]
        if len(rows) > 1 and max(map(len, rows)) > 1:
            if self.writer.chars:
                self.writer.write("\n")
            self.writer.write(pipe_table(rows))
        else:
            for row in rows:
                self._paragraph(" ".join(text for text in row if text))
        self._was_item = False
        self._is_in_cell = False

    def _leave_table(self) -> None:
        """What was taken for a table lays out the page: its cells become paragraphs."""
        table = self._table
        if table is None:
            return
        if self._is_in_cell:
            self._is_in_cell = False
            table.rows[-1][-self._span] = " ".join("".join(self._inline).split())
            self._inline.clear()
        for row in table.rows:
            for text in row:
                self._paragraph(text)
        table.rows.clear()
        table.is_layout = True

    def _paragraph(self, text: str) -> None:
        if text.strip():
            self.writer.write(("\n" if self.writer.chars else "") + _plain(plain_line(text)) + "\n")
            self._was_item = False


def _plain(line: str) -> str:
    """A line that begins neither a heading nor a list by chance."""
    return literal(line) if not _NUMBERED_OR_BULLET.match(line) else line
