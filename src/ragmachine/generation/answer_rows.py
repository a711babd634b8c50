"""Answers given earlier: as values, and as rows of JSON."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ragmachine.models import Answer, Citation, SearchResult

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

T = TypeVar("T")
Read = Callable[[Citation], str | None]
"""Gives the text that a citation points to now; None when it is gone."""

_LATEST_S = 1e11  # in the year 5138: calendars end somewhere
_INTEGERS = ("number", "first_character_index", "last_character_index", "first_line", "last_line")


@dataclass(frozen=True, slots=True)
class CachedSource:
    """A place that an answer rests on.

    Attributes:
        citation: its number in the answer, file and lines.
        digest: SHA-256 of the cited text in UTF-8, in hexadecimal.
    """

    citation: Citation
    digest: str


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer given earlier.

    Attributes:
        question: as it was asked then.
        text: the answer; ``[n]`` refers to `sources`.
        mode: who wrote it, as in `Answer`.
        sources: what it rests on, by number; never empty.
        saved_s: when it was stored, in seconds since 1970.
        similarity: cosine of that question with the one asked now; 1 for the same question.
    """

    question: str
    text: str
    mode: str
    sources: tuple[CachedSource, ...]
    saved_s: float
    similarity: float = 1.0

    def is_current(self, read: Read) -> bool:
        """Whether every cited text is still there, letter by letter."""
        texts = [read(source.citation) for source in self.sources]
        return all(
            text is not None and digest(text) == source.digest
            for text, source in zip(texts, self.sources, strict=True)
        )

    def answer(self, result: SearchResult) -> Answer:
        """The answer as one to the question of a new search, with a notice on where it is from."""
        when = time.strftime("%Y-%m-%d", time.localtime(self.saved_s))
        notice = f"as answered on {when} to: {' '.join(self.question.split())}"
        citations = tuple(source.citation for source in self.sources)
        return Answer(self.text, self.mode, result, citations, notice)


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer in the cache.

    Attributes:
        scope: digest of what decides the answer beside the question.
        answer: what was answered.
        vector: (dimensions,) float32 of length 1, of the question; None when it has none.
        used_s: when it was last served or stored, in seconds since 1970.
    """

    scope: str
    answer: CachedAnswer
    vector: Vector | None
    used_s: float


def to_row(entry: Entry) -> dict[str, Any]:
    """An entry as JSON."""
    answer, vector = entry.answer, entry.vector
    packed = None if vector is None else base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return {
        "scope": entry.scope,
        "question": answer.question,
        "answer": answer.text,
        "mode": answer.mode,
        "sources": [{**one.citation.to_json(), "sha256": one.digest} for one in answer.sources],
        "saved_s": answer.saved_s,
        "used_s": entry.used_s,
        "vector": packed,
    }


def from_row(row: Mapping[str, Any]) -> Entry:
    """An entry from JSON.

    Raises: KeyError, TypeError, ValueError: it is not one.
    """
    scope, question, text, mode = (
        _of(str, row[k]) for k in ("scope", "question", "answer", "mode")
    )
    saved_s, used_s = _of(float, row["saved_s"]), _of(float, row["used_s"])
    sources = tuple(map(_source, _of(list, row["sources"])))
    if not sources or not 0 <= saved_s < _LATEST_S:
        raise ValueError("an answer has sources and a time")
    packed = row["vector"]
    vector = None if packed is None else _unpacked(_of(str, packed))
    return Entry(scope, CachedAnswer(question, text, mode, sources, saved_s), vector, used_s)


def _source(row: Mapping[str, Any]) -> CachedSource:
    number, start, end, first_line, last_line = (_of(int, row[name]) for name in _INTEGERS)
    path = _of(str, row["file_path"])
    place = _of(str, row.get("place", ""))
    citation = Citation(number, path, start, end, first_line, last_line, place)
    return CachedSource(citation, _of(str, row["sha256"]))


def _of(kind: type[T], value: Any) -> T:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _unpacked(packed: str) -> Vector | None:
    import numpy as np

    return unit(np.frombuffer(base64.b64decode(packed, validate=True), dtype="<f4"))


def unit(vector: Vector | None) -> Vector | None:
    """The vector with length 1 as float32; None where it has no direction."""
    if vector is None:
        return None
    import numpy as np

    row = np.asarray(vector, dtype=np.float64)
    length = float(np.linalg.norm(row))
    if row.ndim != 1 or not 0 < length < float("inf"):
        return None
    return (row / length).astype(np.float32)


def digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
