"""How far should vectors count? Fits the constants of `retrieval.evidence` on half the questions.

    python benchmarks/fusion.py                           our own sets
    python benchmarks/fusion.py --corpus FOLDER SET.json  another corpus with its own set as well

The constants are found by random steps uphill on the half of each set that tunes; a set that falls
below words alone there counts against them threefold. Prints both halves and saves
benchmarks/results/fusion.json. Needs the vectors that benchmarks/dense.py makes.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dense import prepared
from machine import ROOT, save
from quality import CORPORA, groups, labelled_sets
from ragmachine import RagPipeline
from ragmachine.ablation.questions import half_of
from ragmachine.evaluation.measures import Span, finds
from ragmachine.exchange import Question, read_dataset
from ragmachine.retrieval import evidence as shipped
from ragmachine.retrieval.evidence import Evidence
from ragmachine.retrieval.hybrid import HybridRetriever

STEPS = 700
STARTS = 4
LOSS = 3.0
# Spread of the first steps: intercept, matched, closeness, named.
SPREAD = np.array([0.7, 0.7, 2.0, 0.7])


@dataclass(frozen=True, slots=True)
class Case:
    """A question with every candidate that words or vectors bring.

    Attributes:
        half: ``tune`` or ``report``.
        evidence: what the rankings say about it.
        words: (candidates,) lexical scores as shares of the question's mass.
        vectors: (candidates,) cosine similarities.
        true: one (candidates,) mask a true source.
    """

    half: str
    evidence: Evidence
    words: npt.NDArray[np.float64]
    vectors: npt.NDArray[np.float64]
    true: list[npt.NDArray[np.bool_]]

    def ranks(self, weight: float) -> list[float]:
        """Rank of each true source, counted from 1; infinite where no candidate holds it."""
        score = self.words + weight * self.vectors
        return [
            float(1 + np.count_nonzero(score > score[mask].max())) if mask.any() else math.inf
            for mask in self.true
        ]


def cases_of(pipeline: RagPipeline, questions: tuple[Question, ...]) -> list[Case]:
    """The questions of a set over an index with vectors."""
    searcher = pipeline.opened_searcher()
    hybrid = searcher.retriever
    if not isinstance(hybrid, HybridRetriever):
        raise SystemExit("no vectors: run benchmarks/dense.py first")
    index = searcher.index
    found = []
    for question in questions:
        asked = searcher.reader.read(question.question, 10, None)
        candidates = hybrid.candidates_of(asked, 10)
        chunks = [index.chunk(number) for number in candidates.chunks]
        spans = [Span(chunk.file_path, chunk.start, chunk.end) for chunk in chunks]
        truth = [
            Span(source.file_path, source.first_character_index, source.last_character_index)
            for source in question.sources
        ]
        true = [np.array([finds(here, span) for here in spans], bool) for span in truth]
        found.append(
            Case(
                half_of(question.question_id),
                candidates.evidence,
                candidates.words / (candidates.mass or 1.0),
                candidates.vectors.astype(float),
                true,
            )
        )
    return found


def value(case: Case, weight: float) -> float:
    """Mean of recall@5 and discounted gain over the true sources."""
    ranks = case.ranks(weight)
    gains = [(rank <= 5) + (1 / math.log2(rank + 1) if rank <= 10 else 0) for rank in ranks]
    return sum(gains) / (2 * len(gains))


def weigher(constants: npt.NDArray[np.float64]) -> Callable[[Evidence], float]:
    """The rule with other constants."""
    rule = shipped.Rule(*constants.tolist())
    return lambda evidence: shipped.dense_weight(evidence, rule)


def objective(
    sets: dict[str, list[Case]], weigh: Callable[[Evidence], float], floors: dict[str, float]
) -> float:
    """Mean over the sets; what falls short of words alone is subtracted threefold."""
    total = 0.0
    for name, cases in sets.items():
        mean = float(np.mean([value(case, weigh(case.evidence)) for case in cases]))
        total += mean - LOSS * max(0.0, floors[name] - mean)
    return total / len(sets)


def fit(sets: dict[str, list[Case]], seed: int) -> tuple[float, npt.NDArray[np.float64]]:
    """Random steps uphill from the shipped constants. Returns: (objective, constants)."""
    random = np.random.default_rng(seed)
    floors = {name: float(np.mean([value(c, 0) for c in cases])) for name, cases in sets.items()}
    best = np.array(shipped.RULE.constants)
    reached, size = objective(sets, weigher(best), floors), 1.0
    for _ in range(STEPS):
        tried = best + random.standard_normal(len(best)) * size * SPREAD
        now = objective(sets, weigher(tried), floors)
        if now >= reached:
            best, reached, size = tried, now, min(1.5, size * 1.2)
        else:
            size = max(0.15, size * 0.97)
    return reached, best


def summary(cases: list[Case], weigh: Callable[[Evidence], float]) -> dict[str, Any]:
    """Recall in percent and the median weight."""
    ranks = [case.ranks(weigh(case.evidence)) for case in cases]
    recall = {
        f"recall@{k}": round(
            100 * float(np.mean([np.mean([r <= k for r in row]) for row in ranks]))
        )
        for k in (1, 3, 5, 10)
    }
    return {**recall, "weight": round(float(np.median([weigh(c.evidence) for c in cases])), 2)}


def main() -> int:
    """Fit, print both halves, save."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", type=Path, nargs=2, action="append", default=[])
    parser.add_argument("--name", default="fusion", help="name of the saved file")
    options = parser.parse_args()
    paths = labelled_sets([])
    folders = [
        (ROOT / corpus, [paths.pop(stem) for stem in list(paths) if stem.startswith(prefix)])
        for corpus, prefix in CORPORA.items()
    ] + [(folder.resolve(), [dataset]) for folder, dataset in options.corpus]
    sets: dict[str, list[Case]] = {}
    for folder, datasets in folders:
        if not folder.is_dir():
            continue
        given, _ = prepared(folder, "minilm")
        pipeline = RagPipeline(**given, strategy="hybrid")
        for path in datasets:
            for label, questions in groups(path.stem, read_dataset(path)):
                sets[label] = cases_of(pipeline, questions)
                print(f"{label}: {len(questions)} questions", file=sys.stderr)
    tune = {name: [c for c in cases if c.half == "tune"] for name, cases in sets.items()}
    reached, constants = max((fit(tune, seed) for seed in range(STARTS)), key=lambda pair: pair[0])
    print(f"objective {reached:.4f}; intercept, matched, closeness, named: {constants.round(2)}")
    rules = {"words": lambda _: 0.0, "shipped": shipped.dense_weight, "fitted": weigher(constants)}
    rows = {
        name: {
            f"{rule}, {half}": summary([c for c in cases if c.half == half], weigh)
            for rule, weigh in rules.items()
            for half in ("tune", "report")
        }
        for name, cases in sets.items()
    }
    for name, row in rows.items():
        cells = (
            "/".join(str(cell[f"recall@{k}"]) for k in (1, 3, 5, 10)) + f" w {cell['weight']}"
            for cell in row.values()
        )
        print(f"{name}: {' | '.join(cells)}")
    document = {"constants": constants.round(3).tolist(), "objective": reached, "sets": rows}
    print(f"saved in {save(options.name, document).relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
