"""The short columns of records, by which a search can be restricted.

<generation>/rows/rows.json     a JSON list, an object for each row of each table of records
<generation>/rows/starts.npy    where each row starts in it, and where one more would

The chunk map names the first row of each table. An index without such tables has none of this.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson

from ragmachine.index.files import Documents, chunk_map_places, damage

if TYPE_CHECKING:
    from ragmachine.index.analyze import FileRecord

ROWS = "rows"  # the artifact, and its key in the chunk map
Ints = npt.NDArray[np.int64]
Values = dict[str, str | list[str]]


@dataclass(frozen=True, slots=True)
class RowFacts:
    """All rows of an index, and the chunks that they are in.

    Attributes:
        rows: column to value, or to the values of a list, for each row.
        chunks, numbers: (pairs,) a chunk, and a row that it holds text of.
    """

    rows: Sequence[Values]
    chunks: Ints
    numbers: Ints


def first_rows(files: Sequence[FileRecord]) -> dict[str, int]:
    """The first row of each file that has rows."""
    starts = accumulate((len(file.rows) for file in files), initial=0)
    return {file.path: start for file, start in zip(files, starts, strict=False) if file.rows}


def write_rows(generation: str, files: Sequence[FileRecord]) -> None:
    """Write the rows of all files; nothing where there are none."""
    rows = [row for file in files for row in file.rows]
    if not rows:
        return
    folder = os.path.join(generation, ROWS)
    os.makedirs(folder)
    with open(os.path.join(folder, "rows.json"), "wb") as stream:
        stream.write(b"[" + b",".join(rows) + b"]")
    starts = list(accumulate((len(row) + 1 for row in rows), initial=1))
    np.save(os.path.join(folder, "starts.npy"), np.array(starts, dtype=np.int64))


class Rows:
    """The rows of a generation, held open and parsed when they are asked for.

    Args:
        generation: its folder.
        chunk_map: its chunk map.
    """

    def __init__(self, generation: str, chunk_map: Mapping[str, Any]) -> None:
        self._map = chunk_map
        self._first: Mapping[str, int] = chunk_map.get(ROWS, {})
        self._path = os.path.join(generation, ROWS, "rows.json")
        if self._first:
            with damage(self._path):
                self._documents = Documents(self._path)
            path = os.path.join(generation, ROWS, "starts.npy")
            with damage(path):
                self._starts = np.load(path, mmap_mode="r")

    def of_file(self, path: str) -> tuple[bytes, ...]:
        """A file's rows as they are written; empty for a file that is no table of records."""
        if path not in self._first:
            return ()
        starts, _ = chunk_map_places(self._map, path)
        first = self._first[path]
        return tuple(self._raw(row) for row in range(first, first + len(starts)))

    def of_range(self, path: str, start: int, end: int) -> Values:
        """What the row says that a range of a file's text stands in; nothing for several rows."""
        if path not in self._first:
            return {}
        starts, _ = chunk_map_places(self._map, path)
        row = bisect_right(starts, start) - 1
        if row + 1 < len(starts) and starts[row + 1] < end:
            return {}
        with damage(self._path):
            values: Values = orjson.loads(self._raw(self._first[path] + row))
            return values

    def facts(self) -> RowFacts:
        """Everything, parsed; not kept, since it may be large."""
        if not self._first:
            return RowFacts((), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        with damage(self._path):
            rows = orjson.loads(self._documents.raw(0, int(self._starts[-1])))
        numbers = dict(zip(self._map["files"], range(len(self._map["files"])), strict=True))
        first_chunk = [0, *accumulate(self._map["file_chunks"])]
        pairs = [
            self._pairs(path, first_chunk[numbers[path]], first_chunk[numbers[path] + 1])
            for path in self._first
        ]
        chunks, held = (np.concatenate(column) for column in zip(*pairs, strict=True))
        return RowFacts(rows, chunks, held)

    def _pairs(self, path: str, from_: int, to: int) -> tuple[Ints, Ints]:
        """Each chunk of a file with each row that it holds text of."""
        starts = np.array(chunk_map_places(self._map, path)[0], dtype=np.int64)
        low = np.searchsorted(starts, self._map["start"][from_:to], side="right") - 1
        high = np.searchsorted(starts, self._map["end"][from_:to], side="left") - 1
        count = high - low + 1
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        chunks = np.repeat(np.arange(from_, to), count)
        return chunks, np.repeat(low, count) + within + self._first[path]

    def _raw(self, row: int) -> bytes:
        return self._documents.raw(int(self._starts[row]), int(self._starts[row + 1]) - 1)
