"""Vectors on disk by encoder and text, so that nothing is ever encoded twice.

One file an encoder: a header, then records of one size, each a key, a float16 vector and a
checksum. Records are only ever appended, under a lock of the operating system: a killed writer
leaves at most one torn record at the end, which readers skip and the next writer cuts off.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import IO

import numpy as np
import numpy.typing as npt

from ragmachine.errors import StorageError

from .encoder import Encoder

if sys.platform == "win32":
    import msvcrt

    def _lock(stream: IO[bytes]) -> None:
        stream.seek(0)
        msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock(stream: IO[bytes]) -> None:
        fcntl.flock(stream, fcntl.LOCK_EX)


Halves = npt.NDArray[np.float16]

_MAGIC = b"RAGVEC1\n"
_SUFFIX = ".v1.vectors"
_HEADER = struct.Struct("<8sI32s")
_KEY_BYTES = 32
_CHECKSUM = struct.Struct("<I")
_BATCH_TEXTS = 64
_CHARS_PER_TOKEN = 4
_FIXED_CHARS = 50


class VectorCache:
    """The vectors of one encoder; threads of one process must take turns.

    Args:
        folder: where the files of all encoders lie; made when something is first put in.
        encoder_name: `Encoder.name`.
        dimensions: `Encoder.dimensions`.
    """

    def __init__(self, folder: str, encoder_name: str, dimensions: int) -> None:
        digest = hashlib.sha256(encoder_name.encode()).digest()
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", encoder_name)[:60].strip("-.")
        self.path = os.path.join(folder, f"{readable}-{digest.hex()[:12]}{_SUFFIX}")
        self._header = _HEADER.pack(_MAGIC, dimensions, digest)
        self._record = np.dtype(
            [
                ("key", np.void, _KEY_BYTES),
                ("vector", "<f2", (dimensions,)),
                ("checksum", "<u4"),
            ]
        )
        self._rows: dict[bytes, int] = {}
        self._records = np.zeros(0, dtype=self._record)
        self.refresh()

    def __len__(self) -> int:
        """Number of vectors known."""
        return len(self._rows)

    def __contains__(self, key: bytes) -> bool:
        """Whether a vector is known."""
        return key in self._rows

    def refresh(self) -> None:
        """Map what the file holds now, including what other processes have added.

        Raises: StorageError: the file is there and cannot be read.
        """
        try:
            with open(self.path, "rb") as stream:
                is_ours = stream.read(_HEADER.size) == self._header
                count = self._whole_records(os.fstat(stream.fileno()).st_size)
                if not is_ours or not count:
                    self._rows, self._records = {}, np.zeros(0, dtype=self._record)
                    return
                records = np.memmap(
                    stream, self._record, mode="r", offset=_HEADER.size, shape=(count,)
                )
        except FileNotFoundError:
            return
        except OSError as error:
            raise _refusal(self.path, error) from error
        known = len(self._records)
        if count < known:
            self._rows, known = {}, 0
        keys = records["key"][known:].tobytes()
        for row in range(count - known):
            self._rows[keys[row * _KEY_BYTES : (row + 1) * _KEY_BYTES]] = known + row
        self._records = records

    def get(self, keys: Sequence[bytes]) -> tuple[Halves, npt.NDArray[np.bool_]]:
        """Look vectors up.

        Args:
            keys: as `text_key` makes them.
        Returns: (keys, dimensions) float16, zeros where unknown; and (keys,) bool, whether known.
            A record whose checksum does not match counts as unknown, and is forgotten.
        """
        found = np.zeros((len(keys), self._record["vector"].shape[0]), dtype=np.float16)
        is_known = np.zeros(len(keys), dtype=np.bool_)
        for position, key in enumerate(keys):
            row = self._rows.get(key)
            if row is None:
                continue
            record = self._records[row].tobytes()
            body, checksum = record[: -_CHECKSUM.size], record[-_CHECKSUM.size :]
            if _CHECKSUM.pack(zlib.crc32(body)) != checksum:
                del self._rows[key]
                continue
            found[position] = self._records["vector"][row]
            is_known[position] = True
        return found, is_known

    def put(self, keys: Sequence[bytes], vectors: npt.NDArray[np.floating]) -> None:
        """Append vectors, and hand them to the operating system before returning.

        Args:
            keys: as `text_key` makes them.
            vectors: (keys, dimensions) of any float type, kept as float16.
        Raises: StorageError: the disk refuses; what was there before is untouched.
        """
        records = np.zeros(len(keys), dtype=self._record)
        records["key"] = np.frombuffer(b"".join(keys), dtype=records.dtype["key"])
        records["vector"] = vectors
        data = bytearray(records.tobytes())
        size = self._record.itemsize
        for start in range(0, len(data), size):
            end = start + size - _CHECKSUM.size
            _CHECKSUM.pack_into(data, end, zlib.crc32(data[start:end]))
        try:
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
            with self._appending() as stream:
                stream.write(data)
        except OSError as error:
            raise _refusal(self.path, error) from error
        self.refresh()

    @contextmanager
    def _appending(self) -> Iterator[IO[bytes]]:
        """The locked file, its end at a whole record; another encoder's or version's is emptied."""
        with open(self.path, "a+b") as stream:
            _lock(stream)
            stream.seek(0)
            if stream.read(_HEADER.size) != self._header:
                stream.truncate(0)
                stream.write(self._header)
                stream.flush()
            size = os.fstat(stream.fileno()).st_size
            stream.truncate(_HEADER.size + self._whole_records(size) * self._record.itemsize)
            yield stream

    def _whole_records(self, file_bytes: int) -> int:
        return max(file_bytes - _HEADER.size, 0) // self._record.itemsize


@dataclass(frozen=True, slots=True)
class EncodingProgress:
    """How far `encode_cached` has come.

    Attributes:
        done: texts encoded by this call so far.
        total: texts that this call has to encode; those known before do not count.
        texts_per_second: over this call so far; 0 before the first batch.
        seconds_left: estimated from the characters done and to do; None before the first batch.
    """

    done: int
    total: int
    texts_per_second: float
    seconds_left: float | None


def text_key(text: str, max_tokens: int | None) -> bytes:
    """Key of a text cut at so many tokens: SHA-256, 32 bytes."""
    return hashlib.sha256(f"{max_tokens}\n{text}".encode("utf-8", "surrogatepass")).digest()


def encode_cached(
    encoder: Encoder,
    texts: Sequence[str],
    cache: VectorCache,
    *,
    max_tokens: int | None = None,
    on_progress: Callable[[EncodingProgress], None] | None = None,
) -> Halves:
    """Encode what the cache does not know, keep it, and return everything.

    The longest texts come first, so that texts of one length run together. Each batch is on disk
    before the next begins: whoever is interrupted loses seconds.

    Args:
        encoder: must be the one that the cache was opened for.
        texts: in any order; equal texts are encoded once.
        cache: is brought up to date first with what other processes have added.
        max_tokens: as in `Encoder.encode`.
        on_progress: called before the first batch and after each; never when nothing is to do.
    Returns: (texts, dimensions) float16, rows in the order of `texts`.
    Raises: as `Encoder.encode`; StorageError.
    """
    cache.refresh()
    keys = [text_key(text, max_tokens) for text in texts]
    vectors, is_known = cache.get(keys)
    new: dict[bytes, list[int]] = {}
    for position in np.flatnonzero(~is_known).tolist():
        new.setdefault(keys[position], []).append(position)
    order = sorted(new, key=lambda key: -len(texts[new[key][0]]))
    clock = _Clock([_work_chars(texts[new[key][0]], max_tokens) for key in order])
    if on_progress and order:
        on_progress(clock.progress(0))
    for start in range(0, len(order), _BATCH_TEXTS):
        batch = order[start : start + _BATCH_TEXTS]
        encoded = encoder.encode([texts[new[key][0]] for key in batch], max_tokens=max_tokens)
        cache.put(batch, encoded)
        for key, vector in zip(batch, encoded.astype(np.float16), strict=True):
            vectors[new[key]] = vector
        if on_progress:
            on_progress(clock.progress(start + len(batch)))
    return vectors


class _Clock:
    """Time taken and left, by the work that each text makes, in the order of encoding."""

    def __init__(self, work: Sequence[int]) -> None:
        self._done_before = [0, *accumulate(work)]
        self._started = time.perf_counter()

    def progress(self, done: int) -> EncodingProgress:
        """Where things stand when the first `done` texts are encoded."""
        total = len(self._done_before) - 1
        if not done:
            return EncodingProgress(0, total, 0.0, None)
        seconds = max(time.perf_counter() - self._started, 1e-9)
        work = self._done_before[done]
        left = seconds / work * (self._done_before[-1] - work)
        return EncodingProgress(done, total, done / seconds, left)


def _work_chars(text: str, max_tokens: int | None) -> int:
    """What a text costs an encoder, in characters: each has its share of fixed costs."""
    longest = len(text) if max_tokens is None else _CHARS_PER_TOKEN * max_tokens
    return min(len(text), longest) + _FIXED_CHARS


def _refusal(path: str, error: OSError) -> StorageError:
    return StorageError(
        f"the vector cache {path} cannot be used: {error.strerror or error}",
        remedy="free some space, or remove the file: it will be made again",
    )
