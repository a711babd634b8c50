"""The pipeline that all requests share: asked by many threads, and never seen half-changed."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ragmachine.errors import RagError
from ragmachine.pipeline import RagPipeline
from ragmachine.server.logs import LOGGER

if TYPE_CHECKING:
    from ragmachine.llm.chat import ChatClient
    from ragmachine.retrieval.searcher import Searcher
    from ragmachine.settings import Settings

_LOG = logging.getLogger(LOGGER)
_RETRY_S = 5.0
# One index is opened at a time: that takes memory and all of a processor, and numpy reads the heads
# of its files with `ast`, which fails in two threads at once in some releases of Python 3.11.
_ONE_AT_A_TIME = threading.Lock()


class ServedPipeline(RagPipeline):
    """A pipeline that goes on answering from one generation while it opens the next.

    An index holds its files open, so the generation before answers until the new one can. One
    that cannot be opened is logged and tried again later; what was there still answers.

    Args:
        settings: complete settings.
        use_cache: as for `RagPipeline`.

    Attributes:
        swaps: generations taken into use after the first.
        failure: why the newest generation could not be opened, else "".
    """

    def __init__(self, settings: Settings, *, use_cache: bool = True) -> None:
        super().__init__(settings, use_cache=use_cache)
        self.swaps = 0
        self.failure = ""
        self._opening = threading.Lock()
        self._not_before = 0.0
        self._in_parts: _InParts | None = None

    def opened_searcher(self) -> Searcher:
        """What answers now; see `RagPipeline.opened_searcher`."""
        wanted = (self.store.require_current(), self._published_vectors())
        opened = self._opened
        if opened is None:
            return self.refresh()
        is_due = self._answering != wanted and time.monotonic() >= self._not_before
        if is_due and self._opening.acquire(blocking=False):
            thread = threading.Thread(target=self._open_next, name="open-index", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no more threads, or the interpreter ends
                self._opening.release()
        return opened

    @property
    def opened(self) -> Searcher | None:
        """What answered last, without a look at what there is now; None before the first."""
        return self._opened

    def in_parts(self) -> RagPipeline:
        """The same index, asked questions that are cut into their parts."""
        if self.settings.decompose:
            return self
        if self._in_parts is None:
            self._in_parts = _InParts(self)
        return self._in_parts

    def cutting(self, opened: Searcher) -> Searcher:
        """What this pipeline opened, for questions that are cut into their parts."""
        from ragmachine.wiring.searching import in_parts

        return in_parts(opened, self.settings, self._synonyms)

    def flush(self) -> None:
        """Write what the caches learned; see `RagPipeline.flush`."""
        super().flush()
        if self._in_parts:
            self._in_parts.flush()

    def close(self) -> None:
        """Keep what was learned and let go of the index; whoever still asks opens it again."""
        with contextlib.suppress(RagError):
            self.flush()
        self._opened = None

    def refresh(self) -> Searcher:
        """Take the current generation into use now, and wait until it answers.

        Raises: as `RagPipeline.opened_searcher`.
        """
        with self._opening:
            return self._open()

    def _open_next(self) -> None:
        try:
            self._open()
        except RagError as error:
            self._failed(str(error))
        except Exception:  # noqa: BLE001  (logged; what was there still answers)
            self._failed("the new index cannot be opened")
            _LOG.exception("index_swap_failed")
        finally:
            self._opening.release()

    def _open(self) -> Searcher:
        before = self._opened
        with _ONE_AT_A_TIME:
            opened = super().opened_searcher()
        self.failure, self._not_before = "", 0.0
        if before is not None and opened is not before:
            self.swaps += 1
            before.cache.flush()
            fields = {"generation": opened.index.generation, "chunks": opened.index.chunk_count}
            _LOG.info("index_swap", extra={"fields": fields})
        return opened

    def _failed(self, reason: str) -> None:
        self.failure, self._not_before = reason, time.monotonic() + _RETRY_S
        _LOG.error("index_swap_failed", extra={"fields": {"reason": reason}})


class _InParts(RagPipeline):
    """A served pipeline that cuts questions into their parts: the index and the model are its own.

    Args:
        served: opens the index.
    """

    def __init__(self, served: ServedPipeline) -> None:
        super().__init__(replace(served.settings, decompose=True), use_cache=served.use_cache)
        self._served = served
        # by what they are made of, so that a generation that was replaced is not kept
        self._made: WeakKeyDictionary[Searcher, Searcher] = WeakKeyDictionary()

    def opened_searcher(self) -> Searcher:
        """What answers now; see `ServedPipeline.opened_searcher`."""
        opened = self._served.opened_searcher()
        made = self._made.get(opened)
        if made is None:
            made = self._made[opened] = self._served.cutting(opened)
        return made

    def _client(self) -> ChatClient | None:
        return self._served.chat_client()
