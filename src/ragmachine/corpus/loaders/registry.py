"""Hands a document to the loader of its kind; what a loader needs is imported with the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self

from ragmachine.corpus.loaders.kinds import kind_of
from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded
from ragmachine.corpus.loaders.page_cache import PageCache
from ragmachine.corpus.loaders.sandbox import Sandbox
from ragmachine.corpus.loaders.transcript import Transcriber


class Loader(Protocol):
    """Reads one kind of document."""

    def load(self, path: str, data: bytes) -> Loaded | None:
        """The document as text; None where its bytes are its text after all.

        Args:
            path: relative to the corpus root.
            data: the whole file.
        Raises: LoadError: it is refused; the reason is for the report.
        """
        ...


class Loaders:
    """All loaders of one stretch of work; leaving it ends the process that they share."""

    def __init__(
        self,
        *,
        text_columns: Sequence[str] = (),
        cache_path: str = "",
        limits: Limits | None = None,
        transcriber: Transcriber | None = None,
    ) -> None:
        """Take the settings.

        Args:
            text_columns: columns of tables that hold text, instead of those that look like it.
            cache_path: file for parsed pages; "" for none.
            limits: of each document.
            transcriber: reads images of pages; None for OCR.
        """
        self._columns = tuple(text_columns)
        self._limits = limits or Limits()
        self._transcriber = transcriber
        self._sandbox = Sandbox(self._limits)
        self._cache = PageCache(cache_path)
        self._known: dict[str, Loader] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sandbox.close()
        self._cache.close()

    def rest(self) -> None:
        """End a batch of files: the file of pages is closed, a process of use stays."""
        self._cache.close()
        self._sandbox.rest()

    def load(self, path: str, data: bytes) -> Loaded | None:
        """See `Loader`; None also for a file that no loader is for."""
        kind = kind_of(path)
        if not kind:
            return None
        if kind not in self._known:
            self._known[kind] = self._make(kind)
        return self._known[kind].load(path, data)

    def _make(self, kind: str) -> Loader:
        makers: dict[str, Callable[[], Loader]] = {
            "pdf": self._pdf,
            "docx": self._docx,
            "html": self._html,
        }
        return makers[kind]() if kind in makers else self._bounded(kind)

    def _pdf(self) -> Loader:
        from ragmachine.corpus.loaders.pdf import PdfLoader

        return PdfLoader(self._limits, self._sandbox, self._cache, self._transcriber)

    def _docx(self) -> Loader:
        from ragmachine.corpus.loaders.docx import DocxLoader

        return DocxLoader(self._limits, self._sandbox)

    def _html(self) -> Loader:
        from ragmachine.corpus.loaders.html import HtmlLoader

        return HtmlLoader(self._limits, self._sandbox)

    def _bounded(self, kind: str) -> Loader:
        from ragmachine.corpus.loaders.bounded import BoundedLoader

        return BoundedLoader(kind, self._limits, self._sandbox, self._columns)
