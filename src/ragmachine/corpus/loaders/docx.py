"""Word documents: paragraphs, headings, lists, tables and notes, read as a stream of tags."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.parsers import expat

from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, LoadError, Writer, clean_text, plain_line
from ragmachine.corpus.loaders.markup import MarkdownBuilder
from ragmachine.corpus.loaders.sandbox import ReaderLostError, Sandbox

_MAX_DEPTH = 2_000
_MAX_PARTS = 20_000
_READ_BYTES = 1 << 16
_OLD_FORMAT = b"\xd0\xcf\x11\xe0"  # Word before 2007, and documents with a password

Tag = Callable[[str, Mapping[str, str]], None]


class DocxLoader:
    """Reads Word documents in the process for risky parsers."""

    def __init__(self, limits: Limits, sandbox: Sandbox) -> None:
        self._limits = limits
        self._sandbox = sandbox

    def load(self, path: str, data: bytes) -> Loaded:
        """See `registry.Loader`; a place is the page that Word last laid a part out on.

        Raises: LoadError: it is encrypted, damaged, or unpacks to too much.
        """
        if data.startswith(_OLD_FORMAT):
            raise LoadError("cannot be read: it is encrypted, or of Word before 2007")
        try:
            reply = self._sandbox.ask(
                "docx",
                self._limits.max_seconds,
                data,
                max_chars=self._limits.max_chars,
                max_unpacked=self._limits.max_unpacked_bytes,
            )
        except ReaderLostError as error:
            raise LoadError(f"refused: it {error}") from error
        places = tuple((int(start), str(place)) for start, place in reply["places"])
        return Loaded(reply["text"], "docx", title=reply["title"], places=places)


def docx_reply(data: bytes, max_chars: int, max_unpacked: int) -> Mapping[str, Any]:
    """The document as text, title and places.

    Raises: LoadError: see `DocxLoader.load`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read(_Parts(archive, max_unpacked), max_chars)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise LoadError("cannot be read: it is damaged or no Word document") from error


