"""The memory of query vectors."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from ragmachine.encoders import EmbeddingCache, Vectors


class Counting:
    """Encodes a text as its length, and remembers what it was asked."""

    name = "counting"
    dimensions = 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str], *, max_tokens: int | None = None) -> Vectors:
        """Documents: their lengths, cut."""
        return np.array([[len(text[:max_tokens])] for text in texts], dtype=np.float32)

    def encode_query(self, text: str) -> Vectors:
        """A question: its length."""
        self.asked.append(text)
        return np.array([len(text)], dtype=np.float32)


def test_a_query_is_encoded_once() -> None:
    """The second time the very same vector comes from memory."""
    encoder = Counting()
    cache = EmbeddingCache(encoder)
    assert cache.encode_query("abc") is cache.encode_query("abc")
    assert encoder.asked == ["abc"]
    info = cache.info()
    assert (info.hits, info.misses, info.entries, info.max_entries) == (1, 1, 1, 1024)


def test_the_least_recently_used_goes_first() -> None:
    """Of a, b, then a again, it is b that makes room for c."""
    encoder = Counting()
    cache = EmbeddingCache(encoder, max_entries=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cache.encode_query(text)
    assert encoder.asked == ["a", "b", "c", "b"]


def test_no_memory_at_all() -> None:
    """With no entries allowed every query is encoded, and nothing is kept."""
    encoder = Counting()
    cache = EmbeddingCache(encoder, max_entries=0)
    assert [cache.encode_query("a")[0] for _ in range(2)] == [1, 1]
    assert encoder.asked == ["a", "a"]
    assert cache.info().entries == 0


def test_vectors_cannot_be_changed_by_whoever_gets_them() -> None:
    """The next caller would get the change."""
    vector = EmbeddingCache(Counting()).encode_query("a")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 2


def test_documents_pass_through() -> None:
    """Name, dimensions and documents are the encoder's own."""
    cache = EmbeddingCache(Counting())
    assert (cache.name, cache.dimensions) == ("counting", 1)
    assert cache.encode(["abc", "d"], max_tokens=2).tolist() == [[2], [1]]


def test_cleared() -> None:
    """Nothing is left, and counting starts anew."""
    cache = EmbeddingCache(Counting())
    cache.encode_query("a")
    cache.clear()
    assert (cache.info().entries, cache.info().misses) == (0, 0)


def test_many_threads() -> None:
    """Eight threads over a memory that is too small: answers are right and counts add up."""
    cache = EmbeddingCache(Counting(), max_entries=5)
    wrong: list[str] = []

    def ask() -> None:
        for turn in range(500):
            text = "x" * (turn % 9)
            if cache.encode_query(text)[0] != len(text):
                wrong.append(text)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert cache.info().hits + cache.info().misses == 4000
    assert cache.info().entries == 5
