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
    ) -> None:
        """Take the settings.

        Args:
            text_columns: columns of tables that hold text, instead of those that look like it.
            cache_path: file for parsed pages; "" for none.
            limits: of each document.
        """
        self._columns = tuple(text_columns)
        self._limits = limits or Limits()
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
            "notebook": self._notebook,
            "csv": self._csv,
            "json": self._json,
        }
        return makers[kind]()

    def _pdf(self) -> Loader:
        from ragmachine.corpus.loaders.pdf import PdfLoader

        return PdfLoader(self._limits, self._sandbox, self._cache)

    def _docx(self) -> Loader:
        from ragmachine.corpus.loaders.docx import DocxLoader

        return DocxLoader(self._limits, self._sandbox)

    def _html(self) -> Loader:
        from ragmachine.corpus.loaders.html import HtmlLoader

        return HtmlLoader(self._limits, self._sandbox)

    def _notebook(self) -> Loader:
        from ragmachine.corpus.loaders.notebook import NotebookLoader

        return NotebookLoader(self._limits)

    def _csv(self) -> Loader:
        from ragmachine.corpus.loaders.tabular import TabularLoader

        return TabularLoader(self._limits, self._columns)

    def _json(self) -> Loader:
        from ragmachine.corpus.loaders.records import RecordsLoader

        return RecordsLoader(self._limits, self._columns)
