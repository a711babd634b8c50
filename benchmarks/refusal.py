"""When should an answer be "I don't know", and how far can a check of sentences be trusted?

    python benchmarks/refusal.py

Two questions. *Before* an answer: how many unanswerable questions are refused at each threshold of
`refuse_below`, and how many answerable ones with them? The unanswerable ones were written by hand
(data/datasets/unanswerable); the answerable ones are our own sets, questions in the words of the
passage and paraphrases apart, and those whose source was found among the ten hits apart as well:
where it was not, to refuse is right. How the evidence is weighed is fitted, and the threshold is
chosen, on the half of the questions that tunes: the smallest with the best recall among those that
refuse no more than 1 in 10 answerable ones. *After*: how many sentences of reference answers does
`verify` support from the passages that they were written from, how many of another question's
answer, and how many with a number, a unit, a name or a negation changed?

Saves benchmarks/results/refusal.json.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from machine import ROOT, save
from quality import CORPORA, labelled_sets
from ragmachine import RagPipeline
from ragmachine.ablation.questions import HALVES, half_of
from ragmachine.exchange import Question, Source, read_dataset
from ragmachine.generation.stitch import Passage
from ragmachine.generation.verify import Verifier
from ragmachine.index.reader import Index
from ragmachine.models import Hit
from ragmachine.retrieval.assess import inverse_frequencies
from ragmachine.retrieval.grounds import Evidence, evidence_of, grounds_of, mass_of_terms
from ragmachine.settings import Settings
from spoiling import spoilt

UNANSWERABLE = ROOT / "data" / "datasets" / "unanswerable" / "questions.json"
THRESHOLDS = [round(0.01 * step, 2) for step in range(71)]
SHOWN = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
MOST_REFUSED = 0.1
SHARE_ASKED = 0.1  # of questions that nobody can answer, in the precision that is estimated
K = 10
RIDGE = 0.002
COMPLETE = Evidence(1.0, 0.0)
GROUPS = ("named", "paraphrased", "unanswerable")


@dataclass(frozen=True, slots=True)
class Case:
    """A question, and the grounds that its search gives to answer it.

    Attributes:
        group: ``named``, ``paraphrased`` or ``unanswerable``.
        kind: of an unanswerable one.
        half: ``tune`` or ``report``.
        strength, missing: as in `Grounds`.
        corpus: where it was asked.
        is_found: whether a true source is among the hits.
        evidence: what the strength is made of, names left aside.
    """

    question: str
    group: str
    kind: str
    half: str
    strength: float
    missing: tuple[str, ...]
    corpus: str = ""
    is_found: bool = False
    evidence: Evidence = COMPLETE


@dataclass(frozen=True, slots=True)
class Trial:
    """An answer, as it was written or spoilt, and whether all of its sentences were supported."""

    what: str
    half: str
    is_supported: bool


def extra(question: Question, name: str) -> str:
    """A field that the dataset has beyond what a question must have, or ""."""
    return str((question.model_extra or {}).get(name) or "")


def cases_of(pipeline: RagPipeline, questions: Iterable[Question], corpus: str) -> Iterator[Case]:
    """The grounds of each question."""
    searcher = pipeline.opened_searcher()
    index = searcher.index
    for question in questions:
        hits = pipeline.search(question.question, K).hits
        grounds = grounds_of(question.question, hits, searcher.reader, index)
        mass = mass_of_terms(searcher.reader.analyze(question.question), index)
        yield Case(
            question.question,
            extra(question, "style"),
            extra(question, "kind") or "of the sample's set",
            half_of(question.question_id),
            grounds.strength,
            grounds.missing,
            corpus,
            any(_overlaps(hit, source) for hit in hits for source in question.sources),
            evidence_of(mass, hits, index.tokenizer.terms),
        )


def _overlaps(hit: Hit, source: Source) -> bool:
    chunk = hit.chunk
    return (
        chunk.file_path == source.file_path
        and chunk.start < source.last_character_index
        and source.first_character_index < chunk.end
    )


def fitted(cases: Sequence[Case]) -> list[float]:
    """Intercept and weights of coverage and heaviest missing word: log odds of an answer.

    Logistic regression by Newton's method; both kinds of question weigh the same in all, and
    those with a missing name, which are judged by that, are left out.
    """
    cases = [case for case in cases if not case.missing]
    rows = np.array([[1.0, case.evidence.coverage, case.evidence.heaviest] for case in cases])
    goal = np.array([case.group != "unanswerable" for case in cases], dtype=float)
    share = np.where(goal > 0, 0.5 / goal.sum(), 0.5 / (1 - goal).sum())
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (share * (likely - goal)) + RIDGE * weights
        curve = (rows.T * (share * likely * (1 - likely))) @ rows + RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(curve, slope)
    return [round(float(weight), 2) for weight in weights]


def refused(cases: Sequence[Case], threshold: float) -> float:
    """Share of the questions that are refused."""
    return sum(case.strength < threshold for case in cases) / len(cases) if cases else 0.0


def row(cases: Sequence[Case], threshold: float) -> dict[str, Any]:
    """What a threshold does: shares refused, and how many refusals are right.

    The precision is that of these questions, and that where one in ten cannot be answered and the
    others are named and paraphrased in equal parts.
    """
    groups = {name: [case for case in cases if case.group == name] for name in GROUPS}
    shares = {name: refused(group, threshold) for name, group in groups.items()}
    counts = {name: round(shares[name] * len(group)) for name, group in groups.items()}
    right, wrong = counts["unanswerable"], counts["named"] + counts["paraphrased"]
    likely = SHARE_ASKED * shares["unanswerable"]
    unlikely = (1 - SHARE_ASKED) * (shares["named"] + shares["paraphrased"]) / 2
    return {
        "threshold": threshold,
        "refused": {name: f"{counts[name]}/{len(groups[name])}" for name in GROUPS},
        "answerable and refused": round(
            refused([c for c in cases if c.group != GROUPS[2]], threshold), 3
        ),
        "found and refused": round(refused([c for c in cases if c.is_found], threshold), 3),
        "recall": round(shares["unanswerable"], 3),
        "precision": round(right / (right + wrong), 3) if right + wrong else None,
        "precision, 1 in 10 unanswerable": (
            round(likely / (likely + unlikely), 3) if likely + unlikely else None
        ),
    }


def chosen(cases: Sequence[Case]) -> float:
    """The smallest threshold with the best recall that refuses few of the answerable ones.

    Few are at most `MOST_REFUSED` of them.
    """
    answerable = [case for case in cases if case.group != "unanswerable"]
    others = [case for case in cases if case.group == "unanswerable"]
    allowed = [t for t in THRESHOLDS if refused(answerable, t) <= MOST_REFUSED]
    return max(allowed, key=lambda threshold: (refused(others, threshold), -threshold))


def passages_of(index: Index, chunks: dict[str, list[int]], question: Question) -> list[Passage]:
    """The chunks that a question's sources lie in."""
    numbers = {
        number
        for source in question.sources
        for number in chunks[source.file_path]
        if (chunk := index.chunk(number)).start < source.last_character_index
        and source.first_character_index < chunk.end
    }
    found = [index.chunk(number) for number in sorted(numbers)]
    return [Passage(n, Hit(n, 1.0, chunk), chunk.text) for n, chunk in enumerate(found, 1)]


