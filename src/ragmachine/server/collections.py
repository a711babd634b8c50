"""The indexes that lie side by side: the server's own, and others while they are asked for."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Any

from ragmachine.server.problems import ProblemError
from ragmachine.server.served import ServedPipeline
from ragmachine.wiring.collections import collection_names, settings_of
from ragmachine.wiring.health import collections

_MOST_NAMED = 20


class Collections:
    """Pipelines by the name of their index; safe to share between threads.

    A name is None for the server's own index, and "" for the one without a name.

    Args:
        own: of the index that the server was started for; never closed.
        most: others that are kept open; for one more, the one goes that was not asked longest.
    """

    def __init__(self, own: ServedPipeline, most: int) -> None:
        self.own = own
        self._most = most
        self._opened: OrderedDict[str, ServedPipeline] = OrderedDict()  # asked last comes last
        self._lock = threading.Lock()
        self._opening = threading.Lock()

    def at_hand(self, name: str | None) -> ServedPipeline | None:
        """A pipeline that is open; None where `open` has to look, which takes longer."""
        if name is None or name == self.own.settings.collection:
            return self.own
        with self._lock:
            found = self._opened.get(name)
            if found is None:
                return None
            if found.store.current() is None:  # removed meanwhile
                del self._opened[name]
                return None
            self._opened.move_to_end(name)
            return found

    def open(self, name: str | None) -> ServedPipeline:
        """A pipeline whose index is open.

        Raises: ProblemError: 404, there is no such index; UsageError: this cannot be a name; and
            as `RagPipeline.opened_searcher`.
        """
        with self._opening:
            if found := self.at_hand(name):
                return found
            pipeline = self.new(name)
            if pipeline.store.current() is None:
                raise self._unknown(pipeline.settings.collection)
            pipeline.refresh()
            self._keep(pipeline)
            return pipeline

    def open_or_new(self, name: str | None) -> ServedPipeline:
        """A pipeline whose index is open, or is to be made.

        Raises: as `open`, save that an index need not be there.
        """
        if found := self.at_hand(name):
            return found
        pipeline = self.new(name)
        return pipeline if pipeline.store.current() is None else self.open(name)

    def new(self, name: str | None) -> ServedPipeline:
        """A pipeline that has opened nothing yet.

        Raises: UsageError: this cannot be a name.
        """
        own = self.own.settings
        settings = settings_of(own, own.collection if name is None else name)
        return ServedPipeline(settings, use_cache=self.own.use_cache)

    def refresh(self, name: str) -> None:
        """Have an index answer from its newest generation, if it is open at all."""
        if pipeline := self.at_hand(name):
            pipeline.refresh()

    def opened(self) -> list[ServedPipeline]:
        """The pipelines whose indexes may be open, the server's own first."""
        with self._lock:
            return [self.own, *self._opened.values()]

    def names(self) -> list[str]:
        """Names of the indexes that are there, "" for the one without."""
        return collection_names(self.own.settings)

    def to_json(self) -> dict[str, Any]:
        """The indexes as a document; where they lie is nobody's business."""
        names = self.names()
        rows = [one.to_json() for one in collections(self.own.settings) if one.name in names]
        for row in rows:
            folder = os.path.join(row.pop("index_dir"), "")
            if row.get("problem"):
                row["problem"] = row["problem"].replace(folder, "")
        return {"collections": rows, "default": self.own.settings.collection}

    def _keep(self, pipeline: ServedPipeline) -> None:
        with self._lock:
            self._opened[pipeline.settings.collection] = pipeline
            surplus = max(len(self._opened) - self._most, 0)
            closed = [self._opened.popitem(last=False)[1] for _ in range(surplus)]
        for one in closed:
            one.close()

    def _unknown(self, name: str) -> ProblemError:
        known = [repr(one) for one in self.names() if one]
        more = ["…"] if len(known) > _MOST_NAMED else []
        named = ", ".join(known[:_MOST_NAMED] + more)
        return ProblemError(
            404,
            "unknown_collection",
            f"there is no collection {name!r}",
            remedy=f"leave it out, or use one of these: {named}" if named else "leave it out",
        )
