"""Does the corpus give grounds for an answer? What the best hits hold, and names nobody wrote.

A lexical judgement: it sees that a question is about something else, names what does not exist
here, or turns on a word that the passage about the rest of it lacks. A question in quite other
words than the corpus looks to it like one about something else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragmachine.models import Grounds, Hit
from ragmachine.retrieval.asking import asking_words, same_bounds
from ragmachine.retrieval.assess import LOOKED_AT, inverse_frequencies
from ragmachine.retrieval.plan import compared

if TYPE_CHECKING:
    from ragmachine.index.reader import Index
    from ragmachine.retrieval.query import QueryAnalysis
    from ragmachine.retrieval.reading import QuestionReader

# What is left where a name is missing. An identifier is what a question is about, and alone brings
# it below the default threshold of refusal; a capitalised word may be mentioned in passing.
IDENTIFIER_FACTOR = 0.14
CAPITALISED_FACTOR = 0.35
# Log odds that the corpus answers a question, fitted by benchmarks/refusal.py on the half of the
# questions that tunes. The heaviest word that the best few lines lack says most: "how deep may it
# be *submerged*?" is not answered by lines on everything else, while a question in the asker's own
# words misses many words, each of which weighs little.
_ODDS = 0.43
_COVERAGE_ODDS = 2.3
_HEAVIEST_ODDS = -6.92
_WINDOW_LINES = 8
_LOOK_BACK_CHARS = 60
_WORD = re.compile(r"[^\s,;:?!()\[\]{}\"“”`'‘’…/=]+")
_SHAPE = re.compile(r"^--\w|_|[a-z0-9][A-Z]|[A-Za-z]-?\d|\w\.\w")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_OWN = re.compile(r"\b(?:my|our|called|named)(?:\s+\S+){0,2}\s*$", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<!\w)\w+://\S+|(?<!\w)[/~]\S+")
_ENGLISH = re.compile(
    r"\b(?:how|what|which|who|why|when|where|the|is|are|does|do|can|there)\b", re.IGNORECASE
)
_NUMBERED = re.compile(r"(?<![\w.])([A-Z][A-Za-z]+) (\d[\w.]*\w|\d)(?![\w%])")


@dataclass(frozen=True, slots=True)
class Name:
    """A word of a question that names something.

    Attributes:
        text: as written.
        is_identifier: whether its form says so: ``--flag``, ``snake_case``, ``E-77``; else it is
            only capitalised.
    """

    text: str
    is_identifier: bool


def grounds_of(
    query: str,
    hits: Sequence[Hit],
    reader: QuestionReader,
    index: Index,
    *,
    is_by_meaning: bool = False,
) -> Grounds:
    """What a question's hits give to answer it.

    Args:
        query: as asked.
        hits: best first; of which index does not matter.
        reader: takes the question apart.
        index: tells which words are rare, and which nobody wrote.
        is_by_meaning: whether vectors found them as well. That they hold few of the question's
            words then says nothing; a missing name still does.
    Returns: how likely the hits answer it, lowered where a name is missing.
    """
    analysis = reader.analyze(query)
    evidence = _weakest(query, analysis, hits, reader, index)
    texts = [f"{hit.chunk.file_path}\n{hit.chunk.label}\n{hit.chunk.text}" for hit in hits]

    def is_known(raw: str) -> bool:
        terms = index.tokenizer.expand(raw)
        return not terms or terms[0] in analysis.corrections or index.chunk_frequency(terms[0]) > 0

    missing = missing_names(query, texts, index.tokenizer.raw_words, is_known)
    factors = [IDENTIFIER_FACTOR if name.is_identifier else CAPITALISED_FACTOR for name in missing]
    strength = 1.0 if is_by_meaning else evidence.strength
    strength *= min(factors, default=1.0)
    return Grounds(strength, evidence.coverage, tuple(name.text for name in missing))


def _weakest(
    query: str, analysis: QueryAnalysis, hits: Sequence[Hit], reader: QuestionReader, index: Index
) -> Evidence:
    """The evidence on the whole question, or on that side of a comparison that has less of it.

    Either side may have found all of the first hits, so that all are looked at.
    """
    terms_of = index.tokenizer.terms
    sides = [reader.analyze(side) for side in compared(query)]
    found = [evidence_of(mass_of_terms(s, index), hits, terms_of, len(hits)) for s in sides]
    if not found:
        return evidence_of(mass_of_terms(analysis, index), hits, terms_of)
    return min(found, key=lambda one: one.strength)


def mass_of_terms(analysis: QueryAnalysis, index: Index) -> dict[str, float]:
    """The terms that stand for a question's words: weight times inverse document frequency.

    Words that only ask are left out: no answer has to hold them.
    """
    asking = asking_words(analysis.text, has_names=bool(analysis.identifiers or analysis.flags))
    only_asking = frozenset(index.tokenizer.terms(asking))
    wanted = [term for term in analysis.evidence if term not in only_asking]
    rarities = inverse_frequencies(index, wanted)
    return {
        term: analysis.terms.get(term, 1.0) * rarity
        for term, rarity in zip(wanted, rarities, strict=True)
    }


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the best hits hold of a question's words.

    Attributes:
        coverage: as in `assess.coverage`.
        heaviest: the heaviest word that the best few lines lack, as a share of all words, 0 to 1.
    """

    coverage: float
    heaviest: float

    @property
    def strength(self) -> float:
        """How likely these lines answer the question, 0 to 1; 1 where nothing is missing."""
        if self.heaviest <= 0:
            return 1.0
        odds = _ODDS + _COVERAGE_ODDS * self.coverage + _HEAVIEST_ODDS * self.heaviest
        return 1 / (1 + math.exp(-odds))


