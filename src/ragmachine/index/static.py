"""The static encoder of one index: distilled from a sentence encoder on the index's own chunks.

A minute instead of many: the sentence encoder reads its vocabulary and a sample of the chunks,
and a table that imitates it encodes all of them, and every question, in no time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ragmachine.encoders.cache import EncodingProgress, VectorCache, encode_cached
from ragmachine.encoders.encoder import EncoderUnavailableError
from ragmachine.encoders.static import Examples, StaticEncoder, TokenFrequencies, distill
from ragmachine.index.excerpts import EXCERPT_TOKENS, excerpts_of

if TYPE_CHECKING:
    from ragmachine.encoders.onnx import OnnxEncoder
    from ragmachine.index.dense import DenseStore
    from ragmachine.index.reader import Index

_FOLDER = "static"
# Measured on code search questions: 1,000 gave nDCG@10 .479, 2,000 .499, none .331.
_EXAMPLES = 2000


def static_encoder(store: DenseStore) -> StaticEncoder:
    """The static encoder of an index folder.

    Raises: EncoderUnavailableError: none was made, or tokenizers is not installed;
        IndexCorruptError: it is not what was made.
    """
    folder = os.path.join(store.folder, _FOLDER)
    if not os.path.isdir(folder):
        raise EncoderUnavailableError(
            "no static encoder was made for this index",
            remedy="make it: `ragmachine index --bonus y --encoder static`",
        )
    return StaticEncoder.load(folder)


def make_static_encoder(
    store: DenseStore,
    index: Index,
    teacher: OnnxEncoder,
    *,
    on_progress: Callable[[EncodingProgress], None] | None = None,
) -> StaticEncoder:
    """Distill a static encoder on an index's chunks, and keep it beside its vectors.

    Args:
        store: the vectors of the index folder.
        index: the opened index; every so many of its excerpts is an example, 2,000 at most.
        teacher: the sentence encoder.
        on_progress: told of the examples first, then of the vocabulary.
    Raises: IndexBusyError: another process is at it; StorageError; as `Encoder.encode`.
    """
    with store.writing():
        cache = VectorCache(store.folder, teacher.name, teacher.dimensions)
        everything = excerpts_of(index).texts
        step = max(1, -(-len(everything) // _EXAMPLES))
        texts = [text for text in everything[::step] if text]
        vectors = encode_cached(
            teacher, texts, cache, max_tokens=EXCERPT_TOKENS, on_progress=on_progress
        )
        encoder = distill(
            teacher,
            TokenFrequencies.count(teacher.tokenizer, everything),
            dimensions=None,
            examples=Examples(texts, vectors) if texts else None,
            cache=cache,
            on_progress=on_progress,
        )
        encoder.save(os.path.join(store.folder, _FOLDER))
    return encoder
