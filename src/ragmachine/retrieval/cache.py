"""The query cache: ranked chunk numbers of earlier queries, in JSON, guarded by a hash file.

It can only save time: whatever is odd about the file (damaged, of another index, half-written by
another process) makes it empty, silently. Results are keyed by everything that decides them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from typing import Any

import orjson

from ragmachine.errors import RagError
from ragmachine.index.hashes import SUFFIX, verify, write_hash
from ragmachine.index.lock import exclusive
from ragmachine.retrieval.lexical import Scored

_FORMAT = 1


class QueryCache:
    """Bounded map from a query key to ranked chunks, shared between processes through a file.

    Args:
        path: the JSON file; its folder exists.
        content_id: of the index the results belong to.
        max_entries: oldest entries go first; 0 switches the cache off.
    """

    def __init__(self, path: str, content_id: str, max_entries: int) -> None:
        self.path = path
        self.content_id = content_id
        self.max_entries = max_entries
        self._entries: dict[str, list[Any]] = self._read() if max_entries else {}
        self._added: dict[str, list[Any]] = {}

    @staticmethod
    def key(*parts: object) -> str:
        """A digest of everything that decides a result; parts must be JSON-ready."""
        return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]

    def get(self, key: str) -> list[Scored] | None:
        """The ranked chunks stored under a key."""
        rows = self._entries.get(key)
        if rows is None:
            return None
        return [Scored(chunk, score, dict(stages)) for chunk, score, stages in rows]

    def put(self, key: str, hits: Sequence[Scored]) -> None:
        """Remember a result; written at the next `flush`."""
        if self.max_entries:
            rows = [[hit.chunk, hit.score, hit.stages] for hit in hits]
            self._entries[key] = self._added[key] = rows

    def flush(self) -> None:
        """Merge what was added into the file; a folder that cannot be written is no error."""
        if not self._added:
            return
        with contextlib.suppress(OSError, RagError), exclusive(self.path + ".lock", timeout_s=1.0):
            entries = {**self._read(), **self._added}
            surplus = len(entries) - self.max_entries
            for key in list(entries)[: max(surplus, 0)]:
                del entries[key]
            document = {"format": _FORMAT, "content_id": self.content_id, "entries": entries}
            temporary = f"{self.path}.{os.getpid()}.tmp"
            with open(temporary, "wb") as stream:
                stream.write(orjson.dumps(document))
            os.replace(temporary, self.path)
            write_hash(self.path)
        self._added.clear()

    def _read(self) -> dict[str, list[Any]]:
        try:
            if not os.path.exists(self.path + SUFFIX):
                return {}
            verify([self.path])
            with open(self.path, "rb") as stream:
                document = orjson.loads(stream.read())
            is_ours = (document["format"], document["content_id"]) == (_FORMAT, self.content_id)
            return dict(document["entries"]) if is_ours else {}
        except (OSError, RagError, ValueError, KeyError, TypeError):
            return {}
