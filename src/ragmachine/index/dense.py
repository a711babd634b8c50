"""Vectors of an index's chunks on disk, beside its generations; `embed` makes them.

In ``dense-vectors`` of the index folder:

current.json    which vectors belong to which generation; replaced by rename
vec-…/          one vector an excerpt in the order of the chunks, zeros where none is made yet;
                where each chunk's begin; in ``near`` an approximate index, where one is wanted
vec-….hash      SHA-256 of its files, as `sha256sum -c` reads it
*.vectors       every vector ever made, by content (see `encoders.cache`)
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson

from ragmachine.errors import IndexCorruptError
from ragmachine.index.excerpts import AllChunks, Ids, NearestChunks
from ragmachine.index.files import damage, read_json, replace_file, storage_errors
from ragmachine.index.hashes import SUFFIX, verify, write_hash
from ragmachine.index.lock import exclusive
from ragmachine.index.store import VECTORS
from ragmachine.index.vectors import FlatIndex, VectorIndex

if TYPE_CHECKING:
    from ragmachine.index.reader import Index

FOLDER = VECTORS
CACHE_FILES = "*.vectors"
_STATE = "current.json"
_LOCK = "dense.lock"
_LOCK_TIMEOUT_S = 5.0
_NEAR = "near"
_FIRST_FILE = "first.npy"
_VECTORS = re.compile(r"(?:building-)?vec-[0-9a-f]{12}(?:\.hash)?")

Halves = npt.NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class DenseVectors:
    """Vectors of the chunks of one generation.

    Attributes:
        name: of this publication: what it holds never changes.
        encoder: `Encoder.name` of the one that made them.
        exact: compares with every chunk.
        near: finds the nearest ones: `exact` itself, or over an approximate index.
        known: excerpts that have a vector.
        total: excerpts of the generation.
    """

    name: str
    encoder: str
    exact: AllChunks
    near: NearestChunks
    known: int
    total: int


class DenseStore:
    """The vectors of one index folder.

    Args:
        folder: the index folder.
        make_near: makes the index that finds neighbours; None to compare with every vector.
    """

    def __init__(self, folder: str, make_near: Callable[[], VectorIndex] | None = None) -> None:
        self.folder = os.path.join(folder, FOLDER)
        self._make_near = make_near

    def state(self) -> dict[str, Any] | None:
        """What was last published; None where nothing was, or where it cannot be read."""
        path = os.path.join(self.folder, _STATE)
        if not os.path.isfile(path):
            return None
        try:
            found = read_json(path)
        except IndexCorruptError:
            return None  # the cache still holds the vectors: the next run publishes them again
        wanted = {"generation": str, "encoder": str, "dimensions": int, "name": str, "known": int}
        is_whole = isinstance(found, dict) and all(
            isinstance(found.get(key), kind) for key, kind in wanted.items()
        )
        return found if is_whole and _VECTORS.fullmatch(found["name"]) else None

    def open(self, index: Index) -> DenseVectors | None:
        """The vectors of an opened index; None where there are none for its generation.

        Vectors that do not match their hashes are none: the cache can give them back.
        """
        for _ in range(3):  # published anew between two reads: look again
            state = self.state()
            if state is None or state["generation"] != index.generation:
                return None
            with contextlib.suppress(IndexCorruptError):
                return self._opened(state, index.chunk_count)
        return None

    def publish(
        self, index: Index, encoder: str, vectors: Halves, first: Ids, *, is_last: bool = True
    ) -> int:
        """Make vectors the ones that answer; call while writing.

        Args:
            index: whose chunks they belong to.
            encoder: `Encoder.name`.
            vectors: (excerpts, dimensions), rows of zeros where there is none.
            first: as in `Excerpts`.
            is_last: more will not follow soon: worth an approximate index, if one is wanted.
        Returns: bytes written.
        Raises: StorageError.
        """
        name = f"vec-{uuid.uuid4().hex[:12]}"
        path, building = self._path(name), self._path(f"building-{name}")
        exact = FlatIndex("int8")
        exact.build(vectors)
        exact.save(building)
        with storage_errors(self.folder):
            np.save(os.path.join(building, _FIRST_FILE), first, allow_pickle=False)
        if is_last and self._make_near is not None:
            near = self._make_near()
            near.build(vectors)
            near.save(os.path.join(building, _NEAR))
        state = {
            "generation": index.generation,
            "encoder": encoder,
            "dimensions": int(vectors.shape[1]),
            "name": name,
            "known": int(np.count_nonzero(vectors.any(axis=1))),
            "chunks": int(np.count_nonzero(vectors[first[:-1]].any(axis=1))),  # with a head
        }
        with storage_errors(self.folder):
            os.rename(building, path)
            write_hash(path)
            replace_file(self._path(_STATE), orjson.dumps(state))
        self._sweep(name)
        return sum(
            os.path.getsize(os.path.join(at, file))
            for at, _, files in os.walk(path)
            for file in files
        )

    def _opened(self, state: dict[str, Any], chunks: int) -> DenseVectors | None:
        path = self._path(state["name"])
        verify([path])
        exact = FlatIndex.load(path)
        with damage(os.path.join(path, _FIRST_FILE)):
            first = np.load(os.path.join(path, _FIRST_FILE), allow_pickle=False)
        if (len(first), exact.dimensions) != (chunks + 1, state["dimensions"]):
            return None
        everything = AllChunks(exact, first)
        near: NearestChunks = everything
        if os.path.isdir(os.path.join(path, _NEAR)):
            from ragmachine.index.ann import load_vectors

            near = NearestChunks(load_vectors(os.path.join(path, _NEAR)), first)
        return DenseVectors(
            state["name"], state["encoder"], everything, near, state["known"], exact.count
        )

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _sweep(self, current: str) -> None:
        """Remove what is no longer named; what a reader holds open on Windows goes next time."""
        for name in os.listdir(self.folder):
            if _VECTORS.fullmatch(name) and name not in (current, current + SUFFIX):
                if name.endswith(SUFFIX):
                    with contextlib.suppress(OSError):
                        os.remove(self._path(name))
                else:
                    shutil.rmtree(self._path(name), ignore_errors=True)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder's lock, so that one process at a time publishes.

        Raises: IndexBusyError: another process is at it; StorageError.
        """
        with storage_errors(self.folder):
            os.makedirs(self.folder, exist_ok=True)
        with exclusive(self._path(_LOCK), timeout_s=_LOCK_TIMEOUT_S):
            yield