def trials_of(pipeline: RagPipeline, questions: Sequence[Question]) -> Iterator[Trial]:
    """Reference answers, as they are and spoilt, against the passages that they are from."""
    index = pipeline.opened_index()
    chunks: dict[str, list[int]] = {}
    for number, file in enumerate(index.file_of_chunk.tolist()):
        chunks.setdefault(index.file_path(file), []).append(number)
    verifier = Verifier(
        terms=index.tokenizer.terms, weigh=lambda terms: inverse_frequencies(index, terms)
    )
    answers = [question.answer or "" for question in questions]
    for place, question in enumerate(questions):
        passages = passages_of(index, chunks, question)
        answer, half = answers[place], half_of(question.question_id)

        def is_supported(text: str, shown: Sequence[Passage] = passages) -> bool:
            return all(sentence.is_supported for sentence in verifier.verify(text, shown))

        is_true = is_supported(answer)
        yield Trial("as written", half, is_true)
        foreign = answers[(place + 7) % len(answers)]
        yield Trial("another question's", half, is_supported(foreign))
        for what, text in spoilt(answer, passages, answers).items() if is_true else ():
            yield Trial(what, half, is_supported(text))


def shares(trials: Sequence[Trial]) -> dict[str, str]:
    """How many of each kind were supported."""
    kinds: dict[str, list[bool]] = {}
    for trial in trials:
        kinds.setdefault(trial.what, []).append(trial.is_supported)
    return {what: f"{sum(seen)}/{len(seen)}" for what, seen in sorted(kinds.items())}


