"""How settings become an index that is watched."""

from __future__ import annotations

import os
import time
from typing import Any

from ragmachine.errors import CorpusError
from ragmachine.index.sources import Selection, find_sources
from ragmachine.index.store import IndexStore
from ragmachine.settings import Settings
from ragmachine.watching import Facts, Update, WatchedIndex


def watched_index(settings: Settings) -> WatchedIndex:
    """The index that the settings name, to be kept as it was built.

    Raises: IndexMissingError, IndexCorruptError, IndexVersionError; CorpusError: no folder.
    """
    store = IndexStore(settings.index_dir)
    manifest = store.read(store.manifest)
    root = manifest["absolute_root"]
    selection = Selection.from_json(manifest["settings"])
    places = selection.places(root)
    for place in places:
        if not os.path.exists(place):
            raise CorpusError(
                f"{place}, which the index in {store.folder} is of, is gone",
                remedy="index another folder: `ragmachine index --target_dir FOLDER`",
            )

    def facts() -> Facts:
        try:
            found = find_sources(root, store.folder, selection)
        except CorpusError:  # gone for a moment, as while a branch is checked out
            return {}
        return {file.path: (file.size, file.mtime_ns, file.ctime_ns) for file in found.files}

    return WatchedIndex(store.folder, root, places, facts, lambda: _rebuild(store, settings))


def _rebuild(store: IndexStore, settings: Settings) -> Update | None:
    from ragmachine.wiring.indexing import rebuild

    began = time.perf_counter()
    before = store.read(store.manifest)
    report = rebuild(store, settings)
    if report.is_unchanged:
        return None
    after = store.read(store.manifest)
    seconds = time.perf_counter() - began
    return Update(_changes(before, after), report.files, report.chunks, seconds)


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str]]:
    """What happened to the indexed files between two generations, by path."""
    old = {row[0]: row[3] for row in before["files"]}
    new = {row[0]: row[3] for row in after["files"]}
    changes = [
        (path, "new" if path not in old else "removed" if path not in new else "changed")
        for path in old.keys() | new.keys()
        if old.get(path) != new.get(path)
    ]
    return [(kind, path) for path, kind in sorted(changes)]
