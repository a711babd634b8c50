"""Makes the vectors of an index's chunks, after the lexical index answers.

Whoever is interrupted loses seconds, and whatever is done already answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ragmachine.encoders.cache import EncodingProgress, VectorCache, encode_cached
from ragmachine.index.dense import DenseStore
from ragmachine.index.excerpts import EXCERPT_TOKENS, excerpts_of

if TYPE_CHECKING:
    from ragmachine.encoders.encoder import Encoder
    from ragmachine.index.reader import Index

_FIRST_PUBLICATION_S = 15.0
_SLICE_TEXTS = 512


@dataclass(frozen=True, slots=True)
class DenseProgress:
    """How far an embedding run has come.

    Attributes:
        done: excerpts that have a vector; the heads of all chunks come first.
        total: excerpts of the index.
        seconds_left: estimated from this run's own speed; None before the first batch.
    """

    done: int
    total: int
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class DenseReport:
    """What an embedding run did.

    Attributes:
        encoder: `Encoder.name`.
        chunks: chunks of the index.
        excerpts: texts of theirs that have a vector each.
        encoded: texts that had to be encoded; equal texts count once.
        seconds: of the whole run.
        bytes: size of the vectors that answer.
    """

    encoder: str
    chunks: int
    excerpts: int
    encoded: int
    seconds: float
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """The report as ``index --json`` prints it."""
        return {
            "encoder": self.encoder,
            "chunks": self.chunks,
            "excerpts": self.excerpts,
            "encoded": self.encoded,
            "seconds": round(self.seconds, 3),
            "bytes": self.bytes,
        }


def embed_index(
    store: DenseStore,
    index: Index,
    encoder: Encoder,
    *,
    order: Sequence[int] | None = None,
    on_progress: Callable[[DenseProgress], None] | None = None,
) -> DenseReport:
    """Encode what has no vector yet, publishing what is done now and then, and at the end.

    Args:
        store: the vectors of the index folder.
        index: the opened index.
        encoder: makes the vectors.
        order: chunk numbers, those to encode first in front; by default in index order. Whatever
            it is, the heads of all chunks come before what follows them.
        on_progress: called after each batch.
    Raises: IndexBusyError: another process is at it; StorageError; as `Encoder.encode`.
    """
    started = time.monotonic()
    with store.writing():
        cache = VectorCache(store.folder, encoder.name, encoder.dimensions)
        run = _Run(store, index, encoder, cache, on_progress)
        run.encode(list(range(index.chunk_count)) if order is None else list(order))
        size = run.publish(is_last=True)
    seconds = time.monotonic() - started
    return DenseReport(encoder.name, index.chunk_count, run.total, run.encoded, seconds, size)


def refresh_vectors(store: DenseStore, index: Index) -> int:
    """Give a new generation the vectors that are there already; nothing is encoded.

    Returns: excerpts without a vector; 0 where no vectors were ever built.
    Raises: IndexBusyError, StorageError.
    """
    state = store.state()
    if state is None:
        return 0
    with store.writing():
        cache = VectorCache(store.folder, state["encoder"], state["dimensions"])
        excerpts = excerpts_of(index)
        vectors, is_known = cache.get(excerpts.keys)
        store.publish(index, state["encoder"], vectors, excerpts.first)
    return int(np.count_nonzero(~is_known))


class _Run:
    """One run over one opened index; call while writing."""

    def __init__(
        self,
        store: DenseStore,
        index: Index,
        encoder: Encoder,
        cache: VectorCache,
        on_progress: Callable[[DenseProgress], None] | None,
    ) -> None:
        self.encoded = 0
        self._store = store
        self._index = index
        self._encoder = encoder
        self._cache = cache
        self._excerpts = excerpts_of(index)
        self._on_progress = on_progress
        self._keys = self._excerpts.keys

    @property
    def total(self) -> int:
        """Number of excerpts."""
        return len(self._keys)

    def encode(self, chunks: list[int]) -> None:
        """Encode the chunks in slices, in this order, and publish at growing intervals."""
        order = self._excerpts.ordered(chunks)
        missing = [number for number in order if self._keys[number] not in self._cache]
        done = len(order) - len(missing)
        began = published = time.monotonic()
        interval_s = _FIRST_PUBLICATION_S
        for start in range(0, len(missing), _SLICE_TEXTS):
            numbers = missing[start : start + _SLICE_TEXTS]
            before = len(self._cache)
            encode_cached(
                self._encoder,
                [self._excerpts.texts[number] for number in numbers],
                self._cache,
                max_tokens=EXCERPT_TOKENS,
                on_progress=self._batches(done, start, len(missing), began),
            )
            self.encoded += len(self._cache) - before
            done += len(numbers)
            if time.monotonic() - published > interval_s:
                self.publish(is_last=False)
                published, interval_s = time.monotonic(), interval_s * 2

    def publish(self, *, is_last: bool) -> int:
        """Publish what the cache holds. Returns: bytes."""
        vectors, _ = self._cache.get(self._keys)
        return self._store.publish(
            self._index, self._encoder.name, vectors, self._excerpts.first, is_last=is_last
        )

    def _batches(
        self, done: int, start: int, missing: int, began: float
    ) -> Callable[[EncodingProgress], None] | None:
        report = self._on_progress
        if report is None:
            return None

        def step(batch: EncodingProgress) -> None:
            in_run = start + batch.done
            elapsed = time.monotonic() - began
            left = elapsed / in_run * (missing - in_run) if in_run else None
            report(DenseProgress(done + batch.done, self.total, left))

        return step
