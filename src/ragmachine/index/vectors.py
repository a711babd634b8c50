"""Nearest vectors, exactly: every vector is compared with the query.

Vectors lie on disk as float16 or int8 and stay memory-mapped; a block at a time is turned into
float32 in the processor's cache and multiplied there. `ann` has approximate indexes behind the same
protocol, for collections that are too large to be read whole for each query.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ragmachine.index.files import damage, read_json, storage_errors, write_json

Floats = npt.NDArray[np.floating[Any]]
Ids = npt.NDArray[np.int64]
Similarities = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Precision = Literal["float16", "int8"]

METADATA_FILE = "vectors.json"
_FORMAT = 1
_VECTORS_FILE = "vectors.npy"
_SCALES_FILE = "scales.npy"
_BUILD_ROWS = 4096
_BLOCK_VALUES = 64 * 384  # float32 in 96 KiB: well inside a core's second cache
_DECIMALS = 6
# A float16's bits, put into a float32's places, read as the number times 2**-112.
_HALF_TO_SINGLE = np.float32(2.0**112)
_SIGN_AND_VALUE = np.int32(-0x70000001)

_Index = TypeVar("_Index", bound="VectorIndex")


class VectorIndex(Protocol):
    """Vectors by number from 0, searched by the dot product, which is the cosine of unit ones."""

    @property
    def count(self) -> int:
        """Number of vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 before `build`."""
        ...

    def build(self, vectors: Floats) -> None:
        """Take the vectors in, in place of any that were there.

        Args:
            vectors: (n, d) of any float type, each of length 1 or 0; n may be 0.

        Raises:
            ValueError: not two-dimensional, or not finite.
            RagError: the library behind the index is not installed.
        """
        ...

    def search(self, query: Floats, k: int, mask: Mask | None = None) -> tuple[Ids, Similarities]:
        """The vectors most similar to the query.

        Args:
            query: (d,) of length 1.
            k: how many at most.
            mask: (n,) bool, True for the vectors that may be found; None for all.
        Returns: (found,) int64 ids and (found,) float32 similarities, rounded to six decimals so
            that equal vectors are equal; largest first, ties by smaller id.
        Raises: ValueError: a shape does not fit, or k is negative.
        """
        ...

    def save(self, folder: str) -> None:
        """Write into a folder, which is made if need be.

        Raises: StorageError: the disk refuses.
        """
        ...

    @classmethod
    def load(cls: type[_Index], folder: str) -> _Index:
        """Open what `save` wrote.

        Raises: IndexCorruptError: a file is missing or not what was written; names it.
        """
        ...


class FlatIndex:
    """Exact search, block by block; see `VectorIndex`.

    Args:
        precision: ``float16`` keeps similarities to about 0.0005; ``int8``, with a scale for each
            vector, to about 0.002, in half the bytes and a fraction of the time.
    """

    def __init__(self, precision: Precision = "int8") -> None:
        if precision not in ("float16", "int8"):
            raise ValueError(f"no precision is called {precision!r}")
        self._precision: Precision = precision
        self._vectors: npt.NDArray[Any] = np.zeros((0, 0), dtype=precision)
        self._scales: Similarities = np.zeros(0, dtype=np.float32)

    @property
    def count(self) -> int:
        """Number of vectors."""
        return int(self._vectors.shape[0])

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 before `build`."""
        return int(self._vectors.shape[1])

    def build(self, vectors: Floats) -> None:
        """Take the vectors in; see `VectorIndex.build`."""
        check_vectors(vectors)
        kept = np.zeros(vectors.shape, dtype=self._precision)
        scales = np.ones(len(vectors), dtype=np.float32)
        for start in range(0, len(vectors), _BUILD_ROWS):
            rows = np.asarray(vectors[start : start + _BUILD_ROWS], dtype=np.float32)
            if self._precision == "int8":
                scale = np.abs(rows).max(axis=1, initial=0.0) / 127
                scales[start : start + len(rows)] = scale
                rows = np.rint(rows / np.where(scale > 0, scale, 1)[:, None])
            kept[start : start + len(rows)] = rows
        self._vectors, self._scales = kept, scales

    def search(self, query: Floats, k: int, mask: Mask | None = None) -> tuple[Ids, Similarities]:
        """The vectors most similar to the query; see `VectorIndex.search`."""
        wanted = checked_query(query, k, self.dimensions)
        ids = None if mask is None else checked_mask(mask, self.count)
        # Reading rows here and there costs more than reading all in order, unless they are few.
        if ids is None or 4 * len(ids) > self.count:
            similarities = self._similarities(wanted, None)
            return top_k(similarities if ids is None else similarities[ids], k, ids)
        return top_k(self._similarities(wanted, ids), k, ids)

    def compare(self, query: Floats, ids: Ids) -> Similarities:
        """Similarities of some vectors to the query.

        Args:
            query: (d,) of length 1.
            ids: (n,) of vectors, in any order.
        Returns: (n,) float32, rounded as those of `search`.
        Raises: ValueError: a shape does not fit.
        """
        found = self._similarities(checked_query(query, 0, self.dimensions), ids)
        return np.round(found, _DECIMALS)

    def save(self, folder: str) -> None:
        """Write ``vectors.json``, ``vectors.npy`` and, for int8, ``scales.npy``."""
        with storage_errors(folder):
            os.makedirs(folder, exist_ok=True)
            np.save(os.path.join(folder, _VECTORS_FILE), self._vectors, allow_pickle=False)
            if self._precision == "int8":
                np.save(os.path.join(folder, _SCALES_FILE), self._scales, allow_pickle=False)
            write_metadata(folder, "flat", self.count, self.dimensions, precision=self._precision)

    @classmethod
    def load(cls, folder: str) -> FlatIndex:
        """Open what `save` wrote, memory-mapped; see `VectorIndex.load`."""
        metadata = read_metadata(folder, "flat")
        with damage(os.path.join(folder, METADATA_FILE)):
            index = cls(metadata["precision"])
        count, dimensions = metadata["count"], metadata["dimensions"]
        index._vectors = _load_array(
            folder, _VECTORS_FILE, metadata["precision"], (count, dimensions)
        )
        if metadata["precision"] == "int8":
            index._scales = _load_array(folder, _SCALES_FILE, "float32", (count,))
        return index

    def _similarities(self, query: Similarities, ids: Ids | None) -> Similarities:
        """(rows,) float32 similarities of the rows `ids`, or of all."""
        count = self.count if ids is None else len(ids)
        found = np.empty(count, dtype=np.float32)
        rows = max(_BLOCK_VALUES // max(self.dimensions, 1), 1)
        if self._precision == "int8":
            buffer = np.empty((rows, self.dimensions), dtype=np.float32)
            for start, block in self._blocks(rows, ids):
                floats = buffer[: len(block)]
                floats[...] = block
                np.dot(floats, query, out=found[start : start + len(block)])
            found *= self._scales if ids is None else self._scales[ids]
            return found
        # numpy turns float16 into float32 in software, a number at a time; moving the bits is
        # exact and four times as quick, and the query carries the factor that this leaves out.
        bits = np.empty((rows, self.dimensions), dtype=np.int32)
        scaled = query * _HALF_TO_SINGLE
        for start, block in self._blocks(rows, ids):
            moved = bits[: len(block)]
            moved[...] = block.view(np.int16)
            np.left_shift(moved, 13, out=moved)
            np.bitwise_and(moved, _SIGN_AND_VALUE, out=moved)
            np.dot(moved.view(np.float32), scaled, out=found[start : start + len(block)])
        return found

    def _blocks(self, rows: int, ids: Ids | None) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        vectors = self._vectors
        for start in range(0, self.count if ids is None else len(ids), rows):
            end = start + rows
            yield start, vectors[start:end] if ids is None else vectors[ids[start:end]]


def top_k(similarities: Similarities, k: int, ids: Ids | None = None) -> tuple[Ids, Similarities]:
    """The k largest, largest first, ties by smaller id.

    Args:
        similarities: (n,) float32.
        k: how many at most.
        ids: (n,) ascending ids of the similarities; None for 0, 1, 2 and so on.
    Returns: ids and similarities as `VectorIndex.search`.
    """
    count = len(similarities)
    if k < count:
        # The last digit of a sum depends on where in a block a row lies; equal vectors would
        # then differ, so that what is within rounding of the k-th is kept, and rounded first.
        edge = np.partition(similarities, count - k)[count - k] if k else np.float32(np.inf)
        kept = np.flatnonzero(similarities >= edge - np.float32(10.0**-_DECIMALS))
    else:
        kept = np.arange(count)
    rounded = np.round(similarities[kept], _DECIMALS)
    best = np.argsort(-rounded, kind="stable")[:k]
    found = kept[best] if ids is None else ids[kept[best]]
    return found.astype(np.int64), rounded[best]


def check_vectors(vectors: Floats) -> None:
    """Refuse what is no collection of vectors with a ValueError."""
    if vectors.ndim != 2:
        raise ValueError(f"vectors have two axes, not the shape {vectors.shape}")
    for start in range(0, len(vectors), _BUILD_ROWS):
        if not np.abs(vectors[start : start + _BUILD_ROWS]).max(initial=0.0) < 2.0**15:
            raise ValueError("vectors are finite numbers and of length 1")


def checked_query(query: Floats, k: int, dimensions: int) -> Similarities:
    """The query as contiguous float32; ValueError when it does not fit."""
    if query.shape != (dimensions,):
        raise ValueError(f"a query has the shape ({dimensions},), not {query.shape}")
    if k < 0:
        raise ValueError("k is not negative")
    return np.ascontiguousarray(query, dtype=np.float32)


def checked_mask(mask: Mask, count: int) -> Ids:
    """Ids that a mask lets through, ascending; ValueError when it does not fit."""
    if mask.shape != (count,) or mask.dtype != np.bool_:
        raise ValueError(f"a mask is bool and has the shape ({count},), not {mask.shape}")
    return np.flatnonzero(mask)


def write_metadata(folder: str, kind: str, count: int, dimensions: int, **more: Any) -> None:
    """Write ``vectors.json``: format, kind, sizes and what else a kind wants to know."""
    sizes = {"format": _FORMAT, "kind": kind, "count": count, "dimensions": dimensions}
    write_json(os.path.join(folder, METADATA_FILE), {**sizes, **more})


def read_metadata(folder: str, kind: str = "") -> dict[str, Any]:
    """Read ``vectors.json``.

    Raises: IndexCorruptError: missing, of another format, or not of the kind asked for.
    """
    path = os.path.join(folder, METADATA_FILE)
    found = read_json(path)
    with damage(path):
        is_whole = found["format"] == _FORMAT and kind in ("", found["kind"])
        is_whole = is_whole and min(int(found["count"]), int(found["dimensions"])) >= 0
        if not is_whole:
            raise ValueError("another format or kind")
    return dict(found)


def _load_array(folder: str, name: str, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    path = os.path.join(folder, name)
    with damage(path):
        mode: Literal["r"] | None = "r" if 0 not in shape else None  # nothing cannot be mapped
        array = np.load(path, mmap_mode=mode, allow_pickle=False)
        if array.dtype != np.dtype(dtype) or array.shape != shape:
            raise ValueError("not the array that was written")
    return np.asarray(array)
