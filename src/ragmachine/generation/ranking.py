"""Scores quotable units against a question and picks a few that do not repeat each other."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .intents import intent_scorer
from .units import Unit
from .words import content_words, exact_names


@dataclass(frozen=True, slots=True)
class Weights:
    """Parts of a unit's score, relative to 1 for a unit that holds every term of the question.

    Attributes:
        near: a term in the text that the unit continues.
        scope: a term in its headings or enclosing definitions.
        pair: all pairs of neighbouring terms of the question.
        passage: a passage that holds every term.
        rank: the best passage; others by their score.
        name: all identifiers and quoted strings of the question, letter by letter.
        intent: an intent of weight 1.
        value: the value of a name whose default is asked.
        imports: factor for import statements.
        free_chars, scale_chars: a unit ``scale_chars`` longer than ``free_chars`` counts half.
        repeat: what repeating all of a chosen unit's terms costs.
        floor: share of the best score below which nothing more is quoted.
    """

    near: float = 0.45
    scope: float = 0.25
    pair: float = 0.1
    passage: float = 0.1
    rank: float = 0.15
    name: float = 0.15
    intent: float = 0.15
    value: float = 0.35
    imports: float = 0.6
    free_chars: float = 200
    scale_chars: float = 900
    repeat: float = 0.5
    floor: float = 0.4


_IMPORT = re.compile(r"\s*(?:import|from|#include|use|using|require|package)\b(?!.*\s=\s)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit with what its score is made of.

    Attributes:
        number: of its passage.
        unit: where it stands.
        text: its pieces, one below the other.
        terms: its terms in order.
        near, scope, passage: terms of its surroundings.
        strength: of its passage, 1 for the best.
    """

    number: int
    unit: Unit
    text: str
    terms: tuple[str, ...]
    near: frozenset[str]
    scope: frozenset[str]
    passage: frozenset[str]
    strength: float


def score_candidates(
    question: str, asked: Sequence[str], candidates: Sequence[Candidate], weights: Weights
) -> list[float]:
    """Scores in the order of `candidates`; a term weighs by its rarity among them."""
    idf = _rarity(asked, candidates)
    total = sum(idf.values()) or 1.0
    pairs = set(pairwise(asked))
    names = [name.lower() for name in exact_names(question)]
    judge = intent_scorer(question, list(dict.fromkeys([*exact_names(question), *content_words(question)])))
    scores = []
    for candidate in candidates:
        own = set(candidate.terms)
        near = candidate.near - own
        scope = candidate.scope - own - near
        score = (
            _sum(idf, own) + weights.near * _sum(idf, near) + weights.scope * _sum(idf, scope)
            + weights.passage * _sum(idf, candidate.passage)
        ) / total
        score += weights.rank * candidate.strength
        if pairs:
            score += weights.pair * len(pairs & set(pairwise(candidate.terms))) / len(pairs)
        if names:
            text = candidate.text.lower()
            score += weights.name * sum(name in text for name in names) / len(names)
        met, is_value = judge(candidate.text)
        score += weights.intent * met + weights.value * is_value
        if _IMPORT.match(candidate.text):
            score *= weights.imports
        length = max(0.0, len(candidate.text) - weights.free_chars)
        scores.append(score / (1 + length / weights.scale_chars))
    return scores


def _rarity(asked: Sequence[str], candidates: Sequence[Candidate]) -> dict[str, float]:
    wanted = set(asked)
    frequency = Counter(t for c in candidates for t in wanted.intersection(c.terms))
    count = len(candidates)
    return {
        term: 0.1 + math.log(1 + (count - n + 0.5) / (n + 0.5)) for term, n in frequency.items()
    }


def _sum(idf: Mapping[str, float], terms: set[str] | frozenset[str]) -> float:
    return sum(weight for term, weight in idf.items() if term in terms)


def choose(
    candidates: Sequence[Candidate], scores: Sequence[float], limit: int, weights: Weights
) -> list[Candidate]:
    """Up to `limit` candidates, best first, by maximal marginal relevance.

    Source: Carbonell & Goldstein, SIGIR 1998.
    """
    chosen: list[int] = []
    values = dict(enumerate(scores))
    repeats = dict.fromkeys(values, 0.0)
    floor = weights.floor * max(scores, default=0.0)
    while values and len(chosen) < limit:
        pick = max(values, key=lambda i: (values[i] - weights.repeat * repeats[i], -i))
        if chosen and values[pick] - weights.repeat * repeats[pick] < floor:
            break
        chosen.append(pick)
        picked = candidates[pick]
        for i in list(values):
            if _shares_text(candidates[i], picked):
                del values[i]
            else:
                repeats[i] = max(repeats[i], _similarity(candidates[i], picked))
    return [candidates[i] for i in chosen]


def _similarity(first: Candidate, second: Candidate) -> float:
    """Jaccard similarity of their terms."""
    a, b = set(first.terms), set(second.terms)
    return len(a & b) / len(a | b) if a or b else 0.0


def _shares_text(first: Candidate, second: Candidate) -> bool:
    """Whether the last piece of either overlaps the other; a common header row does not count."""
    if first.number != second.number:
        return False
    a, b = first.unit.pieces, second.unit.pieces
    return any(s < q and p < e for s, e in a[-1:] for p, q in b) or any(
        s < q and p < e for s, e in a for p, q in b[-1:]
    )
