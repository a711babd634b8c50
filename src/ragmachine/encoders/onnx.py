"""Sentence encoders in ONNX files, run by onnxruntime: no PyTorch and no network."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragmachine.errors import ModelError

from .encoder import Vectors, normalise
from .runtime import (
    MODEL_FILE,
    TOKENIZER_FILE,
    OpenedModel,
    file_digest,
    first_line,
    no_model,
    open_model,
    open_tokenizer,
)

if TYPE_CHECKING:
    import tokenizers

_KIND = "sentence encoder"
_POOLED_OUTPUT = "sentence_embedding"

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Wrapping:
    """Special tokens that the model wants before and after a text."""

    before: list[int]
    after: list[int]

    @property
    def length(self) -> int:
        return len(self.before) + len(self.after)


class OnnxEncoder:
    """Mean of the token vectors of each window of a text, averaged over its windows.

    A model whose output is already one vector a window keeps its own pooling. Models that quantise
    as they run scale each batch as a whole: the same text among other neighbours may come out
    different in the third decimal. Those with weights alone in int8 do not.

    Args:
        model_path: the ``.onnx`` file.
        tokenizer_path: ``tokenizer.json`` of the tokenizers library.
        label: the model's name for people, the first part of `name`.
        window_tokens: longest input of the model, in tokens, special ones included.
        overlap_tokens: tokens that two neighbouring windows share.
        batch_size: windows that are run at once; on a processor more than a few gain nothing.
        threads: threads of one run; 0 for as many as there are cores.
        query_prefix: put before a question.
        text_prefix: put before a document.
    """

    def __init__(
        self,
        model_path: str,
        tokenizer_path: str,
        *,
        label: str = "",
        window_tokens: int = 256,
        overlap_tokens: int = 32,
        batch_size: int = 16,
        threads: int = 0,
        query_prefix: str = "",
        text_prefix: str = "",
    ) -> None:
        if window_tokens < 16 or batch_size < 1 or not 0 <= overlap_tokens < window_tokens // 2:
            raise ValueError("windows have 16 tokens or more and overlap by less than half")
        self._model_path = model_path
        self._tokenizer_path = tokenizer_path
        self._label = label or os.path.basename(os.path.dirname(os.path.abspath(model_path)))
        self._window_tokens = window_tokens
        self._overlap_tokens = overlap_tokens
        self._batch_size = batch_size
        self._threads = threads
        self._prefixes = (query_prefix, text_prefix)

    @classmethod
    def from_folder(cls, folder: str, **options: Any) -> OnnxEncoder:
        """The encoder of a folder that holds ``model.onnx`` and ``tokenizer.json``."""
        paths = (os.path.join(folder, name) for name in (MODEL_FILE, TOKENIZER_FILE))
        return cls(*paths, **options)

    @cached_property
    def name(self) -> str:
        """Label, digest of both files and prefixes, window and overlap; see `Encoder.name`."""
        digest = hashlib.sha256(repr(self._prefixes).encode())
        for path in (self._model_path, self._tokenizer_path):
            digest.update(file_digest(path))
        sizes = f"w{self._window_tokens}o{self._overlap_tokens}"
        return f"{self._label}-{digest.hexdigest()[:12]}-{sizes}"

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector; see `Encoder.dimensions`."""
        return int(self._run([[*self._wrapping.before, *self._wrapping.after] or [0]]).shape[1])

    def encode(self, texts: Sequence[str], *, max_tokens: int | None = None) -> Vectors:
        """Encode documents; see `Encoder.encode`. Special tokens count among `max_tokens`."""
        return self._encode([self._prefixes[1] + text for text in texts], max_tokens)

    def encode_query(self, text: str) -> Vectors:
        """Encode a question; see `Encoder.encode_query`."""
        vector: Vectors = self._encode([self._prefixes[0] + text], None)[0]
        return vector

    def encode_tokens(self, token_ids: Sequence[int]) -> Vectors:
        """Encode each token of the model's own vocabulary as if it were a text.

        Returns: (tokens, dimensions) float32 in the order given, each of length 1.
        """
        wrapping = self._wrapping
        rows = [[*wrapping.before, token, *wrapping.after] for token in token_ids]
        return normalise(self._run_sorted(rows))

    @cached_property
    def tokenizer(self) -> tokenizers.Tokenizer:
        """The model's tokenizer, which neither cuts nor pads."""
        return open_tokenizer(self._tokenizer_path)

    def _encode(self, texts: Sequence[str], max_tokens: int | None) -> Vectors:
        windows: list[list[int]] = []
        owners: list[int] = []
        for owner, text in enumerate(texts):
            for window in self._windows(text, max_tokens):
                windows.append(window)
                owners.append(owner)
        if not windows:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        pooled = self._run_sorted(windows)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        # The sum points where the mean does, and only the direction is kept.
        return normalise(np.add.reduceat(pooled, starts, axis=0))

    def _windows(self, text: str, max_tokens: int | None) -> Iterator[list[int]]:
        wrapping = self._wrapping
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids
        if max_tokens is not None:
            ids = ids[: max(max_tokens - wrapping.length, 1)]
        room = self._window_tokens - wrapping.length
        start = 0
        while True:
            yield [*wrapping.before, *ids[start : start + room], *wrapping.after]
            if start + room >= len(ids):
                return
            start += room - self._overlap_tokens

    def _run_sorted(self, windows: Sequence[Sequence[int]]) -> Vectors:
        """Pooled vectors of windows of any length, in their order; equal lengths run together."""
        order = sorted(range(len(windows)), key=lambda number: -len(windows[number]))
        batches = [
            order[start : start + self._batch_size]
            for start in range(0, len(order), self._batch_size)
        ]
        first = self._run([windows[number] for number in batches[0]])
        pooled = np.empty((len(windows), first.shape[1]), dtype=np.float32)
        pooled[batches[0]] = first
        for batch in batches[1:]:
            pooled[batch] = self._run([windows[number] for number in batch])
        return pooled

    def _run(self, windows: Sequence[Sequence[int]]) -> Vectors:
        """One run of the model: (windows, dimensions) float32, pooled, of any length."""
        ids = np.zeros((len(windows), max(map(len, windows))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        model = self._model
        inputs = {name: given[name].astype(kind) for name, kind in model.input_types.items()}
        try:
            (found,) = model.session.run([model.output], inputs)
        except Exception as error:  # noqa: BLE001  (the library's errors share no narrower base)
            raise ModelError(
                f"the encoder {self._label} failed: {first_line(error)}",
                remedy=f"check that {self._tokenizer_path} belongs to {self._model_path}",
            ) from None
        return _pool(found, mask, self._model_path)

    @cached_property
    def _wrapping(self) -> _Wrapping:
        """Read off a text of one letter; a text may itself spell special tokens."""
        with_special = self.tokenizer.encode("a").ids
        inner = self.tokenizer.encode("a", add_special_tokens=False).ids
        for start in range(len(with_special) - len(inner) + 1):
            if with_special[start : start + len(inner)] == inner:
                return _Wrapping(with_special[:start], with_special[start + len(inner) :])
        raise no_model(self._tokenizer_path, _KIND, "its special tokens do not surround a text")

    @cached_property
    def _model(self) -> OpenedModel:
        return open_model(
            self._model_path, threads=self._threads, output=_POOLED_OUTPUT, kind=_KIND
        )


def _pool(output: Any, mask: Ids, path: str) -> Vectors:
    """Mean over the tokens that the mask keeps; vectors already pooled pass."""
    if output.ndim == 2:
        return np.asarray(output, dtype=np.float32)
    if output.ndim != 3 or output.shape[:2] != mask.shape:
        raise no_model(path, _KIND, f"its output has the shape {output.shape}")
    weights = mask.astype(np.float32)[:, None, :]
    summed: Vectors = (weights @ np.asarray(output, dtype=np.float32))[:, 0]
    means: Vectors = summed / weights.sum(axis=2)
    return means
