"""An encoder without a model: words hashed into a few dimensions; counts what it is asked."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from ragmachine.encoders import Vectors, normalise


class ToyEncoder:
    """Sums one random direction a word; words that `synonyms` joins share theirs.

    Args:
        synonyms: word to the word it means.
        name: `Encoder.name`.
        fail_after: raise KeyboardInterrupt once so many texts were encoded.
    """

    dimensions = 64

    def __init__(
        self,
        synonyms: Mapping[str, str] | None = None,
        *,
        name: str = "toy",
        fail_after: int | None = None,
    ) -> None:
        self.name = name
        self.encoded: list[str] = []
        self._synonyms = dict(synonyms or {})
        self._fail_after = fail_after

    def encode(self, texts: Sequence[str], *, max_tokens: int | None = None) -> Vectors:
        """Encode documents."""
        if self._fail_after is not None and len(self.encoded) >= self._fail_after:
            raise KeyboardInterrupt
        self.encoded.extend(texts)
        return np.stack([self._vector(text, max_tokens) for text in texts])

    def encode_query(self, text: str) -> Vectors:
        """Encode a question."""
        return self._vector(text, None)

    def _vector(self, text: str, max_tokens: int | None) -> Vectors:
        words = re.findall(r"\w+", text.lower())[:max_tokens]
        total = np.zeros(self.dimensions)
        for word in words:
            seed = zlib.crc32(self._synonyms.get(word, word).encode())
            total += np.random.default_rng(seed).standard_normal(self.dimensions)
        return normalise(total)
