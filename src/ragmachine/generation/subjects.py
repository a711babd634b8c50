"""Which documents a question names: their titles stand in the labels of passages, not in the text.

"How heavy is the Tarn 2?" names the document "Tarn 2 user manual", in which a table says "Weight"
and never "Tarn 2".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from .words import is_stopword

Title = tuple[str, ...]

_WORD = re.compile(r"\w+(?:\.\d+)*")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_NEAR_CHARS = 60
_SECTION = "Section: "
# At either end of a title they say what kind of document it is, and name nothing.
_KINDS = frozenset(
    """
    book booklet brochure catalog catalogue chapter datasheet documentation faq guide handbook index
    installation instruction instructions introduction manual notes operating overview owner
    quickstart readme reference release service sheet tutorial user users
    """.split()
)
_PREPOSITIONS = frozenset(
    """
    about after against among around at before behind below beside between by during for from in
    inside into near of off on onto out outside over per since than through to toward towards under
    until unlike upon versus via vs with within without
    """.split()
)
_BETWEEN = re.compile(
    r"\W*(?:(?:and|or|vs|versus|with|than|to)\b\W*)?(?:(?:the|an?|of|in|for)\b\W*)*", re.IGNORECASE
)
_JOINS = re.compile(r"\b(?:and|or|vs|versus|with|than|to)\b|[,/&]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Subject:
    """A place in a question that names a document.

    Attributes:
        start, end: the name, characters of the question.
        titles: of the documents that it names.
        is_proper: whether it is a proper name by its form: several words, of which one has a number
            or each a capital.
    """

    start: int
    end: int
    titles: frozenset[Title]
    is_proper: bool

    def is_name_of(self, titles: Iterable[Title]) -> bool:
        """Whether a document of these titles is meant."""
        return not self.titles.isdisjoint(titles)


def titles_of(label: str, file_path: str) -> list[Title]:
    """What a document is called, by the root of its headings and by its file.

    The words are folded, and those that say what kind of document it is are left out.

    Args:
        label: of one of its chunks.
        file_path: the document.
    """
    names = [file_path.rpartition("/")[2].rpartition(".")[0].replace("_", " ")]
    for section in label.split("; "):
        if section.startswith(_SECTION):
            names.append(section.removeprefix(_SECTION).partition(" > ")[0])
    found = [_without_kind(_folded(name)) for name in dict.fromkeys(names)]
    return [title for title in found if re.search(r"[^\W\d]{2}|[^\W\d]\d", "".join(title))]


def named_subjects(question: str, titles: Iterable[Title]) -> list[Subject]:
    """The names of documents in a question, in its order.

    A name is a whole title, or a part of one that is a name by its form: "Tarn 2" of "Tarn 2
    heater". One within a longer name does not count: who asks about the "Tarn 2 S" asks nothing of
    the "Tarn 2", nor of the "Ulva 2 S".

    Args:
        question: as asked.
        titles: of the documents that passages are from.
    """
    places = [match.span() for match in _WORD.finditer(question)]
    words = _folded(question)
    whole: dict[tuple[int, int], set[Title]] = {}
    partly: dict[tuple[int, int], set[Title]] = {}
    for title in dict.fromkeys(titles):
        for start, end in _longest_runs(words, title):
            if end - start == len(title):
                whole.setdefault((start, end), set()).add(title)
            elif _is_proper(question, places[start:end]) and not _goes_on(question, places, start):
                partly.setdefault((start, end), set()).add(title)
    found = partly | whole  # at the same words a whole title decides
    subjects = []
    covered = 0
    for start, end in sorted(found, key=lambda run: (run[0], -run[1])):
        if end > covered:  # else within a longer name
            covered = end
            own = places[start:end]
            titles_here = frozenset(found[start, end])
            is_proper = _is_proper(question, own)
            subjects.append(Subject(own[0][0], own[-1][1], titles_here, is_proper))
    return subjects


def coordinated(question: str, named: Sequence[Subject]) -> list[Subject]:
    """The subjects that a question puts side by side, as in "the Tarn 2 or the Tarn 3"; or none.

    Returns: those of the longest row, each once.
    """
    best: dict[frozenset[Title], Subject] = {}
    row: dict[frozenset[Title], Subject] = {}
    for before, subject in zip([None, *named], named, strict=False):
        if before is None or not _are_joined(question, before, subject):
            row = {}
        row.setdefault(subject.titles, subject)
        best = max(best, row, key=len)
    return list(best.values()) if len(best) > 1 else []


def words_beside(question: str, named: Iterable[Subject]) -> Iterator[str]:
    """The words around proper names up to the next that says nothing: "the Tarn 2 *heater* has".

    They tell what kind of thing it is, which its document need not do on every page.
    """
    for subject in named:
        if subject.is_proper:
            before = question[max(subject.start - _NEAR_CHARS, 0) : subject.start]
            after = question[subject.end : subject.end + _NEAR_CHARS]
            yield from takewhile(_says_something, _TOKEN.findall(before)[::-1])
            yield from takewhile(_says_something, _TOKEN.findall(after))


def _says_something(token: str) -> bool:
    low = token.casefold()
    return token[0].isalnum() and not is_stopword(low) and low not in _PREPOSITIONS


def _are_joined(question: str, first: Subject, second: Subject) -> bool:
    between = question[first.end : second.start]
    return bool(_BETWEEN.fullmatch(between) and _JOINS.search(between))


def _folded(text: str) -> Title:
    return tuple(word.casefold() for word in _WORD.findall(text))


def _without_kind(words: Title) -> Title:
    start, end = 0, len(words)
    while start < end and (words[start] in _KINDS or is_stopword(words[start])):
        start += 1
    while start < end and words[end - 1] in _KINDS:
        end -= 1
    return words[start:end]


def _longest_runs(words: Title, title: Title) -> list[tuple[int, int]]:
    """Where a question has most of a title's words in a row, if it has any.

    A part of a title neither begins nor ends with a function word.
    """
    runs = []
    for start, word in enumerate(words):
        if word not in title:
            continue
        length = max(_common(words, start, title, at) for at in range(len(title)))
        while 0 < length < len(title) and is_stopword(words[start + length - 1]):
            length -= 1
        if length and (length == len(title) or not is_stopword(word)):
            runs.append((start, start + length))
    longest = max((end - start for start, end in runs), default=0)
    return [(start, end) for start, end in runs if end - start == longest]


def _common(words: Title, start: int, title: Title, at: int) -> int:
    """How many words are the same from two places on."""
    most = min(len(words) - start, len(title) - at)
    return next((n for n in range(most) if words[start + n] != title[at + n]), most)


def _is_proper(question: str, places: Sequence[tuple[int, int]]) -> bool:
    """Whether several words are a name by their form: one has a number, or each a capital."""
    words = [question[start:end] for start, end in places]
    has_number = any(any(map(str.isdigit, word)) for word in words)
    return len(words) > 1 and (has_number or all(any(map(str.isupper, word)) for word in words))


def _goes_on(question: str, places: Sequence[tuple[int, int]], start: int) -> bool:
    """Whether a name began before: "2 S" in "the Tarn 2 S". A first word's capital says nothing."""
    if start < 2:
        return False
    (begin, end), (own, _) = places[start - 1], places[start]
    word = question[begin:end]
    return question[end:own].isspace() and not word.islower()
