"""One opened index and what answers queries over it; the pipeline makes one per generation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ragmachine.models import Hit, SearchResult
from ragmachine.retrieval.lexical import LexicalRetriever, Scored, weighted_terms

if TYPE_CHECKING:
    from ragmachine.index.reader import Index
    from ragmachine.retrieval.cache import QueryCache

STRATEGY = "lexical"


class Searcher:
    """Query to result: terms, synonyms, cache or retriever, hits with their text.

    Args:
        index: the opened generation.
        retriever: ranks its chunks.
        cache: results of earlier queries over it.
        expand: gives a query's synonyms as words; None leaves queries as they are.
        expand_weight: of a synonym; the query's own words have 1.
        release: of the program, since another one may rank otherwise.
    """

    def __init__(
        self,
        index: Index,
        retriever: LexicalRetriever,
        cache: QueryCache,
        *,
        expand: Callable[[str], Sequence[str]] | None,
        expand_weight: float,
        release: str,
    ) -> None:
        self.index = index
        self.cache = cache
        self._retriever = retriever
        self._expand = expand
        self._expand_weight = expand_weight
        self._release = release

    def search(self, query: str, k: int) -> SearchResult:
        """The k best chunks; none with a score of 0, and a notice on why when there is none."""
        started = time.perf_counter()
        terms = self.index.tokenizer.query_terms(query)
        scored, is_cached = self._ranked(terms, self._synonyms(query), k) if terms else ([], False)
        hits = self._hits(scored, set(terms))
        elapsed_ms = (time.perf_counter() - started) * 1000
        total = self.index.chunk_count
        notice = "" if hits else _why_empty(query, terms, total)
        return SearchResult(query, STRATEGY, hits, total, elapsed_ms, notice, is_cached)

    def _synonyms(self, query: str) -> list[str]:
        """Index terms of the synonyms."""
        words = self._expand(query) if self._expand else ()
        query_terms = self.index.tokenizer.query_terms
        return list(dict.fromkeys(term for word in words for term in query_terms(word)))

    def _ranked(
        self, terms: Sequence[str], synonyms: Sequence[str], k: int
    ) -> tuple[list[Scored], bool]:
        """Ranked chunks from the cache or the retriever, and whether the cache had them."""
        key = self.cache.key(
            STRATEGY, self._release, k, terms, synonyms, self._expand_weight,
            self._retriever.weights,
        )  # fmt: skip
        cached = self.cache.get(key)
        if cached is not None:
            return cached, True
        scored = self._retriever.search(weighted_terms(terms, synonyms, self._expand_weight), k)
        self.cache.put(key, scored)
        return scored, False

    def _hits(self, scored: Sequence[Scored], terms: set[str]) -> tuple[Hit, ...]:
        holders = self.index.holders(sorted(terms), [item.chunk for item in scored])
        return tuple(
            Hit(rank, item.score, self.index.chunk(item.chunk), item.stages, found)
            for rank, (item, found) in enumerate(zip(scored, holders, strict=True), start=1)
        )


def _why_empty(query: str, terms: Sequence[str], total: int) -> str:
    if not query.strip():
        return "the query is empty: there is nothing to look for"
    if not total:
        return "the index is empty: no file in it held text"
    if not terms:
        return "the query holds only words that occur everywhere: name what you look for"
    return "no evidence: none of the query's words occurs in the index"
