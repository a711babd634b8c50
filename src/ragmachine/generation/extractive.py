"""The answer without a model: the sentences, rows and statements that bear most on the question.

Everything shown is quoted letter by letter, so it can be thin but not wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .code_units import code_cutter, code_units
from .ranking import Candidate, Weights, choose, rarity_among, score_candidates
from .stitch import Passage
from .units import Span, Unit, prose_units, split_lines
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
    max_sentences: int = 5,
    terms: Callable[[str], list[str]] = split_terms,
    asked: Callable[[str], list[str]] | None = None,
    weights: Weights = _WEIGHTS,
) -> ExtractiveAnswer:
    """Quote the units of the passages that answer the question best.

    Args:
        question: as asked.
        passages: best first.
        max_sentences: most quotes.
        terms: tokenizer for passages, stopwords left out.
        asked: tokenizer for the question; by default the same.
        weights: parts of a unit's score.
    """
    wanted = list(dict.fromkeys((asked or terms)(question)))
    candidates = list(_candidates(passages, terms, frozenset(wanted)))
    rarity = rarity_among(wanted, candidates)
    scores = score_candidates(question, rarity, candidates, weights)
    return _render(passages, choose(candidates, scores, rarity, max_sentences, weights))


def _candidates(
    passages: Sequence[Passage], terms: Callable[[str], list[str]], wanted: frozenset[str]
) -> Iterator[Candidate]:
    """The units that hold a wanted term."""
    by_line: dict[str, frozenset[str]] = {}

    def cut(text: str) -> frozenset[str]:
        """Terms of a text, by lines: units overlap, and each line is tokenised once."""
        found: set[str] = set()
        for line in text.splitlines():
            if line not in by_line:
                by_line[line] = frozenset(terms(line))
            found |= by_line[line]
        return frozenset(found)

    for rank, passage in enumerate(passages, 1):
        for unit in _distinct_units(passage):
            text = _quote(passage.text, unit.spans)
            if wanted.isdisjoint(own := cut(text)):
                continue
            near, scope = cut(unit.near), cut(unit.scope)
            yield Candidate(passage.number, rank, unit, text, own, near, scope)


def _distinct_units(passage: Passage) -> Iterator[Unit]:
    """The passage's units, without licence notices and lone labels such as ``Returns:``."""
    chunk = passage.hit.chunk
    scope = " ".join([chunk.label, *chunk.file_path.split("/")[-2:]])
    lines = split_lines(passage.text)
    if chunk.file_type in PROSE_TYPES:
        units = prose_units(passage.text, lines, scope, code_cutter(passage.text))
    else:
        units = code_units(passage.text, lines, scope)
    seen = set()
    for unit in units:
        text = _quote(passage.text, unit.spans)
        is_label = text.endswith(":") and len(text.split()) < 2
        if unit.spans not in seen and not is_label and not _LICENSE.search(text):
            seen.add(unit.spans)
            yield unit


def _quote(text: str, pieces: Sequence[Span]) -> str:
    return "\n".join(text[start:end] for start, end in pieces)


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
            quotes.append(f"{_quote(texts[number], spans)} [{number}]")
    return ExtractiveAnswer("\n".join(quotes), tuple(sorted(numbers)))
