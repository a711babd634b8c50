"""Texts as vectors: encoders behind one protocol, and caches of what they made.

Rooms above receive an `Encoder` from the pipeline; they never build one themselves. Nothing heavy
is imported before an encoder encodes.
"""

from __future__ import annotations

from .cache import EncodingProgress, VectorCache, encode_cached
from .cross_encoder import OnnxCrossEncoder
from .encoder import Encoder, EncoderUnavailableError, Vectors, normalise
from .minilm import is_minilm_installed, open_minilm
from .ollama import OllamaEncoder
from .onnx import OnnxEncoder
from .query_cache import EmbeddingCache
from .static import Examples, StaticEncoder, TokenFrequencies, distill

__all__ = [
    "EmbeddingCache",
    "Encoder",
    "EncoderUnavailableError",
    "EncodingProgress",
    "Examples",
    "OllamaEncoder",
    "OnnxCrossEncoder",
    "OnnxEncoder",
    "StaticEncoder",
    "TokenFrequencies",
    "VectorCache",
    "Vectors",
    "distill",
    "encode_cached",
    "is_minilm_installed",
    "normalise",
    "open_minilm",
]
