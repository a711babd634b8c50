"""Checks each sentence of an answer against the passages that it cites.

The check is lexical. A sentence is supported where its names and quotations stand in its passages,
enough of its words, the rarer the more, stand close together there, its numbers stand near them
with their units, and nothing there says the opposite (see `contradictions`). What stands there
letter by letter is always supported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace

from ragmachine.models import Support

from .citations import last_number, numbers_in, without_citations
from .contradictions import contradiction, misplaced
from .exact import Exact
from .pages import Page, Window, best_window, weight
from .refusals import says_nothing
from .sentences import Sentence, split_sentences
from .stitch import Passage
from .words import split_terms

# Of reference answers 87 in 100 pass against their passages, of other questions' answers 1 in 100:
# benchmarks/refusal.py.
LEAST_SUPPORT = 0.5
_MOST_NAMED = 5
_NOD = re.compile(r"\W*(?:yes|no|true|false|correct|exactly|indeed|right|sure)\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, the passages that it cites, and its text without list marker and citations."""

    sentence: Sentence
    cited: tuple[int, ...]
    body: str
    is_quoted: bool = False


class Verifier:
    """Judges answers; safe to share between threads.

    Args:
        terms: cuts a text into stemmed terms without stopwords.
        weigh: what each term says, such as its inverse document frequency; all the same when None.
        least: share of a sentence's weight that must stand together, 0 to 1.
    """

    def __init__(
        self,
        *,
        terms: Callable[[str], list[str]] = split_terms,
        weigh: Callable[[Sequence[str]], Sequence[float]] | None = None,
        least: float = LEAST_SUPPORT,
    ) -> None:
        self._terms = terms
        self._weigh = weigh or (lambda terms: [1.0] * len(terms))
        self._least = least

    def verify(
        self, text: str, passages: Sequence[Passage], *, is_quoted: bool = False
    ) -> tuple[Support, ...]:
        """The sentences of an answer in order, each with its verdict.

        A heading, "For example:", "Yes." and the like claim nothing of their own: they are as
        supported as the sentence after them.

        Args:
            text: the answer.
            passages: those its author was shown.
            is_quoted: whether it consists of quotations, each ending with its one citation; other
                numbers in brackets are then the source's own.
        """
        pages = {passage.number: Page(passage, self._terms) for passage in passages}
        read = _read_quotations if is_quoted else _read_claims
        pieces = read(split_sentences(text), pages)
        claims = [self._is_claim(piece) for piece in pieces]
        is_alone = not any(claims)
        supports = [
            self._check(piece, pages, self._least if is_claim or is_alone else 0.0)
            for piece, is_claim in zip(pieces, claims, strict=True)
        ]
        return tuple(_with_leads(supports, claims))

    def _is_claim(self, piece: _Piece) -> bool:
        """Whether a sentence says something that could be looked up."""
        is_aside = piece.sentence.is_lead or says_nothing(piece.body)
        is_aside = is_aside or _NOD.fullmatch(piece.body) is not None
        return not is_aside and bool(self._terms(piece.body))

    def _check(self, piece: _Piece, pages: Mapping[int, Page], least: float) -> Support:
        sentence, cited, body = piece.sentence, piece.cited, piece.body
        read = [pages[number] for number in cited] or list(pages.values())
        terms = list(dict.fromkeys(self._terms(body)))
        mass = dict(zip(terms, self._weigh(terms) if terms else (), strict=True))
        windows = [window for page in read if (window := best_window(mass, page))]
        windows.sort(key=lambda window: -weight(mass, window.held))
        if not cited:  # what cites several may have taken a part from each
            windows = windows[:1]
        held = frozenset[str]().union(*(window.held for window in windows))
        score = weight(mass, held) / (sum(mass.values()) or 1.0)
        where = " and ".join(f"[{number}]" for number in cited) or "any passage"
        lines = [line for line in body.splitlines() if line.strip()]
        texts = lines if piece.is_quoted else [body]
        can_be_there = piece.is_quoted or bool(terms)  # "it is" stands everywhere
        is_there = can_be_there and any(all(map(page.has_text, texts)) for page in read)
        reason = "" if is_there else self._missing(body, read, windows, where)
        if not (is_there or reason) and score < least:
            reason = f"too few of its words stand together in {where}"
        span = windows[0].page.span(windows[0].first, windows[0].last) if windows else None
        return Support(
            sentence.start, sentence.end, sentence.text, not reason, score, reason, cited, span
        )

    def _missing(
        self, body: str, read: Sequence[Page], windows: Sequence[Window], where: str
    ) -> str:
        """What a sentence has and its passages do not, or not near its words; "" for nothing."""
        exact = Exact(body)
        if missing := exact.missing([page.source for page in read]):
            return f"not found in {where}: {', '.join(missing[:_MOST_NAMED])}"
        near = [window.page.near(window) for window in windows]
        if far := exact.missing_numbers(near):
            return f"not near the rest of it in {where}: {', '.join(far[:_MOST_NAMED])}"
        for amount, other in exact.other_units(near):
            return f"{where} has {other}, not {amount}"
        for source in near:
            number, owner = misplaced(exact.names, exact.numbers, source.text)
            if number:
                return f"{number} belongs to {owner} in {where}"
        if word := contradiction(body, [source.text for source in near], self._terms):
            return f"{where} says the opposite of: {word}"
        return ""


def without_unsupported(text: str, supports: Sequence[Support]) -> tuple[str, tuple[Support, ...]]:
    """An answer without its unsupported sentences, and those that are left at their new places.

    Args:
        text: the answer.
        supports: its sentences, in order.
    """
    left = ""
    kept: list[Support] = []
    gap, done = "", 0
    for support in supports:
        gap = max(
            gap, text[done : support.start], key=lambda blank: (blank.count("\n"), len(blank))
        )
        done = support.end
        if support.is_supported:
            left += gap if kept else ""
            kept.append(replace(support, start=len(left), end=len(left) + len(support.text)))
            left, gap = left + support.text, ""
    return left, tuple(kept)


def _with_leads(supports: Sequence[Support], claims: Sequence[bool]) -> list[Support]:
    """Give what claims nothing the verdict of the next claim, or else of the one before."""
    places = [place for place, is_claim in enumerate(claims) if is_claim]
    found = []
    for place, support in enumerate(supports):
        following = [other for other in places if other >= place] or places[-1:]
        if support.is_supported and following and not supports[following[0]].is_supported:
            reason = "what it belongs to is not supported"
            support = replace(support, is_supported=False, reason=reason)
        found.append(support)
    return found


def _read_claims(sentences: Sequence[Sentence], known: Container[int]) -> list[_Piece]:
    """Sentences as a model writes them, with the passages that each cites."""
    return [
        _Piece(
            sentence,
            numbers_in(sentence.text, known),
            without_citations(sentence.body, known),
        )
        for sentence in sentences
    ]


def _read_quotations(sentences: Sequence[Sentence], pages: Mapping[int, Page]) -> list[_Piece]:
    """Sentences of quotations, with the one passage that is named where the quotation ends.

    A line such as ``x = [1]`` of the source itself only seems to name one.
    """
    found: list[_Piece] = []
    cited: tuple[int, ...] = ()
    for sentence in reversed(sentences):
        body, number = last_number(sentence.body)
        if number is not None and number in pages and pages[number].quotes(body):
            cited = (number,)
        else:
            body = sentence.body
        found.append(_Piece(sentence, cited, body, is_quoted=True))
    return found[::-1]
