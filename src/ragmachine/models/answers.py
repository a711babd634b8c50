"""What is answered, what it rests on, and what of it is supported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ragmachine.models.chunks import location_of, place_json
from ragmachine.models.hits import Hit, SearchResult
from ragmachine.usage import Usage


@dataclass(frozen=True, slots=True)
class Grounds:
    """How much of a question the corpus holds, as far as its words tell.

    Attributes:
        strength: 0 to 1: `coverage`, lowered where a name of the question is missing.
        coverage: share of the question's weight that one of the best hits holds, 0 to 1.
        missing: names in the question that nobody wrote, as the asker wrote them.
    """

    strength: float
    coverage: float
    missing: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The grounds as JSON, rounded."""
        return {
            "strength": round(self.strength, 4),
            "coverage": round(self.coverage, 4),
            "missing": list(self.missing),
        }


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered pointer from an answer to the lines it rests on.

    Attributes:
        number: the n of ``[n]`` in the answer, from 1.
        file_path, start, end, first_line, last_line, place: the cited span, as in `Chunk`.
    """

    number: int
    file_path: str
    start: int
    end: int
    first_line: int
    last_line: int
    place: str = ""

    @property
    def location(self) -> str:
        """As in `Chunk`."""
        return location_of(self.file_path, self.first_line, self.last_line, self.place)

    def to_json(self) -> dict[str, Any]:
        """The citation with the contract's names for offsets."""
        return {
            "number": self.number,
            "file_path": self.file_path,
            "first_character_index": self.start,
            "last_character_index": self.end,
            "first_line": self.first_line,
            "last_line": self.last_line,
            **place_json(self.place),
        }


@dataclass(frozen=True, slots=True)
class Support:
    """A sentence of an answer, and whether the passages say so.

    Attributes:
        start, end: place of the sentence in the answer, in characters.
        text: the sentence, its citations included.
        is_supported: whether its numbers, names and quotations stand in the passages that it
            cites, or in any where it cites none, and enough of its words stand together there.
        score: weight of those of its words that stand together, as a share, 0 to 1.
        reason: why it is not supported, else "".
        citations: passages that it cites, in its order.
        span: the smallest lines that hold what it says best; None where they hold nothing of it.
    """

    start: int
    end: int
    text: str
    is_supported: bool
    score: float
    reason: str = ""
    citations: tuple[int, ...] = ()
    span: Citation | None = None

    def to_json(self) -> dict[str, Any]:
        """The sentence, its offsets in the answer, the verdict, and the lines behind it."""
        return {
            "sentence": self.text,
            "answer_start": self.start,
            "answer_end": self.end,
            "supported": self.is_supported,
            "score": round(self.score, 4),
            "reason": self.reason,
            "citations": list(self.citations),
            "span": self.span.to_json() if self.span else None,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and what it rests on.

    Attributes:
        text: what the user reads; ``[n]`` refers to `citations`.
        mode: who wrote it: the model's name, ``extractive``, or ``none`` for a refusal.
        result: the search behind it.
        citations: the passages cited, by number.
        notice: one line on a fall-back and its remedy, else "".
        answer_time_ms: wall time of generation in milliseconds, search excluded.
        sentences: `text` cut into sentences, each checked; empty for a refusal.
        grounds: what the search gave to answer from; None where nobody looked.
        context: the passages as its author saw them, by number: merged, and cut where the room
            ended. Empty where none was shown, as for an answer given again.
        usage: what a model read and wrote; None where none was asked.
    """

    text: str
    mode: str
    result: SearchResult
    citations: tuple[Citation, ...] = ()
    notice: str = ""
    answer_time_ms: float = 0.0
    sentences: tuple[Support, ...] = ()
    grounds: Grounds | None = None
    context: tuple[Hit, ...] = ()
    usage: Usage | None = None

    @property
    def is_refusal(self) -> bool:
        """Whether the answer is that nothing is known."""
        return self.mode == "none"

    def to_json(self) -> dict[str, Any]:
        """The search result's document plus the answer, its citations and its sentences."""
        document = self.result.to_json()
        document["answer"] = self.text
        document["answer_mode"] = self.mode
        document["citations"] = [citation.to_json() for citation in self.citations]
        document["refused"] = self.is_refusal
        document["grounds"] = self.grounds.to_json() if self.grounds else None
        document["sentences"] = [sentence.to_json() for sentence in self.sentences]
        document["notice"] = self.notice or self.result.notice
        document["metrics"]["answer_time_ms"] = round(self.answer_time_ms, 3)
        return document
