"""The index on disk: whole, readable, and with room to be built again."""

from __future__ import annotations

import os
import shutil
import tempfile

from ragmachine.errors import IndexMissingError, RagError
from ragmachine.health.checks import ABSENT, BROKEN, OK, Check
from ragmachine.health.status import sizes_on_disk
from ragmachine.index.files import read_json
from ragmachine.index.hashes import verify
from ragmachine.index.store import VECTORS, IndexStore, artifacts

# A build writes a second generation before the first one goes.
_ROOM_FACTOR = 2
_LEAST_ROOM_BYTES = 200_000_000


def index_check(store: IndexStore, rebuild: str) -> Check:
    """Whether every file of the index that answers is what was written.

    Args:
        store: the index folder.
        rebuild: the command that builds it.
    """
    name = "index"
    try:
        folder = store.require_current()
        manifest = store.manifest(folder)
        verify(artifacts(folder))
    except IndexMissingError as error:
        return Check(name, ABSENT, error.message, rebuild)
    except RagError as error:
        return Check(name, BROKEN, error.message, rebuild)
    chunks = manifest["counts"]["chunks"]
    return Check(name, OK, f"{chunks:,} chunks in {store.folder}, all hashes match")


def vectors_check(store: IndexStore) -> Check | None:
    """Whether the vectors are what was written; None where none were made."""
    folder = store.path(VECTORS)
    path = os.path.join(folder, "current.json")
    if not os.path.isfile(path):
        return None
    remedy = "ragmachine index --bonus y"
    try:
        state = read_json(path)
        verify([os.path.join(folder, str(state["name"]))])
    except (RagError, KeyError, TypeError) as error:
        detail = error.message if isinstance(error, RagError) else f"{path} is garbled"
        return Check("vectors", BROKEN, f"{detail}: searches are lexical", remedy)
    return Check("vectors", OK, f"by {state.get('encoder', '')}, all hashes match")


def room_check(store: IndexStore) -> Check:
    """Whether the disk has room for the next build."""
    there = _nearest(store.folder)
    free = shutil.disk_usage(there).free
    needed = max(_ROOM_FACTOR * sizes_on_disk(store).get("index", 0), _LEAST_ROOM_BYTES)
    detail = f"{free / 1e9:,.1f} GB free at {there}, a build may need {needed / 1e9:,.1f} GB"
    if free >= needed:
        return Check("disk", OK, detail)
    return Check(
        "disk", BROKEN, detail, "free some space, or name another disk: --index_dir FOLDER"
    )


def permission_check(store: IndexStore) -> Check:
    """Whether an index can be written, tried with a file that nobody sees."""
    there = _nearest(store.folder)
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        detail = f"{there} cannot be written: {error.strerror or error}"
        return Check("permission", BROKEN, detail, f"chmod u+rwx {there!r}, or --index_dir FOLDER")
    return Check("permission", OK, f"{there} can be written")


def _nearest(folder: str) -> str:
    """The folder, or the nearest one above it that is there."""
    folder = os.path.abspath(folder)
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder
