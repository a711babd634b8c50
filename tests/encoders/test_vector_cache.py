"""Vectors on disk: torn, shared, damaged, and filled from where it was left."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.encoders.cache import EncodingProgress, VectorCache, encode_cached, text_key
from ragmachine.encoders.encoder import Vectors
from ragmachine.errors import StorageError

RECORD_BYTES = 32 + 2 * 2 + 4
HEADER_BYTES = 8 + 4 + 32


class Lengths:
    """Encodes a text as (length, 1), and remembers what it was asked."""

    name = "lengths"
    dimensions = 2

    def __init__(self, fails_at: str = "") -> None:
        self.asked: list[str] = []
        self.fails_at = fails_at

    def encode(self, texts: Sequence[str], *, max_tokens: int | None = None) -> Vectors:
        """Not normalised, so that a mix-up shows."""
        if self.fails_at and self.fails_at in texts:
            raise KeyboardInterrupt
        self.asked += texts
        return np.array([[len(text[:max_tokens]), 1] for text in texts], dtype=np.float32)

    def encode_query(self, text: str) -> Vectors:
        """Like a document."""
        return self.encode([text])[0]


def opened(folder: Path | str) -> VectorCache:
    """The cache of `Lengths` in a folder."""
    return VectorCache(str(folder), Lengths.name, Lengths.dimensions)


def filled(folder: Path | str, count: int) -> VectorCache:
    """A cache of `count` vectors, (n, -n) under the key of str(n)."""
    cache = opened(folder)
    keys = [text_key(str(n), None) for n in range(count)]
    cache.put(keys, np.array([[n, -n] for n in range(count)], dtype=np.float32))
    return cache


def held(cache: VectorCache, count: int) -> list[list[float] | None]:
    """What the cache holds under the keys that `filled` gives."""
    vectors, is_known = cache.get([text_key(str(n), None) for n in range(count)])
    return [v.tolist() if k else None for v, k in zip(vectors, is_known, strict=True)]


def test_what_was_put_is_there_after_reopening(tmp_path: Path) -> None:
    """In any order, with the unknown marked; the file is a header and records of one size."""
    path = filled(tmp_path, 3).path
    cache = opened(tmp_path)
    keys = [text_key(text, None) for text in ("2", "new", "0")]
    vectors, is_known = cache.get(keys)
    assert vectors.dtype == np.float16
    assert vectors.tolist() == [[2, -2], [0, 0], [0, 0]]
    assert is_known.tolist() == [True, False, True]
    assert len(cache) == 3
    assert Path(path).stat().st_size == HEADER_BYTES + 3 * RECORD_BYTES


@given(st.integers(0, HEADER_BYTES + 5 * RECORD_BYTES))
def test_cut_at_any_byte(size: int) -> None:
    """Whole records survive, the torn one is dropped, and what comes next lies where it should."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(filled(folder, 5).path)
        path.write_bytes(path.read_bytes()[:size])
        whole = max(size - HEADER_BYTES, 0) // RECORD_BYTES
        expected: list[list[float] | None] = [[n, -n] if n < whole else None for n in range(5)]
        cache = opened(folder)
        assert held(cache, 5) == expected
        cache.put([text_key("4", None)], np.array([[7, 8]]))
        expected[4] = [7, 8]
        assert held(cache, 5) == expected
        assert held(opened(folder), 5) == expected


@given(st.integers(HEADER_BYTES, HEADER_BYTES + 3 * RECORD_BYTES - 1), st.integers(1, 255))
def test_a_changed_byte(position: int, change: int) -> None:
    """The record that it lies in is unknown, and can be put again; the others stand."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(filled(folder, 3).path)
        data = bytearray(path.read_bytes())
        data[position] ^= change
        path.write_bytes(data)
        hit = (position - HEADER_BYTES) // RECORD_BYTES
        cache = opened(folder)
        assert held(cache, 3) == [None if n == hit else [n, -n] for n in range(3)]
        cache.put([text_key(str(hit), None)], np.array([[hit, -hit]]))
        assert held(opened(folder), 3) == [[n, -n] for n in range(3)]


def test_zeros_that_a_power_cut_leaves_are_no_record(tmp_path: Path) -> None:
    """A block that the disk never wrote reads as zeros: its checksum does not match."""
    path = Path(filled(tmp_path, 1).path)
    path.write_bytes(path.read_bytes() + bytes(RECORD_BYTES))
    assert opened(tmp_path).get([bytes(32)])[1].tolist() == [False]


def test_a_file_of_another_kind_is_started_anew(tmp_path: Path) -> None:
    """What lies under the cache's name and is none holds no vectors, and is replaced."""
    path = Path(filled(tmp_path, 1).path)
    path.write_bytes(b"something else entirely, and longer than a header" * 3)
    assert held(opened(tmp_path), 1) == [None]
    assert held(filled(tmp_path, 1), 1) == [[0, 0]]


def test_encoders_have_files_of_their_own(tmp_path: Path) -> None:
    """Names that look alike in a file name are still told apart."""
    paths = {VectorCache(str(tmp_path), name, 2).path for name in ("a/b", "a:b", "a-b", "../a-b")}
    assert len(paths) == 4
    assert {str(Path(path).parent) for path in paths} == {str(tmp_path)}


