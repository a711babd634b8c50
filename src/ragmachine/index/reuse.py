"""Which files have not changed since the current generation was built.

Needs no numbers: a run that finds nothing changed imports no numpy. `kept` takes them over.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragmachine.corpus.decode import is_binary
from ragmachine.corpus.discover import Discovery, SourceFile
from ragmachine.errors import RagError
from ragmachine.index.provenance import versions
from ragmachine.index.request import SCORING, BuildRequest
from ragmachine.index.sources import Selection
from ragmachine.index.store import IndexStore
from ragmachine.index.summaries import Summaries

# A file saved in the same instant as it was indexed may change again without its time changing;
# the coarsest clock of a file system in use (FAT) ticks every two seconds.
_RACY_NS = 2_000_000_000
_SNIFFED_BYTES = 8192  # as `is_binary` looks at


class Previous:
    """The current generation as a source of finished work."""

    def __init__(
        self, folder: str, manifest: dict[str, Any], *, has_same_scores: bool = True
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.has_same_scores = has_same_scores
        self.reused = 0
        self._known = {row[0]: [*row, None][:6] for row in manifest["files"]}
        self._binary = {row[0]: tuple(row[1:]) for row in manifest["binary_files"]}
        self.binary_count = len(self._binary)

    @property
    def paths(self) -> set[str]:
        """The files indexed."""
        return set(self._known)

    def row(self, path: str) -> list[Any]:
        """What the manifest says of an indexed file."""
        row: list[Any] = self._known[path]
        return row

    @property
    def problems(self) -> list[tuple[str, str]]:
        """The problems that its build reported."""
        return [(path, reason) for path, reason in self.manifest["problems"]]

    def is_same(self, found: Discovery) -> bool:
        """Whether a build of what was found would give this generation again."""
        seen_before = self._problems_of_discovery()
        if not self.has_same_scores or found.problems != seen_before:
            return False
        unread = {path for path, _ in self.problems} - {path for path, _ in seen_before}
        others = self._binary.keys() | (unread - self._known.keys())
        if {file.path for file in found.files} != self._known.keys() | others:
            return False
        return all(
            self._is_left_out(file) if file.path in others else self._is_kept(file)
            for file in found.files
        )

    def _problems_of_discovery(self) -> list[tuple[str, str]]:
        return [(path, reason) for path, reason in self.manifest["discovery_problems"]]

    def _is_left_out(self, file: SourceFile) -> bool:
        """Whether a file that could not be indexed still is what it was."""
        if file.path in self._binary:
            return self._is_still_binary(file)
        try:
            with open(file.absolute, "rb"):
                return False
        except OSError:
            return True

    def split(
        self, files: Sequence[SourceFile]
    ) -> tuple[list[SourceFile], list[SourceFile], list[SourceFile]]:
        """(files to take over, files known to be binary, files to analyze)."""
        kept, binary, fresh = [], [], []
        for file in files:
            if self._is_kept(file):
                kept.append(file)
            elif file.path in self._binary and self._is_still_binary(file):
                binary.append(file)
            else:
                fresh.append(file)
        self.reused = len(kept)
        return kept, binary, fresh

    def _is_racy(self, file: SourceFile) -> bool:
        """Whether the file may have changed after it was read without its time showing it."""
        return bool(file.mtime_ns >= self.manifest["created_ns"] - _RACY_NS)

    def _is_still_binary(self, file: SourceFile) -> bool:
        is_same = self._binary[file.path] == (file.size, file.mtime_ns, file.ctime_ns)
        if is_same and not self._is_racy(file):
            return True
        try:
            with open(file.absolute, "rb") as stream:
                return is_binary(stream.read(_SNIFFED_BYTES))
        except OSError:
            return False

    def _is_kept(self, file: SourceFile) -> bool:
        row = self._known.get(file.path)
        if row is None or row[1] != file.size or not os.access(file.absolute, os.R_OK):
            return False
        is_same = (row[2], row[5]) == (file.mtime_ns, file.ctime_ns)
        if is_same and not self._is_racy(file):
            return True
        try:
            with open(file.absolute, "rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            return False
        return bool(digest == row[3])


@dataclass(frozen=True, slots=True)
class Changes:
    """What happened to a folder since its index was built; paths relative to the corpus root.

    Attributes:
        changed: files whose bytes are others now, or that cannot be read any more.
        new: files that were not there, or not read as text.
        removed: files that are gone, or left out by rule now.
    """

    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Files in all."""
        return len(self.changed) + len(self.new) + len(self.removed)


def changes_since(previous: Previous, found: Discovery) -> Changes:
    """Compare what discovery finds now with what a generation was built of.

    Only files whose size or times are others are read, to tell a change from a touch.
    """
    now = {file.path for file in found.files}
    _, _, fresh = previous.split(found.files)
    unread = {path for path, _ in previous.problems} - previous.paths
    fresh = [file for file in fresh if file.path not in unread]
    return Changes(
        tuple(file.path for file in fresh if file.path in previous.paths),
        tuple(file.path for file in fresh if file.path not in previous.paths),
        tuple(sorted(previous.paths - now)),
    )


def load_previous(
    store: IndexStore, request: BuildRequest, summaries: Summaries | None
) -> Previous | None:
    """The current generation, if it is intact and was cut from the same root in the same way.

    Other scores and summaries are no obstacle: scores are made anew of the counts that are taken
    over. An unusable one is no error here: the build then starts from nothing.
    """
    try:
        folder, manifest = store.read(lambda folder: (folder, store.manifest(folder)))
    except RagError:
        return None
    settings = manifest["settings"]
    wanted = {**request.shape.to_json(), "max_file_bytes": request.max_file_bytes}
    changed = {name for name in wanted if settings.get(name) != wanted[name]}
    is_of_use = (
        changed <= SCORING
        and manifest["corpus_root"] == request.display_root
        and manifest["absolute_root"] == os.path.abspath(request.root)
        and manifest["versions"] == versions()
    )
    if not is_of_use:
        return None
    indexed = (manifest["summaries"] or {}).get("digest")
    has_same_summaries = indexed == (summaries.digest if summaries else None)
    is_same = has_same_summaries and Selection.from_json(settings) == request.selection
    return Previous(folder, manifest, has_same_scores=not changed and is_same)
