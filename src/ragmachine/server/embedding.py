"""Vectors for clients: the encoder of the settings, asked one batch at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ragmachine.server.problems import ProblemError

if TYPE_CHECKING:
    from ragmachine.encoders import Encoder, Vectors
    from ragmachine.pipeline import RagPipeline

_MOST_WAITING = 16


class Embedder:
    """Encodes texts in a thread of its own, so that no search waits for it.

    Args:
        pipeline: its settings name the encoder.
    """

    def __init__(self, pipeline: RagPipeline) -> None:
        self._pipeline = pipeline
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._encoder: Encoder | None = None
        self._waiting = 0

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, (texts, dimensions).

        Raises: EncoderUnavailableError: there is no encoder; ModelError: it fails;
            ProblemError: 503, too many wait.
        """
        if self._waiting >= _MOST_WAITING:
            raise ProblemError(
                503,
                "queue_full",
                "too many texts are waiting to be encoded",
                remedy="ask again in a moment",
                headers={"Retry-After": "2"},
            )
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, self._encode, list(texts))
        finally:
            self._waiting -= 1

    def _encode(self, texts: list[str]) -> Vectors:
        if self._encoder is None:
            from ragmachine.wiring.dense import make_encoder

            self._encoder = make_encoder(self._pipeline.settings, self._pipeline.store)
        return self._encoder.encode(texts)
