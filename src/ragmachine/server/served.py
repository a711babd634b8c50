"""The pipeline that all requests share: asked by many threads, and never seen half-changed."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from ragmachine.errors import RagError
from ragmachine.pipeline import RagPipeline
from ragmachine.server.logs import LOGGER

if TYPE_CHECKING:
    from ragmachine.retrieval.searcher import Searcher
    from ragmachine.settings import Settings

_LOG = logging.getLogger(LOGGER)
_RETRY_S = 5.0


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
