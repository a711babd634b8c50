"""What a search found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ragmachine.models.chunks import Chunk, page_json, place_json

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
            **place_json(chunk.place),
            **page_json(chunk),
            **({"metadata": dict(chunk.metadata)} if chunk.metadata else {}),
            "chunk_id": chunk.content_id,
            "stale": self.staleness is not None,
            **(self.staleness.to_json() if self.staleness else {}),
            "text": chunk.text,
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
        parts: the questions in the query, where it was cut into several that were searched apart.
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
    parts: tuple[str, ...] = ()

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
