"""A static encoder: one vector a token, distilled from a sentence encoder, summed over a text.

Encoding a text is a look-up and a sum, with no model to run. Token vectors come from encoding each
token of the vocabulary once (Minish Lab's Model2Vec does the same). Given some texts and the
teacher's vectors of them, the token vectors are then moved by ridge regression so that their sums
come closer to what the teacher says of whole texts.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragmachine.errors import IndexCorruptError, StorageError

from .cache import EncodingProgress, VectorCache
from .encoder import Vectors, normalise
from .onnx import OnnxEncoder
from .runtime import TOKENIZER_FILE, open_tokenizer

if TYPE_CHECKING:
    import tokenizers

_METADATA_FILE = "static.json"
_TABLE_FILE = "table.npy"
_FORMAT = 1
_TOKENS_AT_ONCE = 2048
# Both chosen on a set of code search questions; half or twice as much changes little.
_PENALTY = 1.0
_PRIOR_LENGTH = 0.35

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TokenFrequencies:
    """How many texts of a collection hold each token.

    Attributes:
        texts: number of texts.
        holders: (vocabulary,) int64 texts that hold the token.
    """

    texts: int
    holders: Ids

    @classmethod
    def count(cls, tokenizer: tokenizers.Tokenizer, texts: Iterable[str]) -> TokenFrequencies:
        """Count the tokens of a collection."""
        holders = np.zeros(tokenizer.get_vocab_size(), dtype=np.int64)
        total = 0
        for text in texts:
            holders[_token_counts(tokenizer, text, None)[0]] += 1
            total += 1
        return cls(total, holders)

    @property
    def weights(self) -> Vectors:
        """(vocabulary,) inverse document frequency: log((1 + texts) / (1 + holders))."""
        return np.log((1 + self.texts) / (1 + self.holders)).astype(np.float32)


class StaticEncoder:
    """Sums weighted token vectors; a token's n occurrences count 1 + log n times.

    Args:
        teacher_name: `Encoder.name` of what the table was distilled from.
        table: (vocabulary, dimensions) float16 token vectors, weights multiplied in.
        tokenizer: turns a text into rows of the table.
    """

    def __init__(
        self,
        teacher_name: str,
        table: npt.NDArray[np.float16],
        tokenizer: tokenizers.Tokenizer,
    ) -> None:
        self._teacher_name = teacher_name
        self._table = table
        self._tokenizer = tokenizer

    @cached_property
    def name(self) -> str:
        """Digest of the table, dimensions, and the teacher's name; see `Encoder.name`."""
        digest = hashlib.sha256(self._table.tobytes()).hexdigest()[:12]
        return f"static{self.dimensions}-{digest}-{self._teacher_name}"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self._table.shape[1])

    def encode(self, texts: Sequence[str], *, max_tokens: int | None = None) -> Vectors:
        """Encode documents; see `Encoder.encode`."""
        summed = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            tokens, shares = _token_counts(self._tokenizer, text, max_tokens)
            summed[row] = shares @ self._table[tokens].astype(np.float32)
        return normalise(summed)

    def encode_query(self, text: str) -> Vectors:
        """Encode a question, like any text; see `Encoder.encode_query`."""
        vector: Vectors = self.encode([text])[0]
        return vector

    def save(self, folder: str) -> None:
        """Write table, tokenizer and a description into a folder, which is made if need be.

        Raises: StorageError: the disk refuses.
        """
        description = {"format": _FORMAT, "teacher": self._teacher_name, "shape": self._table.shape}
        try:
            os.makedirs(folder, exist_ok=True)
            np.save(os.path.join(folder, _TABLE_FILE), self._table, allow_pickle=False)
            for name, text in (
                (TOKENIZER_FILE, self._tokenizer.to_str()),
                (_METADATA_FILE, json.dumps(description)),
            ):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
                    stream.write(text)
        except OSError as error:
            raise StorageError(
                f"cannot write to {folder}: {error.strerror or error}",
                remedy="free some space or choose another folder",
            ) from error

    @classmethod
    def load(cls, folder: str) -> StaticEncoder:
        """Open what `save` wrote, the table memory-mapped.

        Raises:
            IndexCorruptError: a file is missing or not what was written; names it.
            EncoderUnavailableError: the tokenizers library is not installed.
        """
        path = os.path.join(folder, _METADATA_FILE)
        try:
            with open(path, encoding="utf-8") as stream:
                description = json.load(stream)
            teacher, shape = str(description["teacher"]), tuple(description["shape"])
            if description["format"] != _FORMAT:
                raise ValueError("another format")
            path = os.path.join(folder, _TABLE_FILE)
            table = np.load(path, mmap_mode="r", allow_pickle=False)
            if table.dtype != np.float16 or table.shape != shape:
                raise ValueError("not the table that was written")
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise IndexCorruptError(
                f"{path} is missing or is not what was written", remedy="distill the encoder again"
            ) from error
        return cls(teacher, table, open_tokenizer(os.path.join(folder, TOKENIZER_FILE)))


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts and what the teacher says of them; 1,000 to 2,000 of a collection are enough.

    Attributes:
        texts: the texts, at least one.
        vectors: (texts, teacher's dimensions) of any float type.
    """

    texts: Sequence[str]
    vectors: npt.NDArray[np.floating[Any]]


def distill(
    teacher: OnnxEncoder,
    frequencies: TokenFrequencies,
    *,
    dimensions: int | None = 256,
    examples: Examples | None = None,
    cache: VectorCache | None = None,
    on_progress: Callable[[EncodingProgress], None] | None = None,
) -> StaticEncoder:
    """Make a static encoder for one collection.

    Args:
        teacher: the encoder to learn from; its vocabulary is encoded once, which takes half a
            minute for 30,000 tokens.
        frequencies: of the collection, by the teacher's tokenizer.
        dimensions: principal components kept; None for all, in the teacher's own space, so that
            the teacher's vectors of questions can be compared with static ones of documents.
        examples: pulls the table towards the teacher's vectors of whole texts.
        cache: of the teacher; keeps the vectors of the vocabulary for the next collection.
        on_progress: told of the vocabulary's encoding.
    Raises: as `Encoder.encode`; StorageError; ValueError: the frequencies are of another tokenizer.
    """
    tokens = _encode_vocabulary(teacher, cache, on_progress)
    if len(tokens) != len(frequencies.holders):
        raise ValueError("the frequencies count the tokens of another tokenizer")
    # All tokens share a direction, that of a short text, which says nothing about any of them.
    vectors = normalise(tokens - tokens.mean(axis=0))
    weights = frequencies.weights
    if examples is not None:
        vectors = _fit(_PRIOR_LENGTH * vectors, weights, teacher.tokenizer, examples)
    table = weights[:, None] * vectors
    if dimensions is not None and dimensions < table.shape[1]:
        seen = table[frequencies.holders > 0]
        table = table @ np.linalg.eigh(seen.T @ seen)[1][:, : -dimensions - 1 : -1]
    return StaticEncoder(teacher.name, table.astype(np.float16), teacher.tokenizer)


def _fit(
    prior: Vectors, weights: Vectors, tokenizer: tokenizers.Tokenizer, examples: Examples
) -> Vectors:
    """Token vectors whose weighted sums come close to the examples' vectors, less their mean.

    Ridge regression towards the prior, solved in its dual form: there are far fewer examples than
    tokens.
    """
    counted = [_token_counts(tokenizer, text, None) for text in examples.texts]
    used = np.unique(np.concatenate([tokens for tokens, _ in counted]))
    design = np.zeros((len(counted), len(used)), dtype=np.float32)
    for row, (tokens, shares) in enumerate(counted):
        design[row, np.searchsorted(used, tokens)] = shares * weights[tokens]
    design = normalise(design)
    wanted = np.asarray(examples.vectors, dtype=np.float32)
    missing = wanted - wanted.mean(axis=0) - design @ prior[used]
    gram = design @ design.T + _PENALTY * np.eye(len(design), dtype=np.float32)
    fitted = prior.copy()
    fitted[used] += design.T @ np.linalg.solve(gram, missing)
    return fitted


def _encode_vocabulary(
    teacher: OnnxEncoder,
    cache: VectorCache | None,
    on_progress: Callable[[EncodingProgress], None] | None,
) -> Vectors:
    size = teacher.tokenizer.get_vocab_size()
    keys = [hashlib.sha256(f"\0token {token}".encode()).digest() for token in range(size)]
    found = np.zeros((size, teacher.dimensions), dtype=np.float16)
    is_known = np.zeros(size, dtype=np.bool_)
    if cache is not None:
        cache.refresh()
        found, is_known = cache.get(keys)
    new = np.flatnonzero(~is_known)
    started = time.perf_counter()
    for start in range(0, len(new), _TOKENS_AT_ONCE):
        batch = new[start : start + _TOKENS_AT_ONCE]
        found[batch] = teacher.encode_tokens(batch.tolist())
        if cache is not None:
            cache.put([keys[token] for token in batch], found[batch])
        if on_progress:
            done, seconds = start + len(batch), time.perf_counter() - started
            left = seconds / done * (len(new) - done)
            on_progress(EncodingProgress(done, len(new), done / seconds, left))
    return found.astype(np.float32)


def _token_counts(
    tokenizer: tokenizers.Tokenizer, text: str, max_tokens: int | None
) -> tuple[Ids, Vectors]:
    """The distinct tokens of a text, ascending, and 1 + log of how often each occurs."""
    ids = tokenizer.encode(text, add_special_tokens=False).ids[:max_tokens]
    tokens, counts = np.unique(np.array(ids, dtype=np.int64), return_counts=True)
    return tokens, (1 + np.log(counts)).astype(np.float32)
