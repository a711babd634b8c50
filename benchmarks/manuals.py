"""Are the right pages of product manuals found? Invented ones, so that every answer is known.

    python benchmarks/manuals.py                     twelve manuals, one of them scanned
    python benchmarks/manuals.py --manuals 100       the figures of README.md
    python benchmarks/manuals.py --folder DIR        keep manuals, indexes and what OCR read there

The manuals are real PDFs. Siblings differ in a digit of their name and share their prose, most
pages never name the product, files are named by number, and every 20th manual is images only.
Recall is that of pages among five hits, from plain text cut at 500 characters up to the default
a step at a time, then beside the default with vectors and with a filter. Answers are quotations,
to these questions and to some that no manual answers, which are to be refused. Reranking is left
out: a cross-encoder would have to come from a model hub.

Saves benchmarks/results/manuals.json.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from machine import ROOT, save
from manuals_facts import make_manuals
from manuals_ladder import SHIPPED, STEPS, K, Plain, ask, indexed, placed, summary
from manuals_pdf import write_manual
from manuals_questions import Asked, make_questions, make_unanswerable
from manuals_table import table
from ragmachine import RagPipeline
from ragmachine.evaluation.key_values import contained

_PAGES = dict[str, dict[str, int]]


def make_corpus(folder: Path, count: int, seed: int) -> list[Asked]:
    """Write the manuals.

    Args:
        folder: made where it is missing; other PDF files in it are removed.
        count: of manuals.
        seed: of all that they say.
    Returns: the questions about them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    manuals = make_manuals(count, seed)
    pages: _PAGES = {manual.file: write_manual(manual, folder) for manual in manuals}
    for path in folder.glob("*.pdf"):
        if path.name not in pages:
            path.unlink()
    return make_questions(manuals, pages, seed)


def answers(pipeline: RagPipeline, questions: Sequence[Asked]) -> dict[str, Any]:
    """How many key values answers without a model contain, by kind of question.

    Every question counts, those that were refused or whose page was not found too.
    """
    rows = []
    for asked in questions:
        result = pipeline.search(asked.text, K)
        started = time.perf_counter()
        answer = pipeline.answer_from(result)
        elapsed_ms = (time.perf_counter() - started) * 1000
        right = len(contained(answer.text, asked.values)) / len(asked.values)
        cited = {(Path(one.file_path).name, one.place) for one in answer.citations}
        wanted = {(file, f"p.{page}") for file, page in asked.pages}
        rows.append((asked, right, wanted <= cited, answer.is_refusal, elapsed_ms))
    kinds = dict.fromkeys(asked.kind for asked in questions)
    return {
        "key values": round(statistics.fmean(row[1] for row in rows), 3),
        "kinds": {
            kind: round(statistics.fmean(row[1] for row in rows if row[0].kind == kind), 3)
            for kind in kinds
        },
        "page cited": round(statistics.fmean(row[2] for row in rows), 3),
        "refused": sum(row[3] for row in rows),
        "p50_ms": round(statistics.median(row[4] for row in rows), 1),
        "without": [row[0].text for row in rows if row[1] < 1],
    }


def refusals(pipeline: RagPipeline, unanswerable: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """How many questions that nothing answers are refused, by what is wrong with them."""
    kinds: dict[str, list[bool]] = {}
    for kind, text in unanswerable:
        refused = pipeline.answer_from(pipeline.search(text, K)).is_refusal
        kinds.setdefault(kind, []).append(refused)
    return {kind: f"{sum(refused)}/{len(refused)}" for kind, refused in kinds.items()}


def measure(
    folder: Path, questions: Sequence[Asked], unanswerable: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Every step of the ladder; answers at the shipped one.

    Args:
        folder: of the manuals, and of the indexes beside them.
        questions: with their keys.
        unanswerable: as `make_unanswerable` gives them.
    """
    manuals = folder / "manuals"
    plain = Plain(manuals, folder / "plain")
    steps: dict[str, Any] = {}
    answered: dict[str, Any] = {}
    for step in STEPS:
        index = folder / ("index-plain" if step.is_plain else "index")
        pipeline, seconds = indexed(step, manuals, plain, index)
        found = ask(step, pipeline, questions, plain.pages if step.is_plain else placed)
        steps[step.name] = {**summary(found), "index_seconds": round(seconds, 1)}
        print(f"{step.name}: {steps[step.name][f'recall@{K}']}", file=sys.stderr)
        if step == SHIPPED:
            answered = answers(pipeline, questions)
            answered["unanswerable refused"] = refusals(pipeline, unanswerable)
    return {"steps": steps, "worth most": worth_most(steps), "answers": answered}


def worth_most(steps: dict[str, Any]) -> str:
    """The step up to the default that adds most recall to the one before it."""
    names = list(steps)
    names = names[: names.index(SHIPPED.name) + 1]
    gains = {
        name: steps[name][f"recall@{K}"] - steps[before][f"recall@{K}"]
        for before, name in pairwise(names)
    }
    return max(gains, key=gains.__getitem__)


def main() -> int:
    """Make, measure, print, save."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--manuals", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="keep everything there")
    parser.add_argument("--name", default="manuals", help="name of the saved file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.folder or Path(scratch)).resolve()
        questions = make_corpus(folder / "manuals", options.manuals, options.seed)
        manuals = make_manuals(options.manuals, options.seed)
        measured = measure(folder, questions, make_unanswerable(manuals, options.seed))
    document = {"manuals": options.manuals, "seed": options.seed, **measured}
    print("\n".join(table(document)))
    print(f"saved in {os.path.relpath(save(options.name, document), ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
