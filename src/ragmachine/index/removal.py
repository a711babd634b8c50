"""Removes an index folder's own files; documents that lie beside them stay."""

from __future__ import annotations

import contextlib
import os
import shutil

from ragmachine.index.files import storage_errors
from ragmachine.index.store import CURRENT, LOCK, IndexStore, is_own_name


def size_of(path: str) -> int:
    """Bytes of a file, or of all files below a folder; what cannot be looked at counts 0."""
    if not os.path.isdir(path):
        with contextlib.suppress(OSError):
            return os.lstat(path).st_size
        return 0
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        return sum(
            size_of(entry.path) if entry.is_dir(follow_symlinks=False) else _size(entry)
            for entry in entries
        )
    return 0


def _size(entry: os.DirEntry[str]) -> int:
    with contextlib.suppress(OSError):
        return entry.stat(follow_symlinks=False).st_size
    return 0


def own_entries(folder: str) -> list[str]:
    """Names in an index folder that are the index's own, named collections not among them."""
    with contextlib.suppress(OSError):
        names = os.listdir(folder)
        return sorted(name for name in names if is_own_name(name) and name != "collections")
    return []


def remove_index(store: IndexStore) -> int:
    """Remove an index, its vectors and caches.

    The pointer goes first: from then on there is no index, rather than half of one. The empty
    lock file stays: whoever waits for it must not hold another one than whoever comes next.

    Returns: bytes freed.
    Raises: IndexBusyError: another process is writing it; StorageError.
    """
    freed = 0
    with store.writing(), storage_errors(store.folder):
        names = [name for name in own_entries(store.folder) if name != LOCK]
        for name in sorted(names, key=lambda name: name != CURRENT):
            path = store.path(name)
            freed += size_of(path)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.remove(path)
    return freed