def test_two_processes_at_once(tmp_path: Path) -> None:
    """Two writers, 100 appends each and of uneven sizes: every vector is there and right."""
    code = (
        "import sys, numpy as np\n"
        "from ragmachine.encoders.cache import VectorCache, text_key\n"
        "cache = VectorCache(sys.argv[1], 'lengths', 2)\n"
        "for turn in range(100):\n"
        "    numbers = [int(sys.argv[2]) + 10 * turn + n for n in range(1 + turn % 7)]\n"
        "    keys = [text_key(str(number), None) for number in numbers]\n"
        "    cache.put(keys, np.array([[n % 1024, n // 1024] for n in numbers]))\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path)]
    writers = [subprocess.Popen([*words, str(start)]) for start in (0, 5000)]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    numbers = [
        start + 10 * turn + n
        for start in (0, 5000)
        for turn in range(100)
        for n in range(1 + turn % 7)
    ]
    cache = opened(tmp_path)
    vectors, is_known = cache.get([text_key(str(number), None) for number in numbers])
    assert is_known.all()
    assert len(cache) == len(numbers)
    assert vectors.tolist() == [[n % 1024, n // 1024] for n in numbers]


@pytest.mark.skipif(sys.platform == "win32", reason="flock is not there")
def test_a_writer_waits_for_another(tmp_path: Path) -> None:
    """While the file is locked nothing is appended to it, and afterwards everything is."""
    fcntl = importlib.import_module("fcntl")
    path = Path(filled(tmp_path, 1).path)
    size = path.stat().st_size
    writer = threading.Thread(target=filled, args=(tmp_path, 2))
    with path.open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        writer.start()
        writer.join(timeout=0.3)
        assert writer.is_alive()
        assert path.stat().st_size == size
    writer.join(timeout=10)
    assert path.stat().st_size == size + 2 * RECORD_BYTES


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """The disk's refusal is one line that names the file."""
    (tmp_path / "taken").write_text("a file, no folder")
    with pytest.raises(StorageError, match="taken"):
        filled(tmp_path / "taken" / "below", 1)


def test_only_the_new_is_encoded(tmp_path: Path) -> None:
    """Known texts come from disk, equal ones are encoded once, the longest first."""
    encode_cached(Lengths(), ["aa"], opened(tmp_path))
    encoder = Lengths()
    vectors = encode_cached(encoder, ["b", "aa", "cccc", "b"], opened(tmp_path))
    assert encoder.asked == ["cccc", "b"]
    assert vectors.tolist() == [[1, 1], [2, 1], [4, 1], [1, 1]]
    assert vectors.dtype == np.float16


def test_how_a_text_was_cut_is_part_of_its_key(tmp_path: Path) -> None:
    """The vector of a text's first token is not that of the text."""
    cache = opened(tmp_path)
    assert encode_cached(Lengths(), ["abc"], cache, max_tokens=1).tolist() == [[1, 1]]
    assert encode_cached(Lengths(), ["abc"], cache).tolist() == [[3, 1]]


def test_an_interruption_costs_one_batch(tmp_path: Path) -> None:
    """Batches of 64 that were finished are not encoded again."""
    texts = ["x" * length for length in range(1, 201)]
    with pytest.raises(KeyboardInterrupt):
        encode_cached(Lengths(fails_at="x" * 70), texts, opened(tmp_path))
    encoder = Lengths()
    vectors = encode_cached(encoder, texts, opened(tmp_path))
    assert encoder.asked == texts[71::-1]
    assert vectors[:, 0].tolist() == list(range(1, 201))


def test_progress(tmp_path: Path) -> None:
    """Told before the first batch and after each: texts done and to do, a rate, the time left."""
    told: list[EncodingProgress] = []
    texts = ["x" * length for length in range(1, 101)]
    encode_cached(Lengths(), texts, opened(tmp_path), on_progress=told.append)
    assert [(step.done, step.total) for step in told] == [(0, 100), (64, 100), (100, 100)]
    assert told[0].seconds_left is None
    assert told[1].texts_per_second > 0
    assert told[1].seconds_left is not None
    assert told[1].seconds_left > 0
    assert told[2].seconds_left == 0
    told.clear()
    encode_cached(Lengths(), texts, opened(tmp_path), on_progress=told.append)
    assert told == []


def test_texts_that_are_no_unicode(tmp_path: Path) -> None:
    """A lone surrogate, as undecodable file names have, is a text like any other."""
    assert encode_cached(Lengths(), ["\udcff"], opened(tmp_path)).tolist() == [[1, 1]]


def test_another_process_is_heard_before_encoding(tmp_path: Path) -> None:
    """What someone else has put since the cache was opened is not encoded again."""
    cache = opened(tmp_path)
    encode_cached(Lengths(), ["abc"], opened(tmp_path))
    encoder = Lengths()
    encode_cached(encoder, ["abc"], cache)
    assert encoder.asked == []
