"""What of a corpus folder is to be indexed: what discovery finds, less the index itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ragmachine.collection_names import COLLECTIONS_FOLDER
from ragmachine.corpus.discover import Choice, Discovery, discover
from ragmachine.index.store import is_own_name


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files of a root belong to an index; what the manifest says of it is enough to walk.

    Attributes:
        max_file_bytes: larger files are reported and left out.
        include: globs; where there are any, only files that one of them names.
        exclude: globs of files and folders that are left out.
        has_hidden: whether names that begin with a dot are taken too.
        folders: (POSIX path below the root, tag) of the folders to walk; none for the root.
    """

    max_file_bytes: int
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    has_hidden: bool = False
    folders: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The selection for the manifest's settings."""
        return {
            "max_file_bytes": self.max_file_bytes,
            "include": list(self.include),
            "exclude": list(self.exclude),
            "hidden": self.has_hidden,
            "folders": [list(folder) for folder in self.folders],
        }

    @classmethod
    def from_json(cls, settings: dict[str, Any]) -> Selection:
        """What `to_json` wrote; names that are missing have their defaults."""
        return cls(
            settings["max_file_bytes"],
            tuple(settings.get("include", ())),
            tuple(settings.get("exclude", ())),
            bool(settings.get("hidden", False)),
            tuple((path, tag) for path, tag in settings.get("folders", ())),
        )

    def places(self, root: str) -> list[str]:
        """The folders to walk, where they lie."""
        paths = [path for path, _ in self.folders] or [""]
        return [os.path.join(root, path) if path else root for path in paths]


def find_sources(root: str, index_folder: str, selection: Selection) -> Discovery:
    """Discover a corpus, without the files of an index that lies inside it, or of those beside it.

    Raises: CorpusError: the root, or a folder of the selection, is not there.
    """
    choice = Choice(selection.include, selection.exclude, selection.has_hidden)
    found = Discovery()
    for folder in [path for path, _ in selection.folders] or [""]:
        part = discover(
            os.path.join(root, folder) if folder else root,
            max_file_bytes=selection.max_file_bytes,
            choice=choice,
        )
        prefix = f"{folder}/" if folder else ""
        if prefix:
            part.files = [replace(file, path=prefix + file.path) for file in part.files]
            part.problems = [(prefix + path, reason) for path, reason in part.problems]
        found.files += part.files
        found.problems += part.problems
        found.skipped += part.skipped
    is_own = _own(index_folder, root)
    found.files = [file for file in found.files if not is_own(file.path)]
    found.problems = [row for row in found.problems if not is_own(row[0])]
    if len(selection.folders) > 1:
        found.files.sort(key=lambda file: file.path)
    return found


def _place(folder: str, root: str) -> str | None:
    """A folder's path below a root, "" for the root itself; None outside of it."""
    above = os.path.join(os.path.realpath(root), "")
    inside = os.path.join(os.path.realpath(folder), "")
    return inside[len(above) :].replace(os.sep, "/") if inside.startswith(above) else None


def _own(index_folder: str, root: str) -> Callable[[str], bool]:
    """Tells paths below a root that are of an index, or of one that lies side by side with it."""
    own = _place(index_folder, root)
    above = os.path.dirname(os.path.normpath(index_folder))
    is_named = os.path.basename(above) == COLLECTIONS_FOLDER
    beside = _place(os.path.dirname(above), root) if is_named else None
    places = [place for place in (own, beside) if place is not None]

    def is_own(path: str) -> bool:
        if own and path.startswith(own):
            return True
        below = [path[len(place) :] for place in places if path.startswith(place)]
        return any(is_own_name(one.partition("/")[0]) for one in below)

    return is_own
