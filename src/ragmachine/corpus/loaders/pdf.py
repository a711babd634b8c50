"""PDF: asks the reading process for one page after another, and says what became of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, LoadError
from ragmachine.corpus.loaders.page_cache import PageCache, page_key
from ragmachine.corpus.loaders.pdf_text import document_text
from ragmachine.corpus.loaders.sandbox import ReaderLostError, Sandbox

_MOST_LOST = 5  # pages in all that may crash or hang their reader, before the rest is given up
_EMPTY: dict[str, Any] = {"height": 0.0, "items": []}


class PdfLoader:
    """Reads the text of a PDF, with its tables, and that of scanned pages."""

    def __init__(self, limits: Limits, sandbox: Sandbox, cache: PageCache) -> None:
        self._limits = limits
        self._sandbox = sandbox
        self._cache = cache
        self._has_tables = find_spec("pdfplumber") is not None
        self._has_ocr = find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None

    def load(self, path: str, data: bytes) -> Loaded:
        """See `registry.Loader`.

        Raises: LoadError: it is encrypted, damaged or no PDF, or its reader was lost too often.
        """
        digest = hashlib.sha256(data).digest()
        known = self._cached(digest, 0)
        about = known or self._open(data)
        if known is None:
            self._keep(digest, 0, about)
        count = min(int(about["pages"]), self._limits.max_pages)
        pages, lost = self._pages(data, digest, count, is_open=known is None)
        text = document_text(pages, about["toc"], str(about["title"]), self._limits.max_chars)
        problem = self._problem([page.get("source", "") for page in pages], lost)
        if int(about["pages"]) > count:
            problem = f"only the first {count:,} of {about['pages']:,} pages are read; {problem}"
        return Loaded(
            text.text,
            "pdf",
            title=text.title,
            places=text.places,
            problem=problem.rstrip("; "),
        )

    def _open(self, data: bytes) -> dict[str, Any]:
        if b"%PDF-" not in data[:1024]:
            raise LoadError("cannot be read: it is damaged or no PDF")
        try:
            return self._sandbox.ask("open_pdf", self._limits.max_seconds, data)
        except ReaderLostError as error:
            raise LoadError(f"refused: it {error}") from error

    def _pages(
        self, data: bytes, digest: bytes, count: int, *, is_open: bool
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """The parses of all pages, and what was lost, in words."""
        pages: list[dict[str, Any]] = []
        lost: list[str] = []
        for number in range(1, count + 1):
            page = self._cached(digest, number)
            if page is None and len(lost) < _MOST_LOST:
                try:
                    if not is_open or not self._sandbox.is_running:
                        self._open(data)
                        is_open = True
                    page = self._ask(number)
                    self._keep(digest, number, page)
                except LoadError as error:
                    lost.append(f"p.{number} {error}")
            pages.append(page or {**_EMPTY, "source": "lost"})
        return pages, lost

    def _ask(self, number: int) -> dict[str, Any]:
        return self._sandbox.ask(
            "read_page",
            self._limits.max_page_seconds,
            number=number,
            has_tables=self._has_tables,
            has_ocr=self._has_ocr,
            max_pixels=self._limits.max_pixels,
        )

    def _cached(self, digest: bytes, number: int) -> dict[str, Any] | None:
        return self._cache.get(page_key(digest, number))

    def _keep(self, digest: bytes, number: int, parse: dict[str, Any]) -> None:
        self._cache.put(page_key(digest, number), parse)

    def _problem(self, sources: Sequence[str], lost: Sequence[str]) -> str:
        """What the report says about pages that gave no text of their own."""
        count = Counter(sources)
        said = []
        if count["ocr"]:
            said.append(f"{_pages_of(count['ocr'], sources)} without text read by OCR")
        if count["image"]:
            remedy = "" if self._has_ocr else " (`pip install 'ragmachine[pdf]'` brings the OCR)"
            said.append(f"{_pages_of(count['image'], sources)} are images and not read{remedy}")
        if count["blank"]:
            said.append(f"{_pages_of(count['blank'], sources)} empty")
        if count["lost"]:
            reasons = "; ".join(lost)
            said.append(f"{_pages_of(count['lost'], sources)} not read: {reasons}")
        return "; ".join(said)


def _pages_of(count: int, sources: Sequence[str]) -> str:
    return f"{count:,} of {len(sources):,} page{'s' if len(sources) != 1 else ''}"
