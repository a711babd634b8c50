"""Single files of an index: written whole, read whole or mapped. Other rooms go through `store`."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from ragmachine.errors import IndexCorruptError, StorageError
from ragmachine.index.hashes import REBUILD

TEMPORARY = ".tmp"


class Documents:
    """The indexed text of every file, memory-mapped."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            self._bytes: mmap.mmap | bytes = (
                mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
            )

    def text(self, start: int, end: int) -> str:
        """Text between two byte offsets."""
        return self._bytes[start:end].decode("utf-8")

    def raw(self, start: int, end: int) -> bytes:
        """Bytes between two offsets."""
        return self._bytes[start:end]


@contextlib.contextmanager
def storage_errors(folder: str) -> Iterator[None]:
    """Translate what the operating system refuses into a StorageError."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"cannot write to {folder}: {error.strerror or error}",
            remedy="free some space or choose another folder with --index_dir;"
            " the index that was there still answers",
        ) from error


@contextlib.contextmanager
def damage(path: str) -> Iterator[None]:
    """Translate what reading a file or folder of a generation may raise.

    Raises: IndexCorruptError: missing, or not what a build writes; names `path`.
    """
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise IndexCorruptError(
            f"{path} is missing or is not what a build writes", remedy=REBUILD
        ) from error


def read_json(path: str) -> Any:
    """Parse a JSON file of the index.

    Raises: IndexCorruptError: missing or not JSON.
    """
    with damage(path), open(path, "rb") as stream:
        return orjson.loads(stream.read())


def chunk_map_places(
    chunk_map: Mapping[str, Any], path: str
) -> tuple[Sequence[int], Sequence[str]]:
    """Starts and places of the parts of a file that has pages, rows or cells; empty for others."""
    starts, places = chunk_map.get("places", {}).get(path, ((), ()))
    return starts, places


def write_json(path: str, document: Any) -> None:
    """Write a JSON file of a generation that nobody reads yet."""
    with open(path, "wb") as stream:
        stream.write(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY))


def replace_file(path: str, data: bytes, *, is_synced: bool = False) -> None:
    """Replace a file in one step: readers see the old content or the new one.

    Call while holding a lock; what a killed run left half-written is overwritten.

    Args:
        path: the file.
        data: its new content.
        is_synced: wait until the disk has it.
    """
    temporary = path + TEMPORARY
    try:
        with open(temporary, "wb") as stream:
            stream.write(data)
            if is_synced:
                stream.flush()
                os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        raise