def evidence_of(
    mass: Mapping[str, float],
    hits: Sequence[Hit],
    terms_of: Callable[[str], list[str]],
    looked_at: int = LOOKED_AT,
) -> Evidence:
    """Look a question's words up in its best hits.

    "Max." in a hit stands for "highest" in a question, and the like.

    Args:
        mass: as `mass_of_terms` gives it.
        hits: best first.
        terms_of: cuts a text into terms.
        looked_at: how many hits count.
    """
    total = sum(mass.values())
    if total <= 0:
        return Evidence(1.0, 0.0)
    same = same_bounds(mass.keys(), terms_of)

    def held(text: str) -> set[str]:
        terms = terms_of(text)
        return (mass.keys() & terms).union(*(same[term] for term in same.keys() & terms))

    whole, near = [set[str]()], [set[str]()]
    for hit in hits[:looked_at]:
        chunk = hit.chunk
        header = held(f"{chunk.file_path}\n{chunk.label}")
        lines = [held(line) for line in chunk.text.splitlines()]
        whole.append(header.union(*lines))
        near.extend(header.union(*lines[at : at + _WINDOW_LINES]) for at in range(len(lines)))

    def weight(terms: Set[str]) -> float:
        # in the order of the question: a set's own would round otherwise in every process
        return sum(one for term, one in mass.items() if term in terms)

    matched = max(map(weight, whole))
    best = max(near, key=weight)
    heaviest = max((one for term, one in mass.items() if term not in best), default=0.0)
    return Evidence(matched / total, heaviest / total)


def missing_names(
    query: str,
    texts: Sequence[str],
    raw_words: Callable[[str], list[str]],
    is_known: Callable[[str], bool],
) -> list[Name]:
    """Names in a question that occur nowhere, each once, in order.

    An identifier that a hit writes otherwise, as ``enable-openmp`` for ``enable_openmp``, is not
    missing. ``Limpet 5`` is, where hits have a ``Limpet 3`` and none has that.

    Args:
        query: as asked.
        texts: of the hits.
        raw_words: cuts a text into words as the index does.
        is_known: whether anybody wrote such a word.
    """
    found: dict[str, Name] = {}
    for name in names(query):
        is_missing = not all(map(is_known, raw_words(name.text)))
        if is_missing and not (name.is_identifier and _is_written_otherwise(name.text, texts)):
            found[name.text] = name
    for match in _NUMBERED.finditer(query):
        if _is_another_number(match[1], match[2], texts):
            found[match[0]] = Name(match[0], is_identifier=True)
    return list(found.values())


def names(query: str) -> Iterator[Name]:
    """The names in a question, but for the asker's own, as in "my class Foo", and addresses.

    Capitals mean nothing at the start of a sentence, in a title, or in a language in which they
    may begin any noun.
    """
    query = _ADDRESS.sub(" ", query)
    words = list(_WORD.finditer(query))
    capitalised = sum(match[0][:1].isupper() for match in words)
    have_capitals_sense = 2 * capitalised <= len(words) and _ENGLISH.search(query) is not None
    for match in words:
        text = match[0].rstrip(".")
        before = query[max(match.start() - _LOOK_BACK_CHARS, 0) : match.start()]
        if not text or text[0].isdigit() or _OWN.search(before):
            continue
        is_start = before.rstrip(" \t\n\"“`'(")[-1:] in ("", ".", "?", "!", ":")
        if _SHAPE.search(text):
            yield Name(text, is_identifier=True)
        elif have_capitals_sense and not is_start and text[0].isupper() and len(text) > 1:
            yield Name(text, is_identifier=False)


def _is_written_otherwise(name: str, texts: Sequence[str]) -> bool:
    parts = _PART.findall(name)
    if len(parts) < 2:
        return False
    pattern = re.compile(r"[\W_]{0,2}".join(map(re.escape, parts)), re.IGNORECASE)
    return any(pattern.search(text) for text in texts)


def _is_another_number(name: str, number: str, texts: Sequence[str]) -> bool:
    """Whether texts have the name with numbers, and never with this one."""
    numbered = re.compile(rf"\b{re.escape(name)}[ -]?(\d[\w.]*\w|\d)", re.IGNORECASE)
    seen = {match[1].lower() for text in texts for match in numbered.finditer(text)}
    return bool(seen) and number.lower() not in seen
