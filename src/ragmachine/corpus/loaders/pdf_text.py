"""Parses of pages to one Markdown text: paragraphs, headings, tables, code, lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragmachine.corpus.loaders.loaded import (
    Places,
    Writer,
    literal,
    pipe_table,
    plain_line,
    table_rows,
)
from ragmachine.corpus.loaders.pdf_boxes import Boxes
from ragmachine.corpus.loaders.pdf_headings import heading_levels
from ragmachine.corpus.loaders.pdf_margins import running_lines
from ragmachine.places import Box, around

_PARAGRAPH_GAP = 0.45  # blank between lines, in heights of a line, that ends a paragraph
_BULLET = re.compile(r"[•◦▪‣·●○■□–➢✓✔]\s+")
_TERMINAL = re.compile(r"""[.!?:;…]["')\]”’]*\Z""")
_HYPHENATED = re.compile(r"([^\W\d_]+)-\Z")
_FIRST_WORD = re.compile(r"([^\W\d_]+)(.*)", re.S)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_NO_TITLE = re.compile(
    r"\A(?:untitled|unknown|title|document\d*|\(?anonymous\)?|\(?unspecified\)?|slide \d+|)\Z"
    r"|\.(?:docx?|pdf|tex|dvi|indd|qxd|pptx?|xlsx?|odt|fm|html?)\Z|\AMicrosoft Word - ",
    re.I,
)
_SAME_EDGE = 3.0  # points by which the two halves of a table may differ


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of a document, its places, its title, and the boxes of `loaded.Pages`."""

    text: str
    places: Places
    title: str
    boxes: tuple[tuple[int, Box | None], ...]


def document_text(
    pages: Sequence[dict[str, Any]], toc: Sequence[Sequence[Any]], title: str, max_chars: int
) -> DocumentText:
    """Assemble a document.

    Args:
        pages: parses as `pdf_reader.read_page` makes them, first to last.
        toc: bookmarks as (level, title, page from 1).
        title: as the file's own data has it.
        max_chars: of the text.
    Raises: LoadError: there is more text than that.
    """
    left_out = running_lines(pages)
    levels = heading_levels(pages, toc)
    assembler = _Assembler(max_chars, _vocabulary(pages))
    for number, page in enumerate(pages):
        assembler.page(number + 1, page)
        for position, item in enumerate(page["items"]):
            if (number, position) not in left_out:
                assembler.add(item, levels.get((number, position), 0))
    assembler.end()
    writer = assembler.writer
    whole = _title(title, assembler.headings, assembler.cover)
    return DocumentText(writer.text(), tuple(writer.places), whole, assembler.boxes.found())


def _title(given: str, headings: Sequence[tuple[int, str]], cover: int) -> str:
    """The title that the file's own data gives, else the first heading; then the whole cover.

    Where the document begins with its only heading of the highest level, that and the headings
    right below, such as what kind of product it is about, hold for all that follows.
    """
    given = plain_line(given)
    tops = [text for level, text in headings if level == 1]
    said = [given] if not _NO_TITLE.search(given) and any(map(str.isalpha, given)) else tops[:1]
    if cover > 1 and len(tops) == 1 and headings[0][0] == 1:
        for _, text in headings[:cover]:
            if text.casefold() not in " ".join(said).casefold():
                said.append(text)
    return " – ".join(said)


def _vocabulary(pages: Sequence[dict[str, Any]]) -> set[str]:
    """The words of a document, those cut at the end of a line left out."""
    words: set[str] = set()
    for page in pages:
        for item in page["items"]:
            text = item.get("text", "").rstrip()
            words.update(word.lower() for word in _WORD.findall(_HYPHENATED.sub("", text)))
    return words


class _Assembler:
    """Writes one item after another, and knows what the one before was."""

    def __init__(self, max_chars: int, vocabulary: set[str]) -> None:
        self.writer = Writer(max_chars)
        self.boxes = Boxes()
        self.headings: list[tuple[int, str]] = []
        self.cover = 0  # so many headings of the first page stand before any other text
        self._vocabulary = vocabulary
        self._is_cover = True
        self._page = 0
        self._line = ""  # text written when it is known how the next begins
        self._box: Box | None = None  # where it stands
        self._prefix = ""
        self._last: dict[str, Any] | None = None
        self._last_level = 0
        self._last_page = 0
        self._is_code = False
        self._code_left = 0.0

    def page(self, number: int, parse: dict[str, Any]) -> None:
        """A page begins."""
        self._page = number
        self.boxes.page(parse)

    def end(self) -> None:
        """The document ends."""
        self._flush()
        self._close_code()

    def add(self, item: dict[str, Any], level: int) -> None:
        """Take the next item of the page; level from 1 for a heading, 0 for text."""
        self._is_cover &= self._page == 1 and level > 0
        if "rows" in item:
            self._table(item)
        elif level:
            self._heading(item, level)
            self.cover = len(self.headings) if self._is_cover else self.cover
        elif item["mono"] and item["text"].strip():
            self._code(item)
        else:
            self._text(item)
        self._last, self._last_level, self._last_page = item, level, self._page

    def _table(self, item: dict[str, Any]) -> None:
        rows, count = item["rows"], len(item["rows"])
        before = self._last
        is_same = (
            before is not None
            and "rows" in before
            and self._last_page == self._page - 1
            and len(before["rows"][0]) == len(rows[0])
        )
        if is_same and before:
            has_header = [*map(plain_line, rows[0])] == [*map(plain_line, before["rows"][0])]
            edges = max(abs(before["x0"] - item["x0"]), abs(before["x1"] - item["x1"]))
            if has_header or edges <= _SAME_EDGE:
                self._mark()
                first = int(has_header)
                self._rows(table_rows(rows[first:], len(rows[0])), item, range(first, count))
                item["rows"] = [before["rows"][0], *rows]  # a third page is compared with it too
                return
        self._block()
        self._rows(pipe_table(rows), item, [0, *range(count)])

    def _rows(self, text: str, item: dict[str, Any], numbers: Sequence[int]) -> None:
        """Write rows of a table, a line each, of these numbers in it."""
        self.boxes.add_rows(self.writer.chars, text, item, numbers)
        self.writer.write(text)

    def _heading(self, item: dict[str, Any], level: int) -> None:
        text = plain_line(item["text"])
        is_second_line = (
            self._last_level == level
            and self._last is not None
            and self._last_page == self._page
            and 0 <= item["top"] - self._last["bottom"] + item["size"] < 1.3 * item["size"]
            and abs(self._last["size"] - item["size"]) < 0.5
        )
        box = self.boxes.of(item)
        if is_second_line and self._line:
            self._line += f" {text}"
            self._box = around([self._box, box]) if self._box and box else None
            self.headings[-1] = (level, f"{self.headings[-1][1]} {text}")
            return
        self._block()
        self._prefix, self._line, self._box = "#" * level + " ", text, box
        self.headings.append((level, text))

    def _code(self, item: dict[str, Any]) -> None:
        if not self._is_code:
            self._block()
            self.writer.write("```\n")
            self._is_code, self._code_left = True, item["x0"]
        else:
            self._mark()
        text = item["text"].rstrip()
        width = max((item["x1"] - item["x0"]) / max(len(text), 1), 1.0)
        indent = round((item["x0"] - self._code_left) / width)
        self.boxes.add(self.writer.chars, self.boxes.of(item))
        self.writer.write(" " * min(max(indent, 0), 80) + text.replace("```", "'''") + "\n")

    def _text(self, item: dict[str, Any]) -> None:
        text = plain_line(item["text"])
        if not text:
            return
        if not self._goes_on(item, text):
            self._block()
        elif self._line:
            text = self._joined(text)
            self._flush()
        self._mark()
        bullet = _BULLET.match(text)
        self._prefix = "- " if bullet else ""
        self._line = text[bullet.end() :] if bullet else literal(text)
        self._box = self.boxes.of(item)

    def _goes_on(self, item: dict[str, Any], text: str) -> bool:
        """Whether a line belongs to the paragraph, or the list, before it."""
        last = self._last
        if last is None or "rows" in last or self._last_level or self._is_code:
            return False
        if self._last_page != self._page or item["top"] < last["top"]:
            return not _TERMINAL.search(self._line) and text[:1].islower()
        is_bullet = bool(_BULLET.match(text))
        if is_bullet and not self._prefix and self._line:
            return False
        gap = item["top"] - last["bottom"]
        is_near = gap <= _PARAGRAPH_GAP * (item["bottom"] - item["top"])
        return bool(is_near and abs(item["size"] - last["size"]) <= 0.12 * max(last["size"], 1.0))

    def _joined(self, text: str) -> str:
        """The next line, less the rest of a word that the line before it cuts at a hyphen."""
        cut, rest = _HYPHENATED.search(self._line), _FIRST_WORD.match(text)
        if not cut or not rest or not rest[1][0].islower():
            return text
        head, tail = cut[1].lower(), rest[1].lower()
        is_compound = f"{head}-{tail}" in self._vocabulary or (
            head + tail not in self._vocabulary and {head, tail} <= self._vocabulary
        )
        self._line = (self._line if is_compound else self._line[:-1]) + rest[1]
        left = rest[2].lstrip()
        # punctuation stays with its word
        sign = re.match(r"[^\s\w]+(?=\s|\Z)", rest[2])
        if sign:
            self._line += sign[0]
            left = rest[2][sign.end() :].lstrip()
        return left

    def _block(self) -> None:
        """End what is open, and leave a blank line."""
        self._flush()
        self._close_code()
        if self.writer.chars:
            self.writer.write("\n")
        self._mark()

    def _flush(self) -> None:
        if self._line:
            self.boxes.add(self.writer.chars, self._box)
            self.writer.write(f"{self._prefix}{self._line}\n")
            self._line = ""

    def _close_code(self) -> None:
        if self._is_code:
            self.writer.write("```\n")
            self._is_code = False

    def _mark(self) -> None:
        """Note the page where the next writing begins."""
        place = f"p.{self._page}"
        if not self.writer.places or self.writer.places[-1][1] != place:
            self._flush()
            self.writer.at(place)
