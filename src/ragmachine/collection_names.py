"""Names of indexes that lie side by side, and where each one lies."""

from __future__ import annotations

import os
import re

from ragmachine.errors import UsageError

COLLECTIONS_FOLDER = "collections"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def check_collection(name: str) -> None:
    """Refuse what could not be a folder's name anywhere, or would lead out of its place.

    Raises: UsageError.
    """
    if name and not _NAME.fullmatch(name):
        raise UsageError(
            f"collection must be a name, not {name[:60]!r}",
            remedy="use up to 64 letters, digits, - and _, the first a letter or a digit",
        )


def collection_dir(index_dir: str, collection: str) -> str:
    """Folder of a named index; that of the index without a name where `collection` is empty."""
    return os.path.join(index_dir, COLLECTIONS_FOLDER, collection) if collection else index_dir
