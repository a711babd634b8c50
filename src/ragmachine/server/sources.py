"""The files that the index holds, by the names that hits give them, and the lines in them.

A name is looked up among the indexed files and is never made into a path of its own, so that
``..``, absolute names, links and Windows drives lead nowhere. The text is the one that was indexed.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragmachine.chunking.builder import LineMap
from ragmachine.file_types import file_type_of
from ragmachine.server.problems import ProblemError

if TYPE_CHECKING:
    from ragmachine.index.reader import Index


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of an indexed file.

    Attributes:
        file_path: as hits name it.
        first_line, last_line: from 1, inclusive; 0 and 0 of an empty file.
        total_lines: of the whole file.
        text: the lines, their ends included.
    """

    file_path: str
    first_line: int
    last_line: int
    total_lines: int
    text: str

    def to_json(self) -> dict[str, Any]:
        """The excerpt as its document."""
        return {
            "file_path": self.file_path,
            "file_type": file_type_of(self.file_path),
            "first_line": self.first_line,
            "last_line": self.last_line,
            "total_lines": self.total_lines,
            "text": self.text,
        }


def find_name(index: Index, name: str) -> str:
    """The name of an indexed file; a leading slash may be missing, as URLs lose it.

    Raises: ProblemError: 404, no file is called so.
    """
    for candidate in (name, f"/{name}"):
        if index.file_text(candidate) is not None:
            return candidate
    raise ProblemError(
        404,
        "unknown_source",
        "no indexed file has this name",
        remedy="use the file_path of a hit; what was not indexed is not shown",
    )


def read_lines(index: Index, name: str, first: int | None, last: int | None) -> Excerpt:
    """Lines of an indexed file; the last line may lie beyond its end.

    Args:
        index: where it is looked up.
        name: as hits give it.
        first: from 1; None for the first.
        last: inclusive; None for the last.
    Raises: ProblemError: 404, no such file; 416, no such line.
    """
    name = find_name(index, name)
    text = index.file_text(name) or ""
    lines = _lines(text)
    start = first or 1
    end = min(last or len(lines), len(lines))
    if not lines and start == 1:
        return Excerpt(name, 0, 0, 0, "")
    if start > len(lines) or end < start:
        raise ProblemError(
            416,
            "no_such_lines",
            f"{name} has {len(lines)} lines; {start} to {last or len(lines)} are none of them",
            remedy="ask for lines from 1 on, the first before the last",
        )
    return Excerpt(name, start, end, len(lines), "".join(lines[start - 1 : end]))


def file_on_disk(index: Index, name: str) -> str:
    """Where an indexed file lies.

    Raises: ProblemError: 404, no such file, or it is gone or leads out of the indexed folder.
    """
    name = find_name(index, name)
    root = os.path.realpath(str(index.manifest["absolute_root"]))
    if os.path.isfile(root):
        root = os.path.dirname(root)
    relative = name.removeprefix(index.root.rstrip("/") + "/") if index.root else name
    path = os.path.realpath(os.path.join(root, relative))
    if os.path.commonpath([root, path]) != root or not os.path.isfile(path):
        raise ProblemError(
            404,
            "source_gone",
            "the file is no longer where it was indexed",
            remedy="bring the index up to date: POST /ingest",
        )
    return path


def names(index: Index) -> list[str]:
    """The names of all indexed files, as hits give them."""
    return [index.file_path(number) for number in range(len(index.files))]


def _lines(text: str) -> list[str]:
    """The lines as chunks count them, their ends included."""
    if not text:
        return []
    starts = LineMap(text).starts
    bounds = [*starts[: bisect_left(starts, len(text))], len(text)]
    return [text[left:right] for left, right in pairwise(bounds)]
