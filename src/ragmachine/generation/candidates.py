"""The units of passages that may answer a question, with what each holds of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from .code_units import code_cutter, code_units
from .intents import intent_scorer, without_asking
from .ranking import Candidate
from .stitch import Passage
from .subjects import Subject, Title, coordinated, named_subjects, titles_of, words_beside
from .units import Unit, prose_units, quote, split_lines
from .words import content_words, exact_names

PROSE_TYPES = frozenset({"markdown", "rst", "text", "html", "pdf", "docx", "org", ""})
_LICENSE = re.compile(r"SPDX-|[Cc]opyright|[Ll]icensed under")
_Terms = Callable[[str], list[str]]


class Asked:
    """A question, and what of it is said by the names of the documents that passages are from.

    Args:
        question: as asked.
        passages: all that may be quoted.
        terms: tokenizer for passages.
        asked: tokenizer for the question.

    Attributes:
        wanted: terms of the question.
        topic: of these, what is left without the words that only ask, the names of documents and
            what kinds of things those are; all where nothing is.
        has_names: whether proper names of documents are among them; others are then not quoted.
        groups: the passages, by the subject that they are about where a question compares some.
    """

    def __init__(
        self, question: str, passages: Sequence[Passage], terms: _Terms, asked: _Terms
    ) -> None:
        self._terms = terms
        self._by_line: dict[str, frozenset[str]] = {}
        self._titles = {passage.number: _titles(passage) for passage in passages}
        every = [title for titles in self._titles.values() for title in titles]
        self._named = named_subjects(question, every)
        self.wanted = list(dict.fromkeys(asked(question)))
        names = asked(" ".join(question[one.start : one.end] for one in self._named))
        beside = asked(" ".join(words_beside(question, self._named)))
        topic = frozenset(asked(without_asking(question))).difference(names)
        self.topic = topic.difference(beside) or topic or frozenset(self.wanted)
        said = dict.fromkeys([*exact_names(question), *content_words(question)])
        self._judge = intent_scorer(question, list(said))
        self.has_names = any(one.is_proper for one in self._named)
        self.groups = self._grouped(passages, coordinated(question, self._named))

    def _grouped(
        self, passages: Sequence[Passage], sides: Sequence[Subject]
    ) -> list[list[Passage]]:
        """The passages to quote: for each side of a comparison, or all."""
        groups = [[p for p in passages if one.is_name_of(self._titles[p.number])] for one in sides]
        return [group for group in groups if group] or [
            [p for p in passages if not self._is_of_another(self._titles[p.number])]
        ]

    def candidates(
        self, passages: Sequence[Passage], wanted: frozenset[str]
    ) -> Iterator[Candidate]:
        """The units that hold a wanted term, or stand under one and hold the kind of value asked.

        "84 months" answers "how long is the warranty?" below the heading "Warranty".
        """
        for rank, passage in enumerate(passages, 1):
            for unit in _distinct_units(passage):
                text = quote(passage.text, unit.spans)
                own = self._cut(text)
                holds_none = wanted.isdisjoint(own)
                if holds_none and wanted.isdisjoint(self._cut(unit.nearest_scope)):
                    continue
                met, is_value = self._judge(text)
                if holds_none and not met:
                    continue
                near, scope = self._cut(unit.near), self._cut(unit.scope)
                yield Candidate(passage.number, rank, unit, text, own, near, scope, met, is_value)

    def _is_of_another(self, titles: Sequence[Title]) -> bool:
        """Whether a document has a title and is none of those that the question names."""
        is_named = any(one.is_name_of(titles) for one in self._named)
        return self.has_names and bool(titles) and not is_named

    def _cut(self, text: str) -> frozenset[str]:
        """Terms of a text, by lines: units overlap, and each line is tokenised once."""
        found: set[str] = set()
        for line in text.splitlines():
            if line not in self._by_line:
                self._by_line[line] = frozenset(self._terms(line))
            found |= self._by_line[line]
        return frozenset(found)


def _titles(passage: Passage) -> list[Title]:
    """What its document is called; code names what it defines, which is no title."""
    chunk = passage.hit.chunk
    return titles_of(chunk.label, chunk.file_path) if chunk.file_type in PROSE_TYPES else []


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
        text = quote(passage.text, unit.spans)
        is_label = text.endswith(":") and len(text.split()) < 2
        if unit.spans not in seen and not is_label and not _LICENSE.search(text):
            seen.add(unit.spans)
            yield unit
