"""How good are answers without a model? Quotations judged on our own sets and on others'.

    python benchmarks/extractive.py                      our own sets
    python benchmarks/extractive.py --datasets DIR …     answered sets of others as well

For each set and style: key values contained and precision of citations where a true source was
retrieved, as `evaluate_answers` counts them, sentences that the check of sentences does not support
(there should be none: they are quotations), questions refused, and milliseconds per answer. Weights
of `generation.ranking` are chosen on the half of the questions that tunes; both halves are printed.
The baseline quotes the beginning of the best hit, in as many characters as the answers have.

Saves benchmarks/results/extractive.json.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from machine import ROOT, save
from quality import CORPORA, K, labelled_sets
from ragmachine import RagPipeline
from ragmachine.ablation.questions import BOTH, HALVES, half_of
from ragmachine.evaluation.answer_scores import AnswerScore, score_answer
from ragmachine.evaluation.given_answers import GivenAnswer, given_answer
from ragmachine.exchange import Question, read_dataset

BASELINE_CHARS = 500


@dataclass(frozen=True, slots=True)
class Row:
    """One question, answered in two ways.

    Attributes:
        half: ``tune`` or ``report``.
        score: of the product's answer.
        naive: of the beginning of the best hit.
        chars: length of the product's answer.
        elapsed_ms: its time, search left aside.
    """

    half: str
    score: AnswerScore
    naive: AnswerScore
    chars: int
    elapsed_ms: float


def rows_of(pipeline: RagPipeline, questions: Sequence[Question]) -> Iterator[Row]:
    """Answer and judge each question."""
    for question in questions:
        result = pipeline.search(question.question, K)
        started = time.perf_counter()
        answer = pipeline.answer_from(result)
        elapsed_ms = (time.perf_counter() - started) * 1000
        given = given_answer(answer)
        best = result.hits[0].chunk.text[:BASELINE_CHARS] if result.hits else ""
        naive = GivenAnswer(best, given.retrieved, given.retrieved[:1])
        yield Row(
            half_of(question.question_id),
            score_answer(question, given),
            score_answer(question, naive),
            len(answer.text),
            elapsed_ms,
        )


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Means over the questions to which each applies; None where it applies to none."""
    found = [row for row in rows if row.score.has_source]
    answered = [row for row in found if not row.score.is_refusal]
    return {
        "questions": len(rows),
        "retrieved": len(found),
        "key values": _mean([row.score.key_values for row in found]),
        "key values, naive": _mean([row.naive.key_values for row in found]),
        "citation precision": _mean([row.score.citation_precision for row in found]),
        "citation precision, naive": _mean([row.naive.citation_precision for row in found]),
        "token F1": _mean([row.score.token_f1 for row in found]),
        "unsupported": _mean([row.score.unsupported for row in rows]),
        "answerable and refused": _mean([row.score.false_refusals for row in rows]),
        "retrieved and refused": _mean([row.score.false_refusals for row in found]),
        "unanswerable and refused": _mean([row.score.refusal_recall for row in rows]),
        "characters": round(fmean([row.chars for row in answered]), 0) if answered else None,
        "ms": _mean([row.elapsed_ms for row in rows]),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(fmean(known), 3) if known else None


def measured(folders: Sequence[Path], indexes: str) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each set whose corpus is there."""
    sets = labelled_sets(folders)
    for corpus, prefix in CORPORA.items():
        names = [name for name in sets if name.startswith(prefix)]
        paths = {name: sets.pop(name) for name in names}
        if not (ROOT / corpus).is_dir():
            print(f"{corpus} is not there", file=sys.stderr)
            continue
        pipeline = RagPipeline(
            index_dir=f"{indexes}/{prefix or 'vllm'}",
            target_dir=str(ROOT / corpus),
            cache_entries=0,
            llm="extractive",
        )
        pipeline.index()
        for name, path in paths.items():
            yield name, list(rows_of(pipeline, read_dataset(path).rag_questions))


def main() -> int:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", type=Path, nargs="*", default=[], metavar="DIR")
    parser.add_argument("--indexes", help="folder of the indexes, to keep them")
    parser.add_argument("--name", default="extractive", help="name of the saved file")
    options = parser.parse_args()
    sets: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, rows in measured(options.datasets, options.indexes or scratch):
            styles = sorted({row.score.style for row in rows} - {""})
            for style in ("", *styles) if len(styles) > 1 else ("",):
                chosen = [row for row in rows if style in ("", row.score.style)]
                sets[f"{name} {style}".strip()] = {
                    half: summary([row for row in chosen if half in (BOTH, row.half)])
                    for half in HALVES
                }
    print_table(sets)
    print(f"saved in {save(options.name, {'sets': sets}).relative_to(ROOT)}")
    return 0


def print_table(sets: dict[str, dict[str, Any]]) -> None:
    """A Markdown table: all questions, and behind the slash the half that reports."""
    columns = (
        "key values", "key values, naive", "citation precision", "citation precision, naive",
        "token F1", "unsupported", "answerable and refused", "retrieved and refused",
        "unanswerable and refused", "characters", "ms",
    )  # fmt: skip
    print(f"| set | retrieved | {' | '.join(columns)} |")
    print(f"|---{'|---' * (len(columns) + 1)}|")
    for name, halves in sets.items():
        both, report = halves[HALVES[2]], halves[HALVES[1]]
        cells = [f"{both[column]} / {report[column]}" for column in columns]
        print(f"| {name} | {both['retrieved']} of {both['questions']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    sys.exit(main())
