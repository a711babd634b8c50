"""What of a corpus folder is to be indexed: what discovery finds, less the index itself."""

from __future__ import annotations

import os

from ragmachine.corpus.discover import Discovery, discover
from ragmachine.index.store import is_own_name


def find_sources(root: str, index_folder: str, *, max_file_bytes: int) -> Discovery:
    """Discover a corpus, without the files of an index that lies inside it.

    Raises: CorpusError: the root is not there.
    """
    found = discover(root, max_file_bytes=max_file_bytes)
    own = _place(index_folder, root)
    if own is not None:
        found.files = [file for file in found.files if not _is_own(file.path, own)]
        found.problems = [row for row in found.problems if not _is_own(row[0], own)]
    return found


def _place(folder: str, root: str) -> str | None:
    """A folder's path below a root, "" for the root itself; None outside of it."""
    above = os.path.join(os.path.realpath(root), "")
    inside = os.path.join(os.path.realpath(folder), "")
    return inside[len(above) :].replace(os.sep, "/") if inside.startswith(above) else None


def _is_own(path: str, own: str) -> bool:
    return path.startswith(own) if own else is_own_name(path.partition("/")[0])
