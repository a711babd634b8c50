"""The values that travel between the rooms: chunks, hits, citations and answers.

Plain frozen dataclasses, since importing pydantic costs a one-shot search a fifth of its time;
files that come from outside are validated with pydantic in `ragmachine.exchange`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ragmachine.places import Box, PageTotals, around, page_number
from ragmachine.usage import Usage

# Column to value, or to the values of a list, of a record; in the order of its columns.
Metadata = tuple[tuple[str, str | tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A contiguous piece of one source file.

    Attributes:
        id: position in its index, from 0; stable within one generation only.
        file_path: POSIX path relative to the project root.
        start: first character, an index into the file decoded as UTF-8 untranslated.
        end: one past the last character; ``file_text[start:end] == text``.
        first_line: line of `start`, counted from 1.
        last_line: line of the last character, inclusive.
        text: the exact source text; never holds injected metadata.
        file_type: short lower-case type such as ``python``, ``markdown``, ``cuda``.
        label: symbol or section, e.g. ``Class: Engine - Method: step`` or ``Section: A > B``.
        place: where it stands in a document whose bytes are not its text, e.g. ``p.2``, ``row 7``;
            offsets and lines then count in the text read out of it. Else "".
        metadata: the short columns of the record that it is text of, else empty.
        boxes: where it stands on the page where it begins, a box for each column of text; empty
            where that is not known.
    """

    id: int
    file_path: str
    start: int
    end: int
    first_line: int
    last_line: int
    text: str
    file_type: str
    label: str
    place: str = ""
    metadata: Metadata = ()
    boxes: tuple[Box, ...] = ()

    @property
    def location(self) -> str:
        """``path:first-last``, as people and editors name lines, or the like of ``path p.2``."""
        return location_of(self.file_path, self.first_line, self.last_line, self.place)

    @property
    def content_id(self) -> str:
        """SHA-256 of path and text, in hexadecimal: the same in every build that finds them so."""
        import hashlib

        return hashlib.sha256(
            f"{self.file_path}\0{self.text}".encode("utf-8", "surrogatepass")
        ).hexdigest()


# What became of a hit's text in a file that has changed since it was indexed.
UNMOVED, MOVED, CHANGED, GONE = "unmoved", "moved", "changed", "gone"


