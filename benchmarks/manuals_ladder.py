"""The steps from plain text to the shipped default and beyond, measured over one set of manuals."""

from __future__ import annotations

import re
import statistics
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium

from manuals_questions import COMPARISON, NUMBER, Asked
from manuals_table import DEFAULT
from ragmachine import RagPipeline
from ragmachine.ablation.configurations import ROWS

K = 5
Page = tuple[str, int]
# What is found by words alone, without anything that the product's ranking adds to them.
_PLAIN = dict(next(row.settings for row in ROWS if row.name == "+ context"))
_FIXED = {**_PLAIN, "context": False, "chunker": "fixed", "max_chunk_size": 500}


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the ladder.

    Attributes:
        name: what it adds to the step before.
        settings: what differs from the defaults.
        is_plain: over the text that any reader of PDF gives, instead of the files.
        is_filtered: searches are restricted to the manuals of the products asked about.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_plain: bool = False
    is_filtered: bool = False


SHIPPED = Step(DEFAULT)
STEPS = (
    Step("plain text, 500 characters", _FIXED, is_plain=True),
    Step("tables and OCR", _FIXED),
    Step("structure", {**_PLAIN, "context": False}),
    Step("context prefix", _PLAIN),
    SHIPPED,
    Step("hybrid", {"strategy": "hybrid"}),
    Step("filter", is_filtered=True),
)


@dataclass(frozen=True, slots=True)
class Found:
    """A question and what came of it.

    Attributes:
        recall: share of its pages that are among the five best hits.
        elapsed_ms: of the search.
    """

    asked: Asked
    recall: float
    elapsed_ms: float


class Plain:
    """The text layer of each manual as a text file, page after page."""

    def __init__(self, manuals: Path, folder: Path) -> None:
        """Write the files; `folder` is made where it is missing."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._starts: dict[str, list[int]] = {}
        for path in sorted(manuals.glob("*.pdf")):
            document = pdfium.PdfDocument(path)
            text, starts = "", []
            for page in document:
                starts.append(len(text))
                text += page.get_textpage().get_text_bounded().replace("\r\n", "\n") + "\n"
            document.close()
            (folder / f"{path.stem}.txt").write_text(text, encoding="utf-8", newline="")
            self._starts[path.name] = starts

    def pages(self, hit: Any) -> set[Page]:
        """The pages that a hit in these files stands on."""
        name = f"{Path(hit.chunk.file_path).stem}.pdf"
        starts = self._starts[name]
        first = bisect_right(starts, hit.chunk.start)
        return {(name, page) for page in range(first, bisect_right(starts, hit.chunk.end - 1) + 1)}


def placed(hit: Any) -> set[Page]:
    """The pages that a hit in a PDF stands on."""
    found = re.fullmatch(r"p\.(\d+)(?:-(\d+))?", hit.chunk.place)
    if not found:
        return set()
    numbers = range(int(found[1]), int(found[2] or found[1]) + 1)
    return {(Path(hit.chunk.file_path).name, number) for number in numbers}


def indexed(step: Step, manuals: Path, plain: Plain, index: Path) -> tuple[RagPipeline, float]:
    """The index of a step, and the seconds that it took."""
    pipeline = RagPipeline(
        index_dir=str(index),
        project_root=str(manuals.parent),
        target_dir=str(plain.folder if step.is_plain else manuals),
        cache_entries=0,
        llm="extractive",
        **step.settings,
    )
    started = time.perf_counter()
    pipeline.index()
    if step.settings.get("strategy"):
        pipeline.embed()
    return pipeline, time.perf_counter() - started


def ask(
    step: Step, pipeline: RagPipeline, questions: Sequence[Asked], pages: Callable[[Any], set[Page]]
) -> list[Found]:
    """Search every question."""
    pipeline.search("warm up", K)
    found = []
    for asked in questions:
        chosen = _filter(asked) if step.is_filtered else ""
        started = time.perf_counter()
        result = pipeline.search(asked.text, K, filter=chosen)
        elapsed_ms = (time.perf_counter() - started) * 1000
        seen = set().union(*map(pages, result.hits))
        recall = len(seen.intersection(asked.pages)) / len(set(asked.pages))
        found.append(Found(asked, recall, elapsed_ms))
    return found


def _filter(asked: Asked) -> str:
    """The manuals of the products that a question names; whoever has a number names none."""
    files = dict.fromkeys(file for file, _ in asked.pages)
    return " ".join(f"path:{file}" for file in files) if asked.kind != NUMBER else ""


def summary(found: Sequence[Found]) -> dict[str, Any]:
    """Recall by kind of question, over scans alone, and milliseconds."""
    kinds = dict.fromkeys(row.asked.kind for row in found)
    compared = [row.recall == 1 for row in found if row.asked.kind == COMPARISON]
    return {
        "questions": len(found),
        f"recall@{K}": _mean([row.recall for row in found]),
        "kinds": {
            kind: _mean([row.recall for row in found if row.asked.kind == kind]) for kind in kinds
        },
        "scans": _mean([row.recall for row in found if row.asked.is_scan]),
        "comparisons with both": _mean(compared),
        "p50_ms": round(statistics.median(row.elapsed_ms for row in found), 1),
        "missed": [row.asked.text for row in found if row.recall < 1],
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(statistics.fmean(values), 3) if values else None
