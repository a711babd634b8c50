"""What an index consists of: files, chunks and characters by type and by folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragmachine.index.reader import Index

_TOP = 20


@dataclass(frozen=True, slots=True)
class Group:
    """Files that have something in common; `characters` are those of their chunks."""

    name: str
    files: int
    chunks: int
    characters: int

    def to_json(self) -> dict[str, Any]:
        """The group as JSON."""
        return {
            "name": self.name,
            "files": self.files,
            "chunks": self.chunks,
            "characters": self.characters,
        }


@dataclass(frozen=True, slots=True)
class Statistics:
    """An index in numbers.

    Attributes:
        corpus_root: how its paths begin.
        counts: files, chunks, passages, terms.
        chunk_characters: smallest, median, mean and largest chunk.
        types: files by type, most chunks first.
        folders: files by first folder below the root, most chunks first, the first 20.
    """

    corpus_root: str
    counts: dict[str, int]
    chunk_characters: dict[str, float]
    types: tuple[Group, ...]
    folders: tuple[Group, ...]

    def to_json(self) -> dict[str, Any]:
        """The statistics as one JSON document."""
        return {
            "corpus_root": self.corpus_root,
            "counts": self.counts,
            "chunk_characters": self.chunk_characters,
            "types": [group.to_json() for group in self.types],
            "folders": [group.to_json() for group in self.folders],
        }


def count(index: Index) -> Statistics:
    """Count an opened index."""
    from statistics import fmean, median

    lengths = index.chunk_lengths()
    sizes: Counter[int] = Counter()
    chunks: Counter[int] = Counter()
    for file, length in zip(index.file_of_chunk.tolist(), lengths, strict=True):
        sizes[file] += length
        chunks[file] += 1
    rows = range(len(index.files))

    def grouped(names: Iterable[str]) -> tuple[Group, ...]:
        members: dict[str, list[int]] = {}
        for file, name in zip(rows, names, strict=True):
            members.setdefault(name, []).append(file)
        groups = (
            Group(name, len(own), sum(chunks[f] for f in own), sum(sizes[f] for f in own))
            for name, own in members.items()
        )
        return tuple(sorted(groups, key=lambda group: (-group.chunks, group.name)))

    folders = grouped(path.partition("/")[0] if "/" in path else "." for path in index.files)
    return Statistics(
        index.root,
        dict(index.manifest["counts"]),
        {
            "smallest": min(lengths, default=0),
            "median": float(median(lengths)) if lengths else 0.0,
            "mean": round(fmean(lengths), 1) if lengths else 0.0,
            "largest": max(lengths, default=0),
        },
        grouped(index.file_types),
        folders[:_TOP],
    )
