"""Web pages of prose as Markdown: headings, lists, tables and code, without what is around them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from ragmachine.corpus.decode import decode, is_binary
from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, LoadError, Writer, clean_text
from ragmachine.corpus.loaders.markup import MarkdownBuilder
from ragmachine.corpus.loaders.sandbox import ReaderLostError, Sandbox

_MIN_PROSE_CHARS = 200
_MIN_SHARE = 0.02  # of the page's characters that must be text to be read
_TEMPLATE = re.compile(r"\{%|\{\{|<%|<\?php")
_MAX_TEMPLATE_MARKS = 3
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset=[\"']?([\w.:-]{2,40})", re.I)
_SKIPPED = frozenset(
    """
    script style template svg noscript nav footer form button select iframe canvas object
    audio video math dialog head textarea
    """.split()
)
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_HIDDEN_CLASSES = frozenset(("headerlink", "sr-only", "visually-hidden", "toctree-wrapper"))
_HIDDEN_ROLES = frozenset(("navigation", "search", "banner", "contentinfo"))
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    """
    p div section article main header aside figure figcaption address details summary dl dt dd
    blockquote body html center fieldset legend hgroup
    """.split()
)


class HtmlLoader:
    """Reads pages in the process for risky parsers; templates and fragments stay as they are."""

    def __init__(self, limits: Limits, sandbox: Sandbox) -> None:
        self._limits = limits
        self._sandbox = sandbox

    def load(self, path: str, data: bytes) -> Loaded | None:
        """See `registry.Loader`."""
        if is_binary(data):
            return None
        try:
            reply = self._sandbox.ask(
                "html", self._limits.max_seconds, data, max_chars=self._limits.max_chars
            )
        except ReaderLostError as error:
            raise LoadError(f"refused: it {error}") from error
        if "text" not in reply:
            return None
        return Loaded(reply["text"], "html", title=reply["title"], problem=reply["problem"])


def html_reply(data: bytes, max_chars: int) -> Mapping[str, Any]:
    """The page as text, title and problem; nothing where it is no page of prose."""
    html, problem = _decoded(data)
    if len(_TEMPLATE.findall(html)) > _MAX_TEMPLATE_MARKS:
        return {}
    reader = _Reader(max_chars)
    reader.feed(html)
    reader.close()
    text = reader.text()
    if len(text) < max(_MIN_PROSE_CHARS, _MIN_SHARE * len(html)) or not reader.has_prose:
        return {}
    return {"text": text, "title": reader.title, "problem": problem}


def _decoded(data: bytes) -> tuple[str, str]:
    decoded = decode(data)
    declared = _CHARSET.search(data[:4096])
    if decoded.problem.endswith("read as Latin-1") and declared:
        try:
            name = codecs.lookup(declared[1].decode("ascii")).name
            return data.decode(name), ""
        except (LookupError, ValueError):
            pass
    return decoded.text.removeprefix("\ufeff"), decoded.problem


class _Reader(HTMLParser):
    """Turns tags into calls of a `MarkdownBuilder`.

    Attributes:
        title: of the page.
        has_prose: whether it has a paragraph, or a heading, rather than bare markup.
    """

    def __init__(self, max_chars: int) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.has_prose = False
        self._builder = MarkdownBuilder(Writer(max_chars))
        self._skipped: list[str] = []
        self._in_title = False
        self._has_head_title = False
        self._main: list[int] = []
        self._main_tag = ""
        self._main_depth = 0

    def text(self) -> str:
        """The page's text: of its main part, where it says which one that is."""
        self._builder.end()
        text = self._builder.writer.text()
        if len(self._main) == 2 and self._main[1] - self._main[0] >= _MIN_PROSE_CHARS:
            text = text[self._main[0] : self._main[1]]
        return text.strip("\n") + "\n" if text.strip() else ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See `HTMLParser`."""
        if tag == "title" and not self._has_head_title and "svg" not in self._skipped:
            self._in_title = self._has_head_title = True
            return
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.append(tag)
            elif tag == "body":  # a head that nobody closed
                self._skipped.clear()
            return
        given = {name: value or "" for name, value in attrs}
        if tag not in _VOID and (tag in _SKIPPED or _is_hidden(given)):
            self._skipped.append(tag)
            return
        if (tag == "main" or given.get("role") == "main") and not self._main:
            self._builder.end_block()
            self._main.append(self._builder.writer.chars)
            self._main_tag = tag
        elif self._main and len(self._main) == 1 and tag == self._main_tag:
            self._main_depth += 1
        self._open(tag, given)

    def _open(self, tag: str, given: Mapping[str, str]) -> None:
        builder = self._builder
        if tag in _HEADINGS:
            self.has_prose = True
            builder.heading(_HEADINGS[tag])
        elif tag == "pre":
            builder.code()
        elif tag in ("ul", "ol", "menu"):
            builder.open_list()
        elif tag == "li":
            builder.item()
        elif tag == "table":
            builder.open_table()
        elif tag == "tr":
            builder.row()
        elif tag in ("td", "th"):
            span = given.get("colspan", "")
            builder.cell(min(int(span), 50) if span.isdecimal() and len(span) < 4 else 1)
        elif tag == "br":
            builder.line_break()
        elif tag == "img" and " " in given.get("alt", "").strip():
            builder.write(f" {given['alt']} ")
        elif tag in _BLOCKS or tag == "hr":
            self.has_prose = self.has_prose or tag == "p"
            builder.end_block()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See `HTMLParser`."""
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """See `HTMLParser`."""
        if tag == "title":
            self._in_title = False
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.pop()
            return
        builder = self._builder
        if tag in _HEADINGS or tag == "li" or tag in _BLOCKS:
            builder.end_block()
        elif tag == "pre":
            builder.end_code()
        elif tag in ("ul", "ol", "menu"):
            builder.close_list()
        elif tag == "table":
            builder.close_table()
        if len(self._main) == 1 and tag == self._main_tag:
            if self._main_depth == 0:
                builder.end_block()
                self._main.append(builder.writer.chars)
            self._main_depth -= 1

    def handle_data(self, data: str) -> None:
        """See `HTMLParser`."""
        if self._in_title:
            self.title = " ".join(f"{self.title} {data}".split())[:300]
        elif not self._skipped:
            self._builder.write(clean_text(data))


def _is_hidden(given: Mapping[str, str]) -> bool:
    return (
        "hidden" in given
        or given.get("aria-hidden") == "true"
        or given.get("role") in _HIDDEN_ROLES
        or not _HIDDEN_CLASSES.isdisjoint(given.get("class", "").split())
        or bool(_HIDDEN.search(given.get("style", "")[:500]))
    )
