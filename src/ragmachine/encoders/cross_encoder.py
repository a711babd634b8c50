"""Cross-encoders in ONNX files: a question and a text are read together and get one score."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragmachine.errors import ModelError

from .runtime import (
    KNOWN_INPUTS,
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
    import onnxruntime
    import tokenizers

Scores = npt.NDArray[np.float32]

_KIND = "cross-encoder"
_LOGITS = "logits"
_SILENT = 4  # onnxruntime's level for fatal errors: a run stopped on purpose is no error


class OnnxCrossEncoder:
    """Relevance of texts to a question, by a model that reads each pair as one input.

    Models quantised to int8 scale each batch as a whole: the same pair among other neighbours may
    come out different in the third decimal.

    Args:
        model_path: the ``.onnx`` file of a model with one or two logits a pair.
        tokenizer_path: ``tokenizer.json`` of the tokenizers library.
        label: the model's name for people, the first part of `name`.
        max_tokens: longest input of the model, in tokens, special ones included.
        batch_size: pairs that are run at once, at most.
        threads: threads of one run; 0 for as many as there are cores.
    Source: Nogueira & Cho, "Passage Re-ranking with BERT", 2019.
    """

    def __init__(
        self,
        model_path: str,
        tokenizer_path: str,
        *,
        label: str = "",
        max_tokens: int = 512,
        batch_size: int = 16,
        threads: int = 0,
    ) -> None:
        if max_tokens < 16 or batch_size < 1:
            raise ValueError("a pair has room for 16 tokens or more, a batch for one pair or more")
        self._model_path = model_path
        self._tokenizer_path = tokenizer_path
        self._label = label or os.path.basename(os.path.dirname(os.path.abspath(model_path)))
        self._max_tokens = max_tokens
        self._batch_size = batch_size
        self._threads = threads

    @classmethod
    def from_folder(cls, folder: str, **options: Any) -> OnnxCrossEncoder:
        """The cross-encoder of a folder that holds ``model.onnx`` and ``tokenizer.json``."""
        paths = (os.path.join(folder, name) for name in (MODEL_FILE, TOKENIZER_FILE))
        return cls(*paths, **options)

    @cached_property
    def name(self) -> str:
        """Stable identity: label, digest of both files, and how long a pair may be.

        Raises: EncoderUnavailableError: a file is missing.
        """
        digest = hashlib.sha256()
        for path in (self._model_path, self._tokenizer_path):
            digest.update(file_digest(path))
        return f"{self._label}-{digest.hexdigest()[:12]}-t{self._max_tokens}"

    def open(self) -> None:
        """Load model and tokenizer now, so that no deadline pays for it.

        Raises: as `scores`.
        """
        _ = self._tokenizer, self._model

    def scores(self, query: str, texts: Sequence[str], *, deadline: float | None = None) -> Scores:
        """Score how well each text answers the query.

        Texts are scored in the order given, in batches of 1, 2, 4 and so on up to `batch_size`:
        whatever the deadline, those that were scored are the first ones. A batch that is running
        when the deadline comes is broken off. Only texts are cut to fit, at their end, except that
        a query takes up half of the room at most.

        Args:
            query: any text.
            texts: most promising first; may be empty or hold empty texts.
            deadline: in seconds of `time.monotonic`; None for as long as it takes.
        Returns: (texts,) float32, higher for more relevant, on the model's own scale: its logit,
            or the second logit less the first. NaN where the deadline came first.
        Raises: EncoderUnavailableError: not installed, or a file is missing; with its remedy.
            ModelError: the files are there and no cross-encoder, or do not belong together.
        """
        scores = np.full(len(texts), np.nan, dtype=np.float32)
        if not texts:
            return scores
        self.open()
        asked = self._asked(query)
        with _stopped_at(deadline) as run_options:
            for start, end in _batches(len(texts), self._batch_size):
                if deadline is not None and time.monotonic() >= deadline:
                    break
                pairs = [self._pair(asked, text) for text in texts[start:end]]
                found = self._run(pairs, run_options)
                if found is None:
                    break
                scores[start:end] = found
        return scores

    @cached_property
    def _room(self) -> int:
        """Tokens of query and text together."""
        return self._max_tokens - self._tokenizer.num_special_tokens_to_add(True)

    def _asked(self, query: str) -> tokenizers.Encoding:
        """The query, cut at half of the room."""
        most = self._room // 2
        asked = self._tokenizer.encode(query, add_special_tokens=False)
        if len(asked) > most:
            # Anew without the rest: it would be kept, and joined with the rest of every text.
            head = query[: asked.offsets[most][0]]
            asked = self._tokenizer.encode(head, add_special_tokens=False)
            asked.truncate(most)
        return asked

    def _pair(self, asked: tokenizers.Encoding, text: str) -> tokenizers.Encoding:
        """Query and text as the tokenizer's own template joins them."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        encoding.truncate(self._room - len(asked))
        return self._tokenizer.post_process(asked, encoding)

    def _run(
        self, pairs: Sequence[tokenizers.Encoding], run_options: onnxruntime.RunOptions
    ) -> Scores | None:
        """One run of the model: (pairs,) scores; None when it was broken off."""
        shape = (len(pairs), max(map(len, pairs)))
        given = {name: np.zeros(shape, dtype=np.int64) for name in KNOWN_INPUTS}
        for row, pair in enumerate(pairs):
            given["input_ids"][row, : len(pair)] = pair.ids
            given["attention_mask"][row, : len(pair)] = pair.attention_mask
            given["token_type_ids"][row, : len(pair)] = pair.type_ids
        model = self._model
        inputs = {name: given[name].astype(kind) for name, kind in model.input_types.items()}
        try:
            (found,) = model.session.run([model.output], inputs, run_options)
        except Exception as error:  # noqa: BLE001  (the library's errors share no narrower base)
            if run_options.terminate:
                return None
            raise ModelError(
                f"the cross-encoder {self._label} failed: {first_line(error)}",
                remedy=f"check that {self._tokenizer_path} belongs to {self._model_path}",
            ) from None
        return _relevance(np.asarray(found), len(pairs), self._model_path)

    @cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        return open_tokenizer(self._tokenizer_path, _KIND)

    @cached_property
    def _model(self) -> OpenedModel:
        return open_model(self._model_path, threads=self._threads, output=_LOGITS, kind=_KIND)


