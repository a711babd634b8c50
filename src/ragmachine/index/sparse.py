"""Postings to BM25 score matrices, served by bm25s's numpy backend and memory-mapped.

bm25s builds its matrix one document at a time in Python; the same numbers come out of whole-column
arithmetic here in a fraction of the time, and are handed to a `bm25s.BM25` object, which stores
and sums them. Tests hold both against a plain-Python BM25.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragmachine.index.bm25 import Bm25
from ragmachine.index.files import damage
from ragmachine.index.postings import Ints

if TYPE_CHECKING:
    import bm25s

VOCABULARY_FILE = "vocab.index.json"
_MAPPED = ("data", "indices", "indptr")

Floats = npt.NDArray[np.float32]


def bm25_matrix(
    postings: tuple[Ints, Ints, Ints], items: int, terms: int, bm25: Bm25
) -> dict[str, Any]:
    """The BM25 score of every posting, as bm25s's CSC arrays.

    Returns: ``data`` (float32), ``indices`` (int32 items), ``indptr`` (int64 of terms + 1),
        ``num_docs``.
    """
    term, item, count = postings
    indptr = np.zeros(terms + 1, dtype=np.int64)
    np.cumsum(np.bincount(term, minlength=terms), out=indptr[1:])
    idf = bm25.idf(np.diff(indptr), items).astype(np.float32)
    length = np.bincount(item, weights=count, minlength=items)
    mean_length = float(length.mean()) if items and length.any() else 1.0
    norm = bm25.norm(length, mean_length).astype(np.float32)
    score = bm25.gain(count.astype(np.float32), norm[item])
    score *= idf[term]
    return {"data": score, "indices": item.astype(np.int32), "indptr": indptr, "num_docs": items}


def import_bm25s() -> Any:
    """Import bm25s without tqdm's notebook and asyncio front ends, which it never shows here."""
    known = "DISABLE_TQDM" in os.environ
    os.environ.setdefault("DISABLE_TQDM", "1")
    try:
        import bm25s
    finally:
        if not known:
            os.environ.pop("DISABLE_TQDM", None)
    return bm25s


def retriever(matrix: dict[str, Any]) -> bm25s.BM25:
    """A bm25s object over a score matrix, of whatever variant: it stores and sums finished scores.

    Its own parameters stay at its defaults; the manifest says which variant made the scores.
    """
    model = import_bm25s().BM25(method="lucene", backend="numpy")
    model.scores = matrix
    model.nonoccurrence_array = None
    model.vocab_dict = {}
    return model


def save_retriever(matrix: dict[str, Any], folder: str, terms: list[str] | None) -> None:
    """Write a matrix in bm25s's own layout; the vocabulary only where `terms` are given."""
    model = retriever(matrix)
    model.vocab_dict = {term: number for number, term in enumerate(terms or ())}
    model.save(folder, show_progress=False)
    if terms is None:
        os.remove(os.path.join(folder, VOCABULARY_FILE))


def load_retriever(folder: str) -> bm25s.BM25:
    """A saved matrix, memory-mapped and read-only; its vocabulary is loaded by the reader.

    Raises: IndexCorruptError: missing, or not what `save_retriever` writes; never unpickled.
    """
    bm25s = import_bm25s()
    with damage(folder):
        model = bm25s.BM25.load(folder, mmap=True, load_vocab=False, show_progress=False)
        # a memory map answers each look-up slowly, the array below it at once
        model.scores |= {name: np.asarray(model.scores[name]) for name in _MAPPED}
    model.nonoccurrence_array = None
    return model
