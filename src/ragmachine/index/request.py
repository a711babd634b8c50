"""What to index and how, as plain values handed down by the pipeline."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from ragmachine.chunking.document import STRUCTURE
from ragmachine.errors import CorpusError
from ragmachine.index.bm25 import Bm25

# Those settings of a shape that only turn counts into scores: a change reads no file again.
SCORING = frozenset({"context", "bm25", "k1", "b"})


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides chunks and their scores: a change of any of these means a new generation.

    Attributes:
        max_chars: hard limit of a chunk in characters.
        overlap_chars: characters repeated from the chunk before, in whole lines.
        chunker: one of `chunking.document.CHUNKERS`.
        has_context: whether a chunk is also found by the words of its label and path, and a
            passage by those that it carries.
        has_table_rows: whether each row of a large table is a passage, with the table's header
            and section for its context.
        bm25: how terms are scored.
    """

    max_chars: int
    overlap_chars: int
    chunker: str = STRUCTURE
    has_context: bool = True
    has_table_rows: bool = True
    bm25: Bm25 = field(default_factory=Bm25)

    @property
    def cut(self) -> tuple[int, int, str, bool]:
        """What decides chunks and passages; all else turns their counts into scores."""
        return self.max_chars, self.overlap_chars, self.chunker, self.has_table_rows

    def to_json(self) -> dict[str, Any]:
        """The shape under the names of the settings it was made of, for the manifest."""
        return {
            "max_chunk_size": self.max_chars,
            "overlap": self.overlap_chars,
            "chunker": self.chunker,
            "context": self.has_context,
            "table_rows": self.has_table_rows,
            "bm25": self.bm25.variant,
            "k1": self.bm25.k1,
            "b": self.bm25.b,
        }


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to index and how.

    Attributes:
        root: folder or file on disk.
        display_root: how `file_path` begins, POSIX.
        shape: what decides the chunks.
        max_file_bytes: larger files are reported and left out.
        workers: processes; 1 keeps everything in this one.
        is_strict: any problem fails the run.
        is_forced: nothing is taken over from the current generation.
    """

    root: str
    display_root: str
    shape: Shape
    max_file_bytes: int
    workers: int
    is_strict: bool = False
    is_forced: bool = False


def locate(path: str | os.PathLike[str], project_root: str) -> tuple[str, str]:
    """(where a corpus is, how its paths begin).

    A relative path is looked for from the current folder, then from the project root. Inside the
    project root paths are written relative to it, links in the way it was given kept; elsewhere
    they are absolute. The paths of a single file begin with its folder.

    Raises: CorpusError: the path is not UTF-8, and could not be written into results.
    """
    given = os.path.expanduser(os.fspath(path))
    absolute = os.path.abspath(given)
    if not os.path.isabs(given) and not os.path.exists(absolute):
        absolute = os.path.abspath(os.path.join(project_root, given))
    display_root = _relative(
        os.path.dirname(absolute) if os.path.isfile(absolute) else absolute, project_root
    )
    try:
        absolute.encode("utf-8")
        display_root.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CorpusError(
            f"the name of {absolute!r} is not UTF-8", remedy="rename the folder"
        ) from error
    return absolute, display_root


def _relative(absolute: str, project_root: str) -> str:
    for root in (os.path.abspath(project_root), os.path.realpath(project_root)):
        for candidate in (absolute, os.path.realpath(absolute)):
            if os.path.commonpath([root, candidate]) == root:
                relative = os.path.relpath(candidate, root)
                return "" if relative == "." else relative.replace(os.sep, "/")
    return absolute.replace(os.sep, "/")