@dataclass(frozen=True, slots=True)
class Staleness:
    """Says that a hit's file is not the one that was indexed.

    Attributes:
        state: ``unmoved``: the text stands where it stood, ``moved``: at other lines, ``changed``:
            nowhere in the file any more, ``gone``: the file is not there.
        first_line, last_line: where it stands now; 0 where it stands nowhere.
    """

    state: str
    first_line: int = 0
    last_line: int = 0

    def to_json(self) -> dict[str, Any]:
        """Fields of the hit: what became of it, and its lines now."""
        lines = {"first_line_now": self.first_line, "last_line_now": self.last_line}
        return {"state": self.state, **(lines if self.first_line else {})}

    def __str__(self) -> str:
        if self.state == MOVED:
            return f"file changed, now lines {self.first_line}-{self.last_line}"
        return {UNMOVED: "file changed elsewhere", GONE: "file is gone"}.get(
            self.state, "changed since it was indexed"
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a query retrieved.

    Attributes:
        rank: from 1.
        score: positive, larger is better; comparable within one query only.
        stages: what each retrieval stage contributed to the score, by stage name.
        terms: the indexed terms of the query that the chunk, its label, path or summary holds.
        staleness: None where the chunk's file is what was indexed, or nobody looked.
    """

    rank: int
    score: float
    chunk: Chunk
    stages: dict[str, float] = field(default_factory=dict)
    terms: tuple[str, ...] = ()
    staleness: Staleness | None = None

    def to_json(self) -> dict[str, Any]:
        """The hit as the contract's JSON: path, offsets, lines, text, type, label, score.

        Of a record also its short columns, as ``metadata``. Of a document with pages ``page``,
        from 1, and ``box``, [x0, top, x1, bottom] in points from the top left corner of the page
        as it is shown; ``boxes`` where the text stands in several columns.
        """
        chunk = self.chunk
        return {
            "rank": self.rank,
            "score": round(self.score, 6),
            "file_path": chunk.file_path,
            "first_character_index": chunk.start,
            "last_character_index": chunk.end,
            "first_line": chunk.first_line,
            "last_line": chunk.last_line,
            "file_type": chunk.file_type,
            "label": chunk.label,
            **_place(chunk.place),
            **_page(chunk),
            **({"metadata": dict(chunk.metadata)} if chunk.metadata else {}),
            "chunk_id": chunk.content_id,
            "stale": self.staleness is not None,
            **(self.staleness.to_json() if self.staleness else {}),
            "text": chunk.text,
        }


def location_of(file_path: str, first_line: int, last_line: int, place: str) -> str:
    """``path:first-last``, or the path and its place in a document that has no lines."""
    return f"{file_path} {place}" if place else f"{file_path}:{first_line}-{last_line}"


def _place(place: str) -> dict[str, str]:
    """The place as a field of JSON, which files without places do not have."""
    return {"place": place} if place else {}


def _page(chunk: Chunk) -> dict[str, Any]:
    """The page as fields of JSON, and the boxes on it where they are known."""
    page = page_number(chunk.place)
    if not page:
        return {}
    boxes = [list(box) for box in chunk.boxes]
    return {
        "page": page,
        **({"box": list(around(chunk.boxes))} if boxes else {}),
        **({"boxes": boxes} if len(boxes) > 1 else {}),
    }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The ranked hits of one query.

    Attributes:
        query: the text as asked.
        strategy: name of the retrieval strategy, e.g. ``lexical``.
        hits: best first; empty when nothing in the corpus bears on the query.
        total_chunks: size of the index that was searched.
        search_time_ms: wall time of the search in milliseconds, index loading excluded.
        notice: one line on why `hits` is empty or narrower than asked, else "".
        is_cached: whether the hits came from the query cache.
        plan: what was made of the query: terms and weights, added words, corrections, parts.
        stage_ms: `search_time_ms` in parts: ``plan``, ``search`` and, where it ran, ``rerank``.
    """

    query: str
    strategy: str
    hits: tuple[Hit, ...]
    total_chunks: int
    search_time_ms: float
    notice: str = ""
    is_cached: bool = False
    plan: dict[str, Any] = field(default_factory=dict)
    stage_ms: dict[str, float] = field(default_factory=dict)

    def to_json(self, *, is_explained: bool = False) -> dict[str, Any]:
        """The result as one JSON document, as ``search --json`` prints it.

        Args:
            is_explained: add the plan, and what each stage gave each hit.
        """
        document = self._document()
        if is_explained:
            document["plan"] = self.plan
            for hit, row in zip(self.hits, document["retrieved_chunks"], strict=True):
                row["stages"] = {stage: round(part, 4) for stage, part in hit.stages.items()}
        return document

    def _document(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "strategy": self.strategy,
            "retrieved_chunks": [hit.to_json() for hit in self.hits],
            "notice": self.notice,
            "metrics": {
                "search_time_ms": round(self.search_time_ms, 3),
                "total_chunks": self.total_chunks,
                "cached": self.is_cached,
            },
        }


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
            **_place(self.place),
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


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an indexing run did.

    Attributes:
        corpus_root: the folder indexed, as `Chunk.file_path` spells it.
        files: files in the index.
        chunks: chunks in the index.
        terms: distinct terms.
        reused: files taken from the previous generation without being read.
        skipped: files left out by rule, counted by reason.
        problems: (path, reason) of every file that was odd or unreadable.
        seconds: wall time.
        is_unchanged: the index already was what this run would have built.
        pages: how the pages of documents that have some were read.
        notice: what went otherwise than the settings want, and what to do, else "".
    """

    corpus_root: str
    files: int
    chunks: int
    terms: int
    reused: int
    skipped: dict[str, int]
    problems: tuple[tuple[str, str], ...]
    seconds: float
    is_unchanged: bool = False
    pages: PageTotals = field(default_factory=PageTotals)
    notice: str = ""

    def to_json(self) -> dict[str, Any]:
        """The report as one JSON document, as ``index --json`` prints it."""
        return {
            "corpus_root": self.corpus_root,
            "files": self.files,
            "chunks": self.chunks,
            "terms": self.terms,
            "reused": self.reused,
            "skipped": dict(self.skipped),
            "problems": [{"file_path": path, "reason": reason} for path, reason in self.problems],
            "seconds": round(self.seconds, 3),
            "unchanged": self.is_unchanged,
            "pages": self.pages.to_json(),
            "notice": self.notice,
        }
