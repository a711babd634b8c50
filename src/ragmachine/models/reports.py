"""What an indexing run did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ragmachine.places import PageTotals


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
