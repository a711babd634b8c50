"""The answer without a model: the sentences, rows and statements that bear most on the question.

Everything shown is quoted letter by letter, so it can be thin but not wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .candidates import Asked
from .ranking import Candidate, Weights, choose, rarity_among, score_candidates
from .stitch import Passage
from .units import Span, quote
from .words import split_terms

_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """Quotes and where they come from.

    Attributes:
        text: quotes, each followed by `` [n]``; "" when nothing bears on the question.
        cited: numbers of the passages quoted, ascending.
    """

    text: str
    cited: tuple[int, ...]


def extract_answers(
    questions: Sequence[str],
    passages: Sequence[Passage],
    *,
    max_sentences: int = 5,
    terms: Callable[[str], list[str]] = split_terms,
    asked: Callable[[str], list[str]] | None = None,
    weights: Weights = _WEIGHTS,
) -> ExtractiveAnswer:
    """Quote the units of the passages that answer questions best, about as many for each.

    Args:
        questions: at least one.
        passages: best first.
        max_sentences: most quotes, one or two more where they do not divide.
        terms: tokenizer for passages, stopwords left out.
        asked: tokenizer for the questions; by default the same.
        weights: parts of a unit's score.
    """
    chosen: dict[tuple[int, tuple[Span, ...]], Candidate] = {}
    most = -(-max_sentences // len(questions))
    if len(questions) > 1:
        weights = replace(weights, rank=0.0)  # the order of hits is that of all questions together
    for question in questions:
        read = Asked(question, passages, terms, asked or terms)
        for candidate in _chosen(question, read, passages, most, weights):
            chosen.setdefault((candidate.number, candidate.unit.spans), candidate)
    return _render(passages, list(chosen.values()))


def _chosen(
    question: str, read: Asked, passages: Sequence[Passage], most: int, weights: Weights
) -> list[Candidate]:
    found = [list(read.candidates(group, read.topic)) for group in read.groups]
    found = [candidates for candidates in found if candidates][:most]
    if not found and not read.has_names:
        found = [list(read.candidates(passages, frozenset(read.wanted)))]
    chosen: list[Candidate] = []
    for candidates in found:
        rarity = rarity_among(read.wanted, candidates)
        scores = score_candidates(question, rarity, candidates, weights)
        chosen += choose(candidates, scores, rarity, most // len(found), weights)
    return chosen


def _render(passages: Sequence[Passage], chosen: Sequence[Candidate]) -> ExtractiveAnswer:
    """Quotes of the best passage first, in text order within a passage.

    A lead that stands in an earlier quote, such as a table's header, is not shown again.
    """
    texts = {passage.number: passage.text for passage in passages}
    numbers = list(dict.fromkeys(candidate.number for candidate in chosen))
    quotes = []
    for number in numbers:
        shown: list[Span] = []
        units = [candidate.unit for candidate in chosen if candidate.number == number]
        for unit in sorted(units, key=lambda unit: unit.pieces):
            lead = unit.lead
            is_known = lead and any(s <= lead[0] and lead[1] <= e for s, e in shown)
            spans = unit.pieces if is_known else unit.spans
            shown.extend(spans)
            quotes.append(f"{quote(texts[number], spans)} [{number}]")
    return ExtractiveAnswer("\n".join(quotes), tuple(sorted(numbers)))
