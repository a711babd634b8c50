"""Checks each sentence of an answer against the passages that it cites.

The check is lexical. A sentence is supported where its names and quotations stand in its passages,
enough of its words, the rarer the more, stand close together there, and its numbers stand near
them. A negation turned round is not noticed, nor a number that belongs to something else nearby.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from ragmachine.models import Citation, Support

from .citations import last_number, numbers_in, without_citations
from .exact import Exact, Source
from .refusals import says_nothing
from .sentences import Sentence, split_sentences
from .stitch import Passage
from .words import split_terms

# Of reference answers 87 in 100 pass against their passages, of other questions' answers 1 in 100:
# benchmarks/refusal.py.
LEAST_SUPPORT = 0.5
_WINDOW_LINES = 8
# A further line must bring this share of the sentence, or the window ends before it.
_LINE_COST = 0.02
# Numbers must stand in the window or so near to it: that finds a fifth more of the wrong numbers
# that stand elsewhere in the passage, at the price of 1 true answer in 100.
_NEAR_LINES = 5
# What a line is given for saying what the header of its passage says already.
_REPEAT_SHARE = 0.1
_MOST_NAMED = 5
_NOD = re.compile(r"\W*(?:yes|no|true|false|correct|exactly|indeed|right|sure)\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, the passages that it cites, and its text without list marker and citations."""

    sentence: Sentence
    cited: tuple[int, ...]
    body: str


@dataclass(frozen=True, slots=True)
class _Window:
    """Lines of a passage and what they hold of a sentence, header of the passage included."""

    page: _Page
    first: int
    last: int
    held: frozenset[str]


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
        pages = {passage.number: _Page(passage, self._terms) for passage in passages}
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

    def _check(self, piece: _Piece, pages: Mapping[int, _Page], least: float) -> Support:
        sentence, cited, body = piece.sentence, piece.cited, piece.body
        read = [pages[number] for number in cited] or list(pages.values())
        terms = list(dict.fromkeys(self._terms(body)))
        mass = dict(zip(terms, self._weigh(terms) if terms else (), strict=True))
        windows = [window for page in read if (window := _best_window(mass, page))]
        windows.sort(key=lambda window: -_weight(mass, window.held))
        if not cited:  # what cites several may have taken a part from each
            windows = windows[:1]
        held = frozenset[str]().union(*(window.held for window in windows))
        score = _weight(mass, held) / (sum(mass.values()) or 1.0)
        where = " and ".join(f"[{number}]" for number in cited) or "any passage"
        reason = _missing(Exact(body), read, windows, where)
        if not reason and score < least:
            reason = f"too few of its words stand together in {where}"
        span = windows[0].page.span(windows[0].first, windows[0].last) if windows else None
        return Support(
            sentence.start, sentence.end, sentence.text, not reason, score, reason, cited, span
        )


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


def _read_quotations(sentences: Sequence[Sentence], pages: Mapping[int, _Page]) -> list[_Piece]:
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
        found.append(_Piece(sentence, cited, body))
    return found[::-1]


class _Page:
    """A passage prepared for looking things up."""

    def __init__(self, passage: Passage, terms: Callable[[str], list[str]]) -> None:
        self._passage = passage
        self._terms = terms
        chunk = passage.hit.chunk
        # its author was shown these too
        self._header = f"{chunk.file_path}\n{chunk.label}"
        self._place = f"{self._header}\nlines {chunk.first_line} - {chunk.last_line}"
        self.source = Source(f"{self._place}\n{passage.text}")

    @cached_property
    def header(self) -> frozenset[str]:
        """Terms of path and label."""
        return frozenset(self._terms(self._header))

    @cached_property
    def lines(self) -> list[tuple[int, int, frozenset[str]]]:
        """Start, end and terms of each line; offsets into the passage."""
        found, start = [], 0
        for line in self._passage.text.split("\n"):
            found.append((start, start + len(line.rstrip("\r")), frozenset(self._terms(line))))
            start += len(line) + 1
        return found

    def quotes(self, text: str) -> bool:
        """Whether the last line of a text stands in the passage."""
        return text.strip().rpartition("\n")[2].strip() in self._passage.text

    def near(self, window: _Window) -> Source:
        """A window with some lines around it, and what is said about the passage's place."""
        first = max(window.first - _NEAR_LINES, 0)
        last = min(window.last + _NEAR_LINES, len(self.lines) - 1)
        start, end = self.lines[first][0], self.lines[last][1]
        return Source(f"{self._place}\n{self._passage.text[start:end]}")

    def span(self, first: int, last: int) -> Citation:
        """The lines from one to another, counted from 0 in the passage, as a place in the file."""
        chunk = self._passage.hit.chunk
        return Citation(
            self._passage.number,
            chunk.file_path,
            chunk.start + self.lines[first][0],
            chunk.start + self.lines[last][1],
            chunk.first_line + first,
            chunk.first_line + last,
        )


def _missing(exact: Exact, read: Sequence[_Page], windows: Sequence[_Window], where: str) -> str:
    """What a sentence has and its passages do not, or not where its words stand; "" for nothing."""
    missing = exact.missing([page.source for page in read])
    if missing:
        return f"not found in {where}: {', '.join(missing[:_MOST_NAMED])}"
    far = exact.missing_numbers([window.page.near(window) for window in windows])
    return f"not near the rest of it in {where}: {', '.join(far[:_MOST_NAMED])}" if far else ""


def _weight(mass: Mapping[str, float], terms: Collection[str]) -> float:
    return sum(mass[term] for term in terms)


def _best_window(mass: Mapping[str, float], page: _Page) -> _Window | None:
    """The lines that hold most of a sentence, and no line more than that takes; ties go upwards.

    What the header says counts for every line of the passage; a line that says it too is better.
    """
    total = sum(mass.values())
    known = page.header & mass.keys()
    found = _Window(page, 0, 0, known) if known else None
    best = _weight(mass, known) / total if known else 0.0
    for first, last, own in _windows(page.lines, mass.keys()):
        held = own | known
        value = (_weight(mass, held) + _REPEAT_SHARE * _weight(mass, own & known)) / total
        value -= _LINE_COST * (last - first)
        if value > best + 1e-9:
            best, found = value, _Window(page, first, last, held)
    return found


def _windows(
    lines: Sequence[tuple[int, int, frozenset[str]]], wanted: Set[str]
) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Windows that begin and end with a line that brings a wanted term: first, last, terms."""
    holding = [(row, own) for row, (_, _, terms) in enumerate(lines) if (own := terms & wanted)]
    for place, (first, held) in enumerate(holding):
        yield first, first, held
        for last, own in holding[place + 1 :]:
            if last - first >= _WINDOW_LINES:
                break
            if not own <= held:
                held = held | own
                yield first, last, held
