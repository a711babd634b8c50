"""The answer without a model: the sentences, rows and statements that bear most on the question.

Everything shown is quoted letter by letter, so it can be thin but not wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .code_units import code_cutter, code_units
from .ranking import Candidate, Weights, choose, score_candidates
from .stitch import Passage
from .units import Unit, prose_units, split_lines
from .words import split_terms

PROSE_TYPES = frozenset({"markdown", "rst", "text", "html", "pdf", "docx", "org", ""})
_WEIGHTS = Weights()
_LICENSE = re.compile(r"SPDX-|[Cc]opyright|[Ll]icensed under")


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """Quotes and where they come from.

    Attributes:
        text: quotes, each followed by `` [n]``; "" when nothing bears on the question.
        cited: numbers of the passages quoted, ascending.
    """

    text: str
    cited: tuple[int, ...]


def extract_answer(
    question: str,
    passages: Sequence[Passage],
    *,
    max_sentences: int = 3,
    terms: Callable[[str], list[str]] = split_terms,
    weights: Weights = _WEIGHTS,
) -> ExtractiveAnswer:
    """Quote the units of the passages that answer the question best.

    Args:
        question: as asked.
        passages: best first.
        max_sentences: most quotes.
        terms: tokenizer for question and passages, stopwords left out.
        weights: parts of a unit's score.
    """
    asked = list(dict.fromkeys(terms(question)))
    candidates = [
        candidate
        for candidate in _candidates(passages, terms)
        if not set(asked).isdisjoint(candidate.terms)
    ]
    scores = score_candidates(question, asked, candidates, weights)
    return _render(choose(candidates, scores, max_sentences, weights))


def _candidates(
    passages: Sequence[Passage], terms: Callable[[str], list[str]]
) -> Iterator[Candidate]:
    cache: dict[str, tuple[str, ...]] = {}

    def cut(text: str) -> tuple[str, ...]:
        found: list[str] = []
        for line in text.splitlines():
            if line not in cache:
                cache[line] = tuple(terms(line))
            found.extend(cache[line])
        return tuple(found)

    best = max((passage.hit.score for passage in passages), default=1.0) or 1.0
    for passage in passages:
        chunk = passage.hit.chunk
        around = f"{chunk.label} {' '.join(chunk.file_path.split('/')[-2:])}"
        whole = frozenset(cut(passage.text)) | frozenset(cut(around))
        for unit in _distinct_units(passage, around):
            text = _quote(passage.text, unit.pieces)
            yield Candidate(
                passage.number,
                unit,
                text,
                cut(text),
                frozenset(cut(unit.near)),
                frozenset(cut(unit.scope)),
                whole,
                passage.hit.score / best,
            )


def _distinct_units(passage: Passage, scope: str) -> Iterator[Unit]:
    """The passage's units, without licence notices and lone labels such as ``Returns:``."""
    lines = split_lines(passage.text)
    if passage.hit.chunk.file_type in PROSE_TYPES:
        units = prose_units(passage.text, lines, scope, code_cutter(passage.text))
    else:
        units = code_units(passage.text, lines, scope)
    seen = set()
    for unit in units:
        text = _quote(passage.text, unit.pieces)
        is_label = text.endswith(":") and len(text.split()) < 2
        if unit.pieces not in seen and not is_label and not _LICENSE.search(text):
            seen.add(unit.pieces)
            yield unit


def _quote(text: str, pieces: Sequence[tuple[int, int]]) -> str:
    return "\n".join(text[start:end] for start, end in pieces)


def _render(chosen: Sequence[Candidate]) -> ExtractiveAnswer:
    order = {}
    for c in chosen:
        order.setdefault(c.number, len(order))
    chosen = sorted(chosen, key=lambda c: (order[c.number], c.unit.pieces[-1]))
    parts = []
    for c in chosen:
        parts.append(f"{c.text} [{c.number}]")
    return ExtractiveAnswer("\n".join(parts), tuple(sorted({c.number for c in chosen})))
