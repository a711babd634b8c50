"""Scores quotable units against a question and picks a few that do not repeat each other."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .units import Span, Unit
from .words import exact_names


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
        news: share of the question's weight that a further passage must bring to be quoted.
        floor: share of the best quote's score, ranks left aside, below which nothing is quoted.
        value_floor: the same where the best quote gives the value that is asked for.
    """

    near: float = 0.2
    scope: float = 0.8
    rank: float = 1.0
    name: float = 0.15
    intent: float = 0.2
    value: float = 0.8
    imports: float = 0.6
    free_chars: float = 300
    scale_chars: float = 2500
    repeat: float = 0.4
    news: float = 0.35
    floor: float = 0.25
    value_floor: float = 0.7


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
        met: summed weights of the intents that it meets.
        is_value: whether it gives the value that is asked for.
    """

    number: int
    rank: int
    unit: Unit
    text: str
    terms: frozenset[str]
    near: frozenset[str]
    scope: frozenset[str]
    met: float
    is_value: bool


class Score(NamedTuple):
    """How well a candidate answers.

    Attributes:
        total: with its passage's rank.
        own: by its own words only.
        is_value: whether it gives the value that is asked for.
    """

    total: float
    own: float
    is_value: bool


def score_candidates(
    question: str, rarity: Mapping[str, float], candidates: Sequence[Candidate], weights: Weights
) -> list[Score]:
    """Scores in the order of `candidates`.

    Args:
        question: as asked.
        rarity: its distinct terms, and what each weighs.
        candidates: of all passages.
        weights: parts of the score.
    """
    total = sum(rarity.values()) or 1.0
    folded = [name.lower() for name in exact_names(question)]
    scores = []
    for candidate in candidates:
        near = candidate.near - candidate.terms
        scope = candidate.scope - candidate.terms - near
        score = _sum(rarity, candidate.terms)
        score += weights.near * _sum(rarity, near) + weights.scope * _sum(rarity, scope)
        score /= total
        if folded:
            text = candidate.text.lower()
            score += weights.name * sum(name in text for name in folded) / len(folded)
        score += weights.intent * candidate.met + weights.value * candidate.is_value
        factor = weights.imports if _IMPORT.match(candidate.text) else 1.0
        factor /= 1 + max(0.0, len(candidate.text) - weights.free_chars) / weights.scale_chars
        total_score = score + weights.rank / math.sqrt(candidate.rank)
        scores.append(Score(total_score * factor, score * factor, candidate.is_value))
    return scores


def rarity_among(asked: Sequence[str], candidates: Sequence[Candidate]) -> dict[str, float]:
    """Inverse frequency of the asked terms that any candidate holds."""
    wanted = frozenset(asked)
    frequency = Counter(term for c in candidates for term in wanted & c.terms)
    count = len(candidates)
    return {
        term: 0.1 + math.log(1 + (count - n + 0.5) / (n + 0.5)) for term, n in frequency.items()
    }


def _sum(rarity: Mapping[str, float], terms: frozenset[str]) -> float:
    return sum(weight for term, weight in rarity.items() if term in terms)


def choose(
    candidates: Sequence[Candidate],
    scores: Sequence[Score],
    rarity: Mapping[str, float],
    limit: int,
    weights: Weights,
) -> list[Candidate]:
    """Up to `limit` candidates, best first, by maximal marginal relevance, mostly of one passage.

    Another passage is quoted only for what no passage before it holds of the question.

    Args:
        candidates: of all passages.
        scores: theirs, in the same order.
        rarity: what each term of the question weighs.
        limit: most candidates.
        weights: parts of the score.
    Source: Carbonell & Goldstein, SIGIR 1998.
    """
    held = _held_by_passage(candidates)
    total = sum(rarity.values()) or 1.0
    chosen: list[int] = []
    known: frozenset[str] = frozenset()
    numbers: set[int] = set()
    repeats = dict.fromkeys(range(len(candidates)), 0.0)

    def is_new(candidate: Candidate) -> bool:
        return _sum(rarity, candidate.terms - known) >= weights.news * total

    while repeats and len(chosen) < limit:
        pick = max(repeats, key=lambda i: (scores[i].total - weights.repeat * repeats[i], -i))
        picked = candidates[pick]
        if picked.number not in numbers and numbers and not is_new(picked):
            del repeats[pick]
            continue
        chosen.append(pick)
        numbers.add(picked.number)
        known |= held[picked.number]
        best = scores[chosen[0]]
        floor = (weights.value_floor if best.is_value else weights.floor) * best.own
        for i in list(repeats):
            if scores[i].own < floor or _shares_text(candidates[i], picked):
                del repeats[i]
            else:
                repeats[i] = max(repeats[i], _similarity(candidates[i], picked))
    return [candidates[i] for i in chosen]


def _held_by_passage(candidates: Sequence[Candidate]) -> dict[int, frozenset[str]]:
    """The terms of each passage, its headings and labels included."""
    held: dict[int, set[str]] = {}
    for candidate in candidates:
        terms = held.setdefault(candidate.number, set())
        terms.update(candidate.terms, candidate.near, candidate.scope)
    return {number: frozenset(terms) for number, terms in held.items()}


def _similarity(first: Candidate, second: Candidate) -> float:
    """Jaccard similarity of their terms."""
    union = len(first.terms | second.terms)
    return len(first.terms & second.terms) / union if union else 0.0


def _shares_text(first: Candidate, second: Candidate) -> bool:
    """Whether they quote the same characters.

    A common lead does not count, but a line of a signature that leads the other one does.
    """
    if first.number != second.number:
        return False
    return (
        _overlap(first.unit.pieces, second.unit.pieces)
        or _is_in_signature(first.unit, second.unit)
        or _is_in_signature(second.unit, first.unit)
    )


def _is_in_signature(unit: Unit, other: Unit) -> bool:
    """Whether a unit is a part of the signature that leads another; a whole one leads it twice."""
    if unit.kind != "code" or other.kind != "code" or other.lead is None:
        return False
    return other.lead not in unit.pieces and _overlap(unit.pieces, (other.lead,))


def _overlap(first: Sequence[Span], second: Sequence[Span]) -> bool:
    return any(start < stop and begin < end for start, end in first for begin, stop in second)
