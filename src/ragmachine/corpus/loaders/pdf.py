"""PDF: asks the reading process for one page after another, and says what became of them."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from functools import partial
from importlib.util import find_spec
from typing import Any

from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, LoadError, Pages
from ragmachine.corpus.loaders.page_cache import PageCache, page_key
from ragmachine.corpus.loaders.pdf_text import document_text
from ragmachine.corpus.loaders.sandbox import ReaderLostError, Sandbox
from ragmachine.corpus.loaders.transcript import PROMPT, Transcriber, parse_of
from ragmachine.errors import ModelError
from ragmachine.places import PageCounts

_MOST_LOST = 5  # pages in all that may crash or hang their reader, before the rest is given up
_LOST: dict[str, Any] = {"height": 0.0, "items": [], "source": "lost"}


class PdfLoader:
    """Reads the text of a PDF, with its tables, and that of scanned pages.

    Args:
        limits: of each document.
        sandbox: the process that parses.
        cache: what earlier runs read out of pages.
        transcriber: reads images of pages, instead of OCR; None for OCR.
    """

    def __init__(
        self,
        limits: Limits,
        sandbox: Sandbox,
        cache: PageCache,
        transcriber: Transcriber | None = None,
    ) -> None:
        self._limits = limits
        self._sandbox = sandbox
        self._cache = cache
        self._transcriber = transcriber
        self._notice = ""  # why it did not read a page, the last time
        self._has_tables = find_spec("pdfplumber") is not None
        self._has_ocr = find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None

    def load(self, path: str, data: bytes) -> Loaded:
        """See `registry.Loader`.

        Raises: LoadError: it is encrypted, damaged or no PDF, or its reader was lost too often.
        """
        document = _Document(data)
        about = self._about(document)
        count = min(int(about["pages"]), self._limits.max_pages)
        pages = [self._page(document, number) for number in range(1, count + 1)]
        text = document_text(pages, about["toc"], str(about["title"]), self._limits.max_chars)
        sources = Counter(page["source"] for page in pages)
        problem = self._problem(sources, document.lost)
        if int(about["pages"]) > count:
            problem = f"only the first {count:,} of {about['pages']:,} pages are read; {problem}"
        return Loaded(
            text.text,
            "pdf",
            title=text.title,
            places=text.places,
            problem=problem.rstrip("; "),
            pages=Pages(_counts(sources), text.boxes, document.notice),
        )

    def _about(self, document: _Document) -> dict[str, Any]:
        """Number of pages, title and bookmarks."""
        key = page_key(document.digest, 0)
        about = self._cache.get(key)
        if about is None:
            about = self._open(document)
            self._cache.put(key, about)
        return about

    def _open(self, document: _Document) -> dict[str, Any]:
        if b"%PDF-" not in document.data[:1024]:
            raise LoadError("cannot be read: it is damaged or no PDF")
        try:
            about = self._sandbox.ask("open_pdf", self._limits.max_seconds, document.data)
        except ReaderLostError as error:
            raise LoadError(f"refused: it {error}") from error
        document.is_open = True
        return about

    def _page(self, document: _Document, number: int) -> dict[str, Any]:
        """The parse of a page; one that is lost is noted in the document."""
        key = page_key(document.digest, number)
        page = self._cache.get(key)
        is_final = page is not None and not (self._transcriber and page["is_image"])
        if page is not None and is_final:
            return page
        if self._transcriber:
            read = self._cache.get(page_key(document.digest, number, self._transcriber.name))
            if read:
                return read
        if len(document.lost) >= _MOST_LOST:
            return page or _LOST
        try:
            return self._read(document, number, key, page)
        except LoadError as error:
            document.lost.append(f"p.{number} {error}")
            return page or _LOST

    def _read(
        self, document: _Document, number: int, key: str, known: dict[str, Any] | None
    ) -> dict[str, Any]:
        """Read a page that is not known, or known from OCR where a model is to read it."""
        page = known or self._ask("read_page", document, number, **self._abilities())
        if self._transcriber and page["is_image"]:
            read = self._transcribed(self._transcriber, document, number, page["height"])
            if read:
                return read
            if not known and self._has_ocr:
                page = self._ask("read_page", document, number, **self._abilities(has_ocr=True))
        if not known:
            self._cache.put(key, page)
        return page

    def _abilities(self, *, has_ocr: bool = False) -> dict[str, bool]:
        by_ocr = self._has_ocr and (has_ocr or not self._transcriber)
        return {"has_tables": self._has_tables, "has_ocr": by_ocr}

    def _transcribed(
        self, model: Transcriber, document: _Document, number: int, height: float
    ) -> dict[str, Any] | None:
        """What the model reads in the image of a page; None where it does not, which is noted."""
        if not model.is_available:
            document.notice = self._notice
            return None
        image = self._ask("render_page", document, number)
        try:
            read = parse_of(model.transcribe(PROMPT, base64.b64decode(image["png"])), height)
        except ModelError as error:
            document.notice = self._notice = _notice(error, self._has_ocr)
            return None
        self._cache.put(page_key(document.digest, number, model.name), read)
        return read

    def _ask(self, job: str, document: _Document, number: int, **abilities: bool) -> dict[str, Any]:
        """Have a job done on a page, in a process that has the document open.

        One that is lost, and had read other documents before, is replaced by a fresh one.
        """
        work = partial(
            self._sandbox.ask, job, self._limits.max_page_seconds, b"",
            number=number, max_pixels=self._limits.max_pixels, **abilities,
        )  # fmt: skip
        if not document.is_open or not self._sandbox.is_running:
            self._open(document)
        try:
            return work()
        except ReaderLostError as error:
            if not error.is_doubtful:
                raise
        self._open(document)
        return work()

    def _problem(self, sources: Counter[str], lost: list[str]) -> str:
        """What the report says about pages that gave no text of their own."""
        total = sources.total()
        model = self._transcriber.name if self._transcriber else ""
        instead = f" instead of {model}" if model else ""
        remedy = "" if self._has_ocr else " (`pip install 'ragmachine[pdf]'` brings the OCR)"
        words = {
            "model": f"without text read by {model}",
            "ocr": f"without text read by OCR{instead}",
            "image": f"are images and not read{remedy}",
            "blank": "empty",
            "lost": f"not read: {'; '.join(lost)}",
        }
        pages = f"{total:,} page{'s' if total != 1 else ''}"
        return "; ".join(
            f"{sources[source]:,} of {pages} {said}"
            for source, said in words.items()
            if sources[source]
        )


class _Document:
    """A document while it is read, and what became of its pages."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.digest = hashlib.sha256(data).digest()
        self.is_open = False
        self.lost: list[str] = []
        self.notice = ""


def _notice(error: ModelError, has_ocr: bool) -> str:
    steps = ", then ".join(filter(None, (error.remedy, "index with --force")))
    became = "are read by OCR instead" if has_ocr else "are not read"
    return f"{error.message}: pages {became}; to have them read {steps}"


def _counts(sources: Counter[str]) -> PageCounts:
    return PageCounts(
        pages=sources.total(),
        ocr=sources["ocr"],
        model=sources["model"],
        empty=sources["blank"],
        unread=sources["image"] + sources["lost"],
    )
