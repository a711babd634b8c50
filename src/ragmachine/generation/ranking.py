"""Scores quotable units against a question and picks a few that do not repeat each other."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .intents import intent_scorer
from .units import Unit
from .words import content_words, exact_names


@dataclass(frozen=True, slots=True)
class Weights:
    """Parts of a unit's score, relative to 1 for a unit that holds every term of the question.

    Attributes:
        near: a term in the text that the unit continues.
        scope: a term in its headings or enclosing definitions.
        rank: the best passage; the one of rank r counts 1 / sqrt(r) of it.
        name: all identifiers and quoted strings of the question, letter by letter.
        intent: an intent of weight 1.
        value: the value of a name whose default is asked.
        imports: factor for import statements.
        free_chars, scale_chars: a unit ``scale_chars`` longer than ``free_chars`` counts half.
        repeat: what repeating all of a chosen unit's terms costs.
        floor: share of the best quote's score, ranks left aside, below which nothing is quoted.
    """

    near: float = 0.2
    scope: float = 0.6
    rank: float = 0.5
    name: float = 0.15
    intent: float = 0.15
    value: float = 0.5
    imports: float = 0.6
    free_chars: float = 300
    scale_chars: float = 2500
    repeat: float = 0.4
    floor: float = 0.4


_IMPORT = re.compile(r"\s*(?:import|from|#include|use|using|require|package)\b(?!.*\s=\s)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit with what its score is made of.

    Attributes:
        number: of its passage.
        rank: of its passage, from 1.
        unit: where it stands.
        text: its spans, one below the other.
        terms: in `text`.
        near, scope: terms of its surroundings.
    """

    number: int
    rank: int
    unit: Unit
    text: str
    terms: frozenset[str]
    near: frozenset[str]
    scope: frozenset[str]


class Score(NamedTuple):
    """How well a candidate answers: with its passage's rank, and by its own words only."""

    total: float
    own: float


def score_candidates(
    question: str, asked: Sequence[str], candidates: Sequence[Candidate], weights: Weights
) -> list[Score]:
    """Scores in the order of `candidates`; a term weighs by its rarity among them.

    Args:
        question: as asked.
        asked: its distinct terms.
        candidates: of all passages.
        weights: parts of the score.
    """
    idf = _rarity(asked, candidates)
    total = sum(idf.values()) or 1.0
    names = exact_names(question)
    folded = [name.lower() for name in names]
    judge = intent_scorer(question, list(dict.fromkeys([*names, *content_words(question)])))
    scores = []
    for candidate in candidates:
        near = candidate.near - candidate.terms
        scope = candidate.scope - candidate.terms - near
        score = _sum(idf, candidate.terms)
        score += weights.near * _sum(idf, near) + weights.scope * _sum(idf, scope)
        score /= total
        if folded:
            text = candidate.text.lower()
            score += weights.name * sum(name in text for name in folded) / len(folded)
        met, is_value = judge(candidate.text)
        score += weights.intent * met + weights.value * is_value
        factor = weights.imports if _IMPORT.match(candidate.text) else 1.0
        factor /= 1 + max(0.0, len(candidate.text) - weights.free_chars) / weights.scale_chars
        total_score = score + weights.rank / math.sqrt(candidate.rank)
        scores.append(Score(total_score * factor, score * factor))
    return scores


def _rarity(asked: Sequence[str], candidates: Sequence[Candidate]) -> dict[str, float]:
    """Inverse frequency of the asked terms that any candidate holds."""
    wanted = frozenset(asked)
    frequency = Counter(term for c in candidates for term in wanted & c.terms)
    count = len(candidates)
    return {
        term: 0.1 + math.log(1 + (count - n + 0.5) / (n + 0.5)) for term, n in frequency.items()
    }


def _sum(idf: Mapping[str, float], terms: frozenset[str]) -> float:
    return sum(weight for term, weight in idf.items() if term in terms)


def choose(
    candidates: Sequence[Candidate], scores: Sequence[Score], limit: int, weights: Weights
) -> list[Candidate]:
    """Up to `limit` candidates, best first, by maximal marginal relevance.

    Source: Carbonell & Goldstein, SIGIR 1998.
    """
    chosen: list[int] = []
    repeats = dict.fromkeys(range(len(candidates)), 0.0)
    while repeats and len(chosen) < limit:
        pick = max(repeats, key=lambda i: (scores[i].total - weights.repeat * repeats[i], -i))
        chosen.append(pick)
        picked = candidates[pick]
        floor = weights.floor * scores[chosen[0]].own
        for i in list(repeats):
            if scores[i].own < floor or _shares_text(candidates[i], picked):
                del repeats[i]
            else:
                repeats[i] = max(repeats[i], _similarity(candidates[i], picked))
    return [candidates[i] for i in chosen]


def _similarity(first: Candidate, second: Candidate) -> float:
    """Jaccard similarity of their terms."""
    union = len(first.terms | second.terms)
    return len(first.terms & second.terms) / union if union else 0.0


def _shares_text(first: Candidate, second: Candidate) -> bool:
    """Whether they quote the same characters; a common lead does not count."""
    if first.number != second.number:
        return False
    return any(
        start < stop and begin < end
        for start, end in first.unit.pieces
        for begin, stop in second.unit.pieces
    )
