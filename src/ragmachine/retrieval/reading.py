"""From the text of a query to a `Question`: analysis, synonyms, parts, and what it names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ragmachine.file_types import FILE_TYPES
from ragmachine.retrieval.narrow import FilePlaces, Narrowing, places
from ragmachine.retrieval.options import SearchOptions
from ragmachine.retrieval.query import QueryAnalysis, analyze_query
from ragmachine.retrieval.ranking import Mask, Question

if TYPE_CHECKING:
    from ragmachine.index.reader import Index

# What every comparison that `plan.compared` knows holds; most questions need not import it.
_COMPARING = re.compile(
    r"\b(?:compare|contrast|differences?|which|what)\b.*\b(?:and|or|vs|versus)\b", re.IGNORECASE
)


class QuestionReader:
    """Reads queries against one index.

    Args:
        index: the opened generation.
        options: what is done beyond reading the terms.
        ask_synonyms: gives a query's synonyms as words; None where no model may be asked.
    """

    def __init__(
        self,
        index: Index,
        options: SearchOptions,
        ask_synonyms: Callable[[str], Sequence[str]] | None,
    ) -> None:
        self._index = index
        self._options = options
        self._ask_synonyms = ask_synonyms

    def read(self, query: str, k: int, mask: Mask | None) -> Question:
        """A query as retrievers and stages see it.

        Args:
            query: any text.
            k: hits that are wanted.
            mask: as in `Question`.
        """
        analysis = self.analyze(query)
        added = self._added(analysis) if analysis.terms else {}
        sides = self._sides(query)
        return Question(
            terms={**added, **analysis.terms},
            names=analysis.names,
            mask=mask,
            narrowing=self._narrowing(query) if self._options.does_narrow else Narrowing(),
            k=k,
            least_pool=self._options.reranked,
            parts=sides or self._parts(query),
            is_comparison=bool(sides),
            added=added,
            analysis=analysis,
        )

    def read_part(self, question: Question, part: str) -> Question:
        """A part of a question, searched for where the question is, without synonyms."""
        analysis = self.analyze(part)
        return replace(question, terms=analysis.terms, names=analysis.names, analysis=analysis)

    def analyze(self, query: str) -> QueryAnalysis:
        """The query taken apart, against this index."""
        index, tokenizer = self._index, self._index.tokenizer
        words = [(raw, tokenizer.expand(raw)) for raw in tokenizer.query_words(query)]
        return analyze_query(
            query, words, self._frequency, index.chunk_count, self._options.analysis
        )

    def _frequency(self, term: str) -> int:
        """Chunks that hold a term, or are of the kind that it names.

        All of a Python project is about Python, whether it says so or not.
        """
        written = self._index.chunk_frequency(term)
        return max(written, self._kinds[term]) if term in FILE_TYPES else written

    @cached_property
    def _kinds(self) -> Counter[str]:
        """Chunks by the type of their file."""
        index = self._index
        chunks = np.bincount(index.file_of_chunk, minlength=len(index.files)).tolist()
        counts: Counter[str] = Counter()
        for kind, count in zip(index.file_types, chunks, strict=True):
            counts[kind] += count
        return counts

    def _sides(self, query: str) -> tuple[str, ...]:
        """What a comparison asks of either side; none where it is none, or not to be cut."""
        if not self._options.does_compare or not _COMPARING.search(query):
            return ()
        from ragmachine.retrieval.plan import compared

        return compared(_writable(query))

    def _parts(self, query: str) -> tuple[str, ...]:
        """The question's parts; none where it is not to be cut."""
        if not self._options.does_decompose:
            return ()
        from ragmachine.retrieval.plan import decompose

        return decompose(_writable(query))

    def _added(self, analysis: QueryAnalysis) -> dict[str, float]:
        """Terms of the user's and the model's synonyms that the query does not have."""
        options, tokenizer = self._options, self._index.tokenizer
        words: list[str] = []
        for raw in tokenizer.query_words(analysis.text) if options.synonyms else ():
            words.extend(options.synonyms.get(raw.lower(), ()))
        if options.expand == "llm" and self._ask_synonyms:
            words.extend(self._ask_synonyms(analysis.text))
        terms = [term for word in words for term in tokenizer.query_terms(word)]
        return {term: options.expand_weight for term in terms if term not in analysis.terms}

    def _narrowing(self, query: str) -> Narrowing:
        found = places(query)
        return self._places.narrowing(found) if found else Narrowing()

    @cached_property
    def _places(self) -> FilePlaces:
        """Made for the first question that names a place: it takes a look at every path."""
        return FilePlaces(self._index.files, self._index.root)


def _writable(query: str) -> str:
    """A query without what no file can hold."""
    return query.encode("utf-8", "replace").decode("utf-8")
