"""The indexes that lie side by side in one index folder."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ragmachine.errors import IndexMissingError, RagError
from ragmachine.health.status import sizes_on_disk
from ragmachine.index.store import IndexStore


@dataclass(frozen=True, slots=True)
class Collection:
    """One index.

    Attributes:
        name: "" for the one that has none.
        folder: where it lies.
        corpus_root: how its paths begin.
        files, chunks: what it holds.
        built_ns: when its build began, since the epoch.
        bytes: size of all of it on disk.
        problem: why nothing more is known of it, else "".
    """

    name: str
    folder: str
    corpus_root: str = ""
    files: int = 0
    chunks: int = 0
    built_ns: int = 0
    bytes: int = 0
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """The collection as JSON."""
        built = datetime.fromtimestamp(self.built_ns / 1e9, UTC).isoformat(timespec="seconds")
        return {
            "collection": self.name,
            "index_dir": self.folder,
            "corpus_root": self.corpus_root,
            "files": self.files,
            "chunks": self.chunks,
            "built": built if self.built_ns else None,
            "bytes": self.bytes,
            "problem": self.problem,
        }


def find_collections(folder: str, below: str) -> list[Collection]:
    """The indexes of an index folder, the one without a name first, then by name.

    Args:
        folder: of the index without a name.
        below: name of the folder in it that holds the others.
    """
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = sorted(os.listdir(os.path.join(folder, below)))
    places = [("", folder), *((name, os.path.join(folder, below, name)) for name in names)]
    return [found for name, place in places if (found := _look(name, place))]


def _look(name: str, folder: str) -> Collection | None:
    store = IndexStore(folder)
    try:
        manifest = store.manifest(store.require_current())
    except IndexMissingError:
        return None
    except RagError as error:
        return Collection(name, folder, problem=error.message)
    counts = manifest["counts"]
    size = sum(sizes_on_disk(store).values())
    return Collection(
        name, folder, manifest["corpus_root"], counts["files"], counts["chunks"],
        manifest["created_ns"], size,
    )  # fmt: skip