def measured(indexes: str) -> Iterator[tuple[list[Case], list[Trial]]]:
    """Cases and trials of each corpus that is there."""
    sets = labelled_sets([])
    made = read_dataset(UNANSWERABLE).rag_questions
    for corpus, prefix in CORPORA.items():
        names = [name for name in sets if name.startswith(prefix)]
        answered = [q for n in names for q in read_dataset(sets.pop(n)).rag_questions]
        if not (ROOT / corpus).is_dir():
            print(f"{corpus} is not there", file=sys.stderr)
            continue
        short = prefix or "vllm"
        pipeline = RagPipeline(
            index_dir=f"{indexes}/{short}", target_dir=str(ROOT / corpus), cache_entries=0
        )
        pipeline.index()
        asked = [*answered, *(q for q in made if extra(q, "corpus") == short)]
        referenced = [q for q in answered if q.sources and q.answer]
        yield list(cases_of(pipeline, asked, short)), list(trials_of(pipeline, referenced))
        print(f"{short}: {len(asked)} questions", file=sys.stderr)


def main() -> int:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--indexes", help="folder of the indexes, to keep them")
    parser.add_argument("--name", default="refusal", help="name of the saved file")
    options = parser.parse_args()
    random.seed(0)
    with tempfile.TemporaryDirectory() as scratch:
        parts = list(measured(options.indexes or scratch))
    document = summary([c for cases, _ in parts for c in cases], [t for _, ts in parts for t in ts])
    for half, before in document["before"].items():
        for one in before["thresholds"]:
            print(half, *(f"{name}: {value}" for name, value in one.items()), sep="  ")
    for corpus, rows in document["by corpus"].items():
        for one in rows:
            print(corpus, *(f"{name}: {value}" for name, value in one.items()), sep="  ")
    print(f"fitted {document['fitted']}")
    print(f"chosen {document['chosen']}, shipped {document['shipped']}")
    for half, after in document["after"].items():
        print(half, *(f"{what}: {count}" for what, count in after.items()), sep="  ")
    print(f"saved in {save(options.name, document).relative_to(ROOT)}")
    return 0


def summary(cases: Sequence[Case], trials: Sequence[Trial]) -> dict[str, Any]:
    """Everything as one document."""
    tune = [case for case in cases if case.half == HALVES[0]]
    shipped = Settings().refuse_below
    unanswerable = [case for case in cases if case.group == "unanswerable"]
    corpora = sorted({case.corpus for case in cases})
    return {
        "fitted": fitted(tune),
        "chosen": chosen(tune),
        "shipped": shipped,
        "before": {
            half: {
                "thresholds": [
                    row([case for case in cases if case.half == half], threshold)
                    for threshold in sorted({*SHOWN, shipped})
                ]
            }
            for half in HALVES[:2]
        },
        "by corpus": {
            corpus: [
                row([case for case in cases if case.corpus == corpus], threshold)
                for threshold in sorted({*SHOWN, shipped})
            ]
            for corpus in corpora
        },
        "refused at the shipped threshold, by kind": {
            kind: f"{sum(c.strength < shipped for c in group)}/{len(group)}"
            for kind in sorted({case.kind for case in unanswerable})
            if (group := [case for case in unanswerable if case.kind == kind])
        },
        "answerable and refused": [
            {"question": case.question, "strength": round(case.strength, 3),
             "missing": list(case.missing), "found": case.is_found}
            for case in cases if case.group != "unanswerable" and case.strength < shipped
        ],
        "after": {
            half: shares([trial for trial in trials if trial.half == half]) for half in HALVES[:2]
        },
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
