"""The query cache: ranked chunk numbers of earlier queries, in JSON, guarded by a hash file.

It can only save time: whatever is odd about the file (damaged, of another index, half-written by
another process) makes it empty, silently. Results are keyed by everything that decides them.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
from collections.abc import Sequence
from typing import Any

import orjson

from ragmachine.errors import RagError
from ragmachine.index.files import replace_file
from ragmachine.index.hashes import SUFFIX, verify, write_hash
from ragmachine.index.lock import exclusive
from ragmachine.retrieval.ranking import Scored

_FORMAT = 2


class QueryCache:
    """Bounded map from a query key to ranked chunks, shared between processes through a file.

    Args:
        path: the JSON file; its folder exists.
        index_id: of the index the results belong to; another index has another.
        max_entries: in memory and on disk; oldest entries go first, 0 switches the cache off.
    """

    def __init__(self, path: str, index_id: str, max_entries: int) -> None:
        self.path = path
        self.index_id = index_id
        self.max_entries = max_entries
        self._entries: dict[str, list[Any]] = self._read() if max_entries else {}
        self._added: dict[str, list[Any]] = {}

    @staticmethod
    def key(*parts: object) -> str:
        """A digest of everything that decides a result; parts must be JSON-ready."""
        return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]

    def get(self, key: str) -> list[Scored] | None:
        """The ranked chunks stored under a key; None when there are none, or no usable ones."""
        try:
            return [_scored(*row) for row in self._entries[key]]
        except (KeyError, TypeError, ValueError):
            return None

    def put(self, key: str, hits: Sequence[Scored]) -> None:
        """Remember a result; written at the next `flush`."""
        if self.max_entries:
            rows = [[hit.chunk, hit.score, hit.stages] for hit in hits]
            self._entries[key] = self._added[key] = rows
            self._drop_oldest(self._entries)
            self._drop_oldest(self._added)

    def flush(self) -> None:
        """Merge what was added into the file; a folder that cannot be written is no error."""
        if not self._added:
            return
        with contextlib.suppress(OSError, RagError), exclusive(self.path + ".lock", timeout_s=1.0):
            entries = {**self._read(), **self._added}
            self._drop_oldest(entries)
            document = {"format": _FORMAT, "index_id": self.index_id, "entries": entries}
            replace_file(self.path, orjson.dumps(document))
            write_hash(self.path)
        self._added.clear()

    def _drop_oldest(self, entries: dict[str, list[Any]]) -> None:
        surplus = len(entries) - self.max_entries
        for key in list(itertools.islice(entries, max(surplus, 0))):
            entries.pop(key, None)

    def _read(self) -> dict[str, list[Any]]:
        try:
            if not os.path.exists(self.path + SUFFIX):
                return {}
            verify([self.path])
            with open(self.path, "rb") as stream:
                document = orjson.loads(stream.read())
            is_ours = (document["format"], document["index_id"]) == (_FORMAT, self.index_id)
            return dict(document["entries"]) if is_ours else {}
        except (OSError, RagError, ValueError, KeyError, TypeError):
            return {}


def _scored(chunk: Any, score: Any, stages: Any) -> Scored:
    if not (isinstance(chunk, int) and isinstance(score, float) and isinstance(stages, dict)):
        raise TypeError("a row of the query cache is a chunk, its score and its stages")
    return Scored(chunk, score, stages)