class _Parts:
    """The XML parts of a document, unpacked a piece at a time, and never more than allowed."""

    def __init__(self, archive: zipfile.ZipFile, max_unpacked: int) -> None:
        self._archive = archive
        self._left = max_unpacked
        self._names = {info.filename for info in archive.infolist()[:_MAX_PARTS]}

    def parse(self, name: str, start: Tag, end: Callable[[str], None],
              text: Callable[[str], None]) -> bool:  # fmt: skip
        """Parse a part; names of tags and attributes come without their namespace.

        Returns: whether there is such a part.
        Raises: LoadError: it is no XML, nested too deeply, declares entities, or is too large.
        """
        if name not in self._names:
            return False
        depth = 0

        def opened(tag: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > _MAX_DEPTH:
                raise LoadError("refused: it is nested too deeply")
            start(_local(tag), {_local(key): value for key, value in attributes.items()})

        def closed(tag: str) -> None:
            nonlocal depth
            depth -= 1
            end(_local(tag))

        parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.StartElementHandler = opened
        parser.EndElementHandler = closed
        parser.CharacterDataHandler = text
        parser.StartDoctypeDeclHandler = _refuse_entities
        try:
            for piece in self._pieces(name):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise LoadError(f"cannot be read: {name} is damaged: {error}") from error
        return True

    def _pieces(self, name: str) -> Iterator[bytes]:
        with self._archive.open(name) as stream:
            while piece := stream.read(_READ_BYTES):
                self._left -= len(piece)
                if self._left < 0:
                    raise LoadError("refused: it unpacks to more than is allowed")
                yield piece


def _refuse_entities(*_: Any) -> None:
    raise LoadError("refused: it declares a document type, as bombs do")


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _read(parts: _Parts, max_chars: int) -> Mapping[str, Any]:
    title = _title(parts)
    body = _Body(Writer(max_chars), _heading_styles(parts))
    if not parts.parse("word/document.xml", body.start, body.end, body.text):
        raise LoadError("cannot be read: it is damaged or no Word document")
    for name in ("word/footnotes.xml", "word/endnotes.xml"):
        parts.parse(name, body.start, body.end, body.text)
    body.builder.end()
    writer = body.builder.writer
    places = [(0, "p.1"), *body.pages] if body.pages else []
    return {"text": writer.text(), "title": title, "places": places}


def _title(parts: _Parts) -> str:
    found: list[str] = []
    tags: list[str] = []

    def text(data: str) -> None:
        if tags and tags[-1] == "title":
            found.append(data)

    parts.parse("docProps/core.xml", lambda tag, _: tags.append(tag), lambda _: tags.clear(), text)
    return plain_line("".join(found))[:300]


def _heading_styles(parts: _Parts) -> dict[str, int]:
    """Levels of the styles that are headings, by their ids; those of a title have 1."""
    levels: dict[str, int] = {}
    bases: dict[str, str] = {}
    current = ""

    def start(tag: str, given: Mapping[str, str]) -> None:
        nonlocal current
        value = given.get("val", "")
        if tag == "style":
            current = given.get("styleId", "")
        elif tag == "name" and current:
            name = value.lower()
            number = name.removeprefix("heading ")
            if number != name and number.isdecimal():
                levels[current] = min(int(number), 6)
            elif name == "title":
                levels[current] = 1
        elif tag == "basedOn" and current:
            bases[current] = value
        elif tag == "outlineLvl" and current and value.isdecimal() and int(value) < 9:
            levels.setdefault(current, min(int(value) + 1, 6))

    parts.parse("word/styles.xml", start, lambda _: None, lambda _: None)
    for style in list(bases):
        base, seen = bases[style], {style}
        while base not in levels and base in bases and base not in seen:
            seen.add(base)
            base = bases[base]
        if base in levels:
            levels.setdefault(style, levels[base])
    return levels


class _Body:
    """Turns the tags of a document into calls of a `MarkdownBuilder`.

    Attributes:
        builder: writes the text.
        pages: (start, place) of every page after the first.
    """

    def __init__(self, writer: Writer, styles: Mapping[str, int]) -> None:
        self.builder = MarkdownBuilder(writer)
        self.pages: list[tuple[int, str]] = []
        self._styles = styles
        self._is_text = False
        self._skipping = 0
        self._span = 1
        self._is_cell_begun = True
        self._breaks = 0

    def start(self, tag: str, given: Mapping[str, str]) -> None:
        """A tag begins."""
        if tag in ("Fallback", "del", "moveFrom") or self._skipping:  # said once elsewhere, or gone
            self._skipping += 1
            return
        builder = self.builder
        if tag == "p":
            self._begin_cell()
            self._mark_page()
        elif tag == "pStyle":
            self._heading(self._styles.get(given.get("val", ""), 0))
        elif tag == "outlineLvl" and given.get("val", "") in tuple("012345"):
            self._heading(int(given["val"]) + 1)
        elif tag == "ilvl":
            builder.list_item(int(given["val"]) if given.get("val", "").isdecimal() else 0)
        elif tag == "tbl":
            builder.open_table()
        elif tag == "tr":
            builder.row()
        elif tag == "tc":
            self._span, self._is_cell_begun = 1, False
        elif tag == "gridSpan":
            self._span = min(int(given["val"]), 50) if given.get("val", "").isdecimal() else 1
        elif tag in ("t", "tab", "br", "cr", "noBreakHyphen", "lastRenderedPageBreak"):
            self._inline(tag, given)

    def _heading(self, level: int) -> None:
        if level and not self.builder.is_in_table:
            self.builder.heading(level)

    def _inline(self, tag: str, given: Mapping[str, str]) -> None:
        if tag == "t":
            self._is_text = True
        elif tag == "tab":
            self.builder.write(" ")
        elif tag == "noBreakHyphen":
            self.builder.write("-")
        elif tag == "lastRenderedPageBreak":
            self._breaks += 1
            if not self.builder.has_pending:  # the page begins with this very paragraph
                self._mark_page()
        elif given.get("type") != "page":
            self.builder.line_break()

    def end(self, tag: str) -> None:
        """A tag ends."""
        if self._skipping:
            self._skipping -= 1
        elif tag == "t":
            self._is_text = False
        elif tag == "p":
            self.builder.end_block()
        elif tag == "tc":
            self._begin_cell()
        elif tag == "tbl":
            self.builder.close_table()

    def text(self, data: str) -> None:
        """Characters."""
        if self._is_text and not self._skipping:
            self.builder.write(clean_text(data))

    def _begin_cell(self) -> None:
        """Only the first paragraph of a cell tells how many columns it covers."""
        if not self._is_cell_begun:
            self._is_cell_begun = True
            self.builder.cell(self._span)

    def _mark_page(self) -> None:
        """A paragraph stands on the page on which it begins."""
        if self._breaks and not self.builder.is_in_table:
            number = self._breaks + 1
            start = self.builder.writer.chars
            if not self.pages or self.pages[-1][1] != f"p.{number}":
                if self.pages and self.pages[-1][0] == start:
                    self.pages.pop()
                self.pages.append((start, f"p.{number}"))