def _batches(count: int, largest: int) -> Iterator[tuple[int, int]]:
    """Start and end of batches that double in size, so that the first score comes early."""
    start, size = 0, 1
    while start < count:
        end = min(start + size, count)
        yield start, end
        start, size = end, min(2 * size, largest)


@contextmanager
def _stopped_at(deadline: float | None) -> Iterator[onnxruntime.RunOptions]:
    """Options of runs that onnxruntime breaks off between two operators when the time comes."""
    import onnxruntime

    options = onnxruntime.RunOptions()
    options.log_severity_level = _SILENT
    if deadline is None:
        yield options
        return
    seconds = min(max(deadline - time.monotonic(), 0.0), threading.TIMEOUT_MAX)
    timer = threading.Timer(seconds, setattr, (options, "terminate", True))
    timer.daemon = True
    timer.start()
    try:
        yield options
    finally:
        timer.cancel()


def _relevance(output: npt.NDArray[Any], count: int, path: str) -> Scores:
    """One number a pair: the only logit, or by how much the second exceeds the first."""
    rows: npt.NDArray[Any] = output[:, None] if output.ndim == 1 else output
    if rows.ndim != 2 or len(rows) != count or rows.shape[1] not in (1, 2):
        raise no_model(path, _KIND, f"its output has the shape {output.shape}")
    relevance: Scores = rows[:, -1].astype(np.float32)
    if rows.shape[1] > 1:
        relevance -= rows[:, 0].astype(np.float32)
    if not np.isfinite(relevance).all():
        raise ModelError(
            f"the cross-encoder {path} gave what is no number",
            remedy="use the model's weights in full precision",
        )
    return relevance
