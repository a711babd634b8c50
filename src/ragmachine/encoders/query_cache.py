"""The vectors of the last queries, in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from .encoder import Encoder, Vectors


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache has done, as `functools.lru_cache` tells it.

    Attributes:
        hits: queries answered from memory.
        misses: queries that had to be encoded.
        max_entries: queries kept at most.
        entries: queries kept now.
    """

    hits: int
    misses: int
    max_entries: int
    entries: int


class EmbeddingCache:
    """An `Encoder` that remembers its queries, least recently used out first; thread-safe.

    Two threads that ask for the same new query may both encode it: neither waits for the other.

    Args:
        encoder: does the work, documents included, which are not remembered here.
        max_entries: queries kept; 0 for none.
    """

    def __init__(self, encoder: Encoder, max_entries: int = 1024) -> None:
        self._encoder = encoder
        self._max_entries = max_entries
        self._entries: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = 0

    @property
    def name(self) -> str:
        """The encoder's name."""
        return self._encoder.name

    @property
    def dimensions(self) -> int:
        """The encoder's dimensions."""
        return self._encoder.dimensions

    def encode(self, texts: Sequence[str], *, max_tokens: int | None = None) -> Vectors:
        """Encode documents, past the cache; see `Encoder.encode`."""
        return self._encoder.encode(texts, max_tokens=max_tokens)

    def encode_query(self, text: str) -> Vectors:
        """The query's vector, read-only since others may hold it; see `Encoder.encode_query`."""
        with self._lock:
            known = self._entries.get(text)
            if known is not None:
                self._entries.move_to_end(text)
                self._hits += 1
                return known
            self._misses += 1
        vector = self._encoder.encode_query(text)
        vector.setflags(write=False)
        with self._lock:
            self._entries[text] = vector
            self._entries.move_to_end(text)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)
        return vector

    def info(self) -> CacheInfo:
        """Hits, misses and sizes so far."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, self._max_entries, len(self._entries))

    def clear(self) -> None:
        """Forget every query and start counting anew."""
        with self._lock:
            self._entries.clear()
            self._hits = self._misses = 0
