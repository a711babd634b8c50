"""When should an answer be "I don't know", and how far can a check of sentences be trusted?

    python benchmarks/refusal.py

Two questions. *Before* an answer: how many unanswerable questions are refused at each threshold of
`refuse_below`, and how many answerable ones with them? The unanswerable ones were written by hand
(data/datasets/unanswerable); the answerable ones are our own sets, questions in the words of the
passage and paraphrases apart. The threshold is chosen on the half of the questions that tunes: the
largest at which no more than 1 in 100 answerable ones is refused. *After*: how many sentences of
reference answers does `verify` support from the passages that they were written from, how many of
another question's answer, and how many with a number or a name changed?

Saves benchmarks/results/refusal.json.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from machine import ROOT, save
from quality import CORPORA, labelled_sets
from ragmachine import RagPipeline
from ragmachine.ablation.questions import HALVES, half_of
from ragmachine.exchange import Question, read_dataset
from ragmachine.generation.exact import Exact
from ragmachine.generation.stitch import Passage
from ragmachine.generation.verify import Verifier
from ragmachine.index.reader import Index
from ragmachine.models import Hit
from ragmachine.retrieval.assess import inverse_frequencies
from ragmachine.retrieval.grounds import grounds_of
from ragmachine.settings import Settings

UNANSWERABLE = ROOT / "data" / "datasets" / "unanswerable" / "questions.json"
THRESHOLDS = [round(0.01 * step, 2) for step in range(61)]
SHOWN = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
MOST_REFUSED = 0.01
SHARE_ASKED = 0.1  # of questions that nobody can answer, in the precision that is estimated
K = 10
GROUPS = ("named", "paraphrased", "unanswerable")


@dataclass(frozen=True, slots=True)
class Case:
    """A question, and the grounds that its search gives to answer it.

    Attributes:
        group: ``named``, ``paraphrased`` or ``unanswerable``.
        kind: of an unanswerable one.
        half: ``tune`` or ``report``.
        strength, missing: as in `Grounds`.
    """

    question: str
    group: str
    kind: str
    half: str
    strength: float
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """An answer, as it was written or spoilt, and whether all of its sentences were supported."""

    what: str
    half: str
    is_supported: bool


def extra(question: Question, name: str) -> str:
    """A field that the dataset has beyond what a question must have, or ""."""
    return str((question.model_extra or {}).get(name) or "")


def cases_of(pipeline: RagPipeline, questions: Iterable[Question]) -> Iterator[Case]:
    """The grounds of each question."""
    searcher = pipeline.opened_searcher()
    for question in questions:
        hits = pipeline.search(question.question, K).hits
        grounds = grounds_of(question.question, hits, searcher.reader, searcher.index)
        yield Case(
            question.question,
            extra(question, "style"),
            extra(question, "kind") or "of the sample's set",
            half_of(question.question_id),
            grounds.strength,
            grounds.missing,
        )


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
        "recall": round(shares["unanswerable"], 3),
        "precision": round(right / (right + wrong), 3) if right + wrong else None,
        "precision, 1 in 10 unanswerable": (
            round(likely / (likely + unlikely), 3) if likely + unlikely else None
        ),
    }


def chosen(cases: Sequence[Case]) -> float:
    """The largest threshold at which at most `MOST_REFUSED` of the answerable ones are refused."""
    answerable = [case for case in cases if case.group != "unanswerable"]
    return max(t for t in THRESHOLDS if refused(answerable, t) <= MOST_REFUSED)


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


def spoilt(answer: str, passages: Sequence[Passage], others: Sequence[str]) -> dict[str, str]:
    """The answer with one number, or one name, replaced; without what it has none of."""
    exact = Exact(answer)
    found = {}
    if exact.numbers:
        old = random.choice(exact.numbers)  # noqa: S311
        near = {n for p in passages for n in Exact(p.text).numbers} - set(exact.numbers)
        found["number changed"] = _swap(answer, old, str(random.randint(2, 9999)))  # noqa: S311
        if near:
            new = random.choice(sorted(near))  # noqa: S311
            found["number of the same passages"] = _swap(answer, old, new)
    names = sorted({n for other in others for n in Exact(other).names} - set(exact.names))
    if exact.names and names:
        old, new = random.choice(exact.names), random.choice(names)  # noqa: S311
        found["name changed"] = _swap(answer, old, new)
    return found


def _swap(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text)


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
        yield list(cases_of(pipeline, asked)), list(trials_of(pipeline, referenced))
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
    return {
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
        "refused at the shipped threshold, by kind": {
            kind: f"{sum(c.strength < shipped for c in group)}/{len(group)}"
            for kind in sorted({case.kind for case in unanswerable})
            if (group := [case for case in unanswerable if case.kind == kind])
        },
        "answerable and refused": [
            {"question": case.question, "strength": round(case.strength, 3),
             "missing": list(case.missing)}
            for case in cases if case.group != "unanswerable" and case.strength < shipped
        ],
        "after": {
            half: shares([trial for trial in trials if trial.half == half]) for half in HALVES[:2]
        },
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
