"""What every encoder promises: texts in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ragmachine.errors import ModelError

Vectors = npt.NDArray[np.float32]


class EncoderUnavailableError(ModelError):
    """The encoder cannot be used now nor a moment later: not installed, missing, or no server."""


class Encoder(Protocol):
    """Anything that turns texts into vectors whose dot product is their similarity."""

    @property
    def name(self) -> str:
        """Stable identity: two encoders of one name give the same vectors, so it can be a key.

        Holds the model, a digest of its files or weights, and how long texts are cut.

        Raises: EncoderUnavailableError: the model is not there to be asked.
        """
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector.

        Raises: EncoderUnavailableError, ModelError: as `encode`.
        """
        ...

    def encode(self, texts: Sequence[str], *, max_tokens: int | None = None) -> Vectors:
        """Encode documents.

        Args:
            texts: any number, in any order; may be empty or hold empty texts.
            max_tokens: only so many tokens at the start of each text count; None for all.
        Returns: (texts, dimensions) float32, rows in the order of `texts`, each of length 1; a row
            of zeros for a text in which the encoder knows nothing.

        Raises:
            EncoderUnavailableError: not installed, missing, or no server; with its remedy.
            ModelError: the model is there and broken.
        """
        ...

    def encode_query(self, text: str) -> Vectors:
        """Encode a question, which some models want marked as one.

        Returns: (dimensions,) float32 of length 1, or zeros as `encode`.
        Raises: as `encode`.
        """
        ...


def normalise(vectors: npt.NDArray[np.floating]) -> Vectors:
    """Scale rows to length 1; rows of zeros stay.

    Args:
        vectors: (n, d) or (d,), any float type.
    Returns: float32 of the same shape.
    """
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled
