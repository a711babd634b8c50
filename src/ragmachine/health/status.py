"""What an index holds and how far its folder has moved on, told without opening the index."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ragmachine.errors import CorpusError
from ragmachine.index.files import read_json
from ragmachine.index.hashes import verify
from ragmachine.index.pages import page_totals
from ragmachine.index.provenance import versions
from ragmachine.index.removal import own_entries, size_of
from ragmachine.index.reuse import Changes, Previous, changes_since
from ragmachine.index.sources import Selection, find_sources
from ragmachine.index.store import VECTORS, IndexStore
from ragmachine.places import PageTotals


@dataclass(frozen=True, slots=True)
class VectorState:
    """Vectors beside an index.

    Attributes:
        encoder: who made them.
        known: chunks of the index that answers whose head has one.
        missing: chunks that lack one; all of them where the vectors belong to another generation.
    """

    encoder: str
    known: int
    missing: int


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """One index.

    Attributes:
        folder: where it lies.
        generation: the one that answers.
        corpus_root: how its paths begin.
        absolute_root: the folder that was indexed.
        folders: (path below the root, tag) where not the whole root was.
        built_ns: when the build began, since the epoch.
        counts: files, chunks, passages, terms.
        settings: those that shaped it.
        skipped: files and folders left out by rule at the build, counted by reason.
        problems: (path, reason) of files that were odd or could not be read.
        pages: how the pages of documents that have some were read.
        sizes: bytes on disk of ``index``, ``vectors``, ``caches`` and other parts.
        is_current_code: False where another version built it: the next run builds it anew.
        changes: what happened to the folder since.
        notice: why `changes` says nothing, else "".
        vectors: None where none were made.
        summaries: model and number of summarised chunks; None where there are none.
        command: brings the index up to date as it was built, in the words to type.
    """

    folder: str
    generation: str
    corpus_root: str
    absolute_root: str
    folders: tuple[tuple[str, str], ...]
    built_ns: int
    counts: dict[str, int]
    settings: dict[str, Any]
    skipped: dict[str, int]
    problems: tuple[tuple[str, str], ...]
    pages: PageTotals
    sizes: dict[str, int]
    is_current_code: bool
    changes: Changes = field(default_factory=Changes)
    notice: str = ""
    vectors: VectorState | None = None
    summaries: dict[str, Any] | None = None
    command: str = "ragmachine index"

    @property
    def is_fresh(self) -> bool:
        """Whether the index is what a run would build now."""
        return self.is_current_code and not self.notice and not self.changes.count

    @property
    def built(self) -> datetime:
        """When the build began, in UTC."""
        return datetime.fromtimestamp(self.built_ns / 1e9, UTC)

    def to_json(self) -> dict[str, Any]:
        """The status as one JSON document."""
        changes = self.changes
        return {
            "index_dir": self.folder,
            "generation": self.generation,
            "corpus_root": self.corpus_root,
            "absolute_root": self.absolute_root,
            "folders": [{"path": path, "tag": tag} for path, tag in self.folders],
            "built": self.built.isoformat(timespec="seconds"),
            "counts": self.counts,
            "settings": self.settings,
            "fresh": self.is_fresh,
            "changed": list(changes.changed),
            "new": list(changes.new),
            "removed": list(changes.removed),
            "update": "" if self.is_fresh else self.command,
            "same_version": self.is_current_code,
            "skipped": self.skipped,
            "problems": [{"file_path": path, "reason": reason} for path, reason in self.problems],
            "pages": self.pages.to_json(),
            "bytes": {**self.sizes, "total": sum(self.sizes.values())},
            "vectors": None if self.vectors is None else {
                "encoder": self.vectors.encoder,
                "chunks": self.vectors.known,
                "missing": self.vectors.missing,
            },
            "summaries": self.summaries,
            "notice": self.notice,
        }  # fmt: skip


def read_status(store: IndexStore) -> IndexStatus:
    """The status of the index that answers; the manifest is checked against its hash.

    Raises: IndexMissingError, IndexCorruptError, IndexVersionError.
    """
    folder = store.require_current()
    verify([os.path.join(folder, "manifest.json")])
    manifest = store.manifest(folder)
    previous = Previous(folder, manifest)
    changes, notice = Changes(), ""
    selection = Selection.from_json(manifest["settings"])
    try:
        found = find_sources(manifest["absolute_root"], store.folder, selection)
        changes = changes_since(previous, found)
    except CorpusError as error:
        notice = f"{error.message}: how fresh the index is cannot be told"
    summaries = manifest["summaries"]
    return IndexStatus(
        folder=store.folder,
        generation=os.path.basename(folder),
        corpus_root=manifest["corpus_root"],
        absolute_root=manifest["absolute_root"],
        folders=selection.folders,
        built_ns=manifest["created_ns"],
        counts=manifest["counts"],
        settings=manifest["settings"],
        skipped=manifest["skipped"],
        problems=tuple((path, reason) for path, reason in manifest["problems"]),
        pages=page_totals(manifest),
        sizes=sizes_on_disk(store),
        is_current_code=manifest["versions"] == versions(),
        changes=changes,
        notice=notice,
        vectors=_vectors(store, folder, manifest["counts"]["chunks"]),
        summaries=summaries
        and {"model": summaries["model"], "chunks": summaries["chunks"]},
    )  # fmt: skip


def sizes_on_disk(store: IndexStore) -> dict[str, int]:
    """Bytes of the generations, the vectors, the summaries and the caches; parts of 0 left out."""
    sizes = {"index": 0, "vectors": 0, "summaries": 0, "caches": 0}
    for name in own_entries(store.folder):
        part = (
            "vectors" if name == VECTORS
            else "index" if "gen-" in name or name == "CURRENT"
            else "summaries" if name.startswith("summaries")
            else "caches"
        )  # fmt: skip
        sizes[part] += size_of(store.path(name))
    return {part: size for part, size in sizes.items() if size}


def _vectors(store: IndexStore, generation: str, chunks: int) -> VectorState | None:
    path = os.path.join(store.folder, VECTORS, "current.json")
    if not os.path.isfile(path):
        return None
    state = read_json(path)
    is_of_this = state.get("generation") == os.path.basename(generation)
    known = int(state.get("chunks", 0)) if is_of_this else 0
    return VectorState(str(state.get("encoder", "")), known, chunks - known)
