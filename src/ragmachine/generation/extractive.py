"""The answer without a model: the sentences, rows and statements that bear most on the question.

Everything shown is quoted letter by letter, so it can be thin but not wrong.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .code_units import code_units, code_cutter
from .intents import Intent, read_intents
from .stitch import Passage
from .units import Unit, prose_units, split_lines
from .words import exact_names, split_terms

PROSE_TYPES = frozenset({"markdown", "rst", "text", "html", "pdf", "docx", "org", ""})
_NEAR_WEIGHT = 0.45
_SCOPE_WEIGHT = 0.25
_RANK_BONUS = 0.15
_NAME_BONUS = 0.15
_FREE_CHARS = 200
_LENGTH_SCALE = 900
_REPEAT_PENALTY = 0.5
_RELATIVE_FLOOR = 0.4


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """Quotes and where they come from.

    Attributes:
        text: quotes in reading order, each followed by `` [n]``; "" when nothing bears on the
            question.
        cited: numbers of the passages quoted, ascending.
    """

    text: str
    cited: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    passage: Passage
    unit: Unit
    terms: frozenset[str]
    near: frozenset[str]
    scope: frozenset[str]
    rank: int

    @property
    def text(self) -> str:
        return "\n".join(self.passage.text[slice(*piece)] for piece in self.unit.pieces)


def extract_answer(
    question: str,
    passages: Sequence[Passage],
    *,
    max_sentences: int = 3,
    terms: Callable[[str], list[str]] = split_terms,
) -> ExtractiveAnswer:
    """Quote the units of the passages that answer the question best."""
    asked = dict.fromkeys(terms(question))
    candidates = [c for c in _candidates(passages, terms) if not c.terms.isdisjoint(asked)]
    if not candidates:
        return ExtractiveAnswer("", ())
    scores = _scores(question, asked, candidates)
    chosen = _choose(candidates, scores, max_sentences)
    return _render(chosen)


def _candidates(
    passages: Sequence[Passage], terms: Callable[[str], list[str]]
) -> Iterable[_Candidate]:
    cache: dict[str, frozenset[str]] = {}

    def term_set(text: str) -> frozenset[str]:
        found: set[str] = set()
        for line in text.splitlines():
            if line not in cache:
                cache[line] = frozenset(terms(line))
            found |= cache[line]
        return frozenset(found)

    for rank, passage in enumerate(passages, 1):
        chunk = passage.hit.chunk
        lines = split_lines(passage.text)
        scope = f"{chunk.label} {chunk.file_path.rpartition('/')[2]}"
        if chunk.file_type in PROSE_TYPES:
            units = prose_units(passage.text, lines, scope, code_cutter(passage.text))
        else:
            units = code_units(passage.text, lines, scope)
        seen = set()
        for unit in units:
            if unit.pieces in seen:
                continue
            seen.add(unit.pieces)
            text = "\n".join(passage.text[slice(*piece)] for piece in unit.pieces)
            if len(text.split()) < 2 and text.endswith(":"):
                continue
            yield _Candidate(
                passage, unit, term_set(text), term_set(unit.near), term_set(unit.scope), rank
            )


def _scores(question, asked, candidates):
    count = len(candidates)
    frequency = Counter(t for c in candidates for t in c.terms if t in asked)
    weights = {t: math.log(1 + (count - n + 0.5) / (n + 0.5)) + 0.1 for t, n in frequency.items()}
    total = sum(weights.values()) or 1.0
    names = [n.lower() for n in exact_names(question)]
    intents = read_intents(question)
    scores = []
    for c in candidates:
        own = sum(weights.get(t, 0) for t in asked if t in c.terms)
        near = sum(weights.get(t, 0) for t in asked if t in c.near and t not in c.terms)
        scope = sum(
            weights.get(t, 0)
            for t in asked
            if t in c.scope and t not in c.terms and t not in c.near
        )
        score = (own + _NEAR_WEIGHT * near + _SCOPE_WEIGHT * scope) / total
        text = c.text
        low = text.lower()
        if names:
            score += _NAME_BONUS * sum(n in low for n in names) / len(names)
        score += sum(i.bonus for i in intents if i.holds(text))
        score += _RANK_BONUS / c.rank
        score /= 1 + max(0, len(text) - _FREE_CHARS) / _LENGTH_SCALE
        scores.append(score)
    return scores


def _choose(candidates, scores, limit):
    chosen = []
    left = set(range(len(candidates)))
    best_score = max(scores)
    while left and len(chosen) < limit:
        def value(i):
            repeat = max((_similarity(candidates[i], candidates[j]) for j in chosen), default=0.0)
            return scores[i] - _REPEAT_PENALTY * repeat
        pick = max(left, key=lambda i: (value(i), -i))
        if chosen and value(pick) < _RELATIVE_FLOOR * best_score:
            break
        chosen.append(pick)
        left = {i for i in left if not _overlap(candidates[i], candidates[pick])}
    return [candidates[i] for i in chosen]


def _similarity(a, b):
    union = len(a.terms | b.terms)
    return len(a.terms & b.terms) / union if union else 0.0


def _overlap(a, b):
    if a.passage.number != b.passage.number:
        return False
    return any(
        s < q and p < e for s, e in a.unit.pieces[-1:] for p, q in b.unit.pieces
    ) or any(s < q and p < e for s, e in a.unit.pieces for p, q in b.unit.pieces[-1:])


def _render(chosen):
    order = {}
    for c in chosen:
        order.setdefault(c.passage.number, len(order))
    chosen = sorted(chosen, key=lambda c: (order[c.passage.number], c.unit.pieces))
    parts = []
    shown = set()
    for c in chosen:
        pieces = [p for p in c.unit.pieces if (c.passage.number, p) not in shown]
        shown.update((c.passage.number, p) for p in pieces)
        text = "\n".join(c.passage.text[slice(*p)] for p in pieces)
        parts.append(f"{text} [{c.passage.number}]")
    return ExtractiveAnswer("\n".join(parts), tuple(sorted({c.passage.number for c in chosen})))
