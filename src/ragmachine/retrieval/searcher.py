"""One opened index and what answers queries over it; the pipeline makes one per generation."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragmachine.models import Hit, SearchResult
from ragmachine.retrieval.diversify import distinct, maximal_marginal_relevance
from ragmachine.retrieval.lexical import LexicalRetriever, Mask, Scored
from ragmachine.retrieval.query import AnalysisOptions, QueryAnalysis, analyze_query

if TYPE_CHECKING:
    from ragmachine.index.reader import Index
    from ragmachine.retrieval.cache import QueryCache

STRATEGY = "lexical"
# The whole question counts as much as two of its parts: parts alone lose what joins them.
_WHOLE_WEIGHT = 2.0
_POOL = 3  # hits looked at per hit returned, where some may be dropped
_MAX_POOL = 60
_FEEDBACK_HITS = 5


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Which stages run, and how; everything here decides results and is part of the cache key.

    Attributes:
        analysis: how the query is read.
        expand: ``none``, ``llm`` (a model's synonyms) or ``prf`` (words of the best hits).
        expand_weight: of an added word; the query's own words have 1.
        does_decompose: whether questions of several parts are cut and merged.
        is_distinct: whether the same text is shown once.
        variety: the λ of maximal marginal relevance; 1 ranks by relevance alone.
        synonyms: the user's own: word to words, lower-case.
    """

    analysis: AnalysisOptions = field(default_factory=AnalysisOptions)
    expand: str = "none"
    expand_weight: float = 0.25
    does_decompose: bool = False
    is_distinct: bool = True
    variety: float = 1.0
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Searcher:
    """Query to result: analysis, expansion, planning, ranking, variety, hits with their text.

    Args:
        index: the opened generation.
        retriever: ranks its chunks.
        cache: results of earlier queries over it.
        options: which stages run.
        ask_synonyms: gives a query's synonyms as words; None where no model may be asked.
        release: of the program, since another one may rank otherwise.
    """

    def __init__(
        self,
        index: Index,
        retriever: LexicalRetriever,
        cache: QueryCache,
        *,
        options: SearchOptions,
        ask_synonyms: Callable[[str], Sequence[str]] | None,
        release: str,
    ) -> None:
        self.index = index
        self.cache = cache
        self.options = options
        self._retriever = retriever
        self._ask_synonyms = ask_synonyms
        self._release = release
        self._masks: dict[str, Mask | None] = {"": None}

    def search(
        self, query: str, k: int, filter_text: str = "", *, is_explained: bool = False
    ) -> SearchResult:
        """The k best chunks; none with a score of 0, and a notice on why when there is none.

        Args:
            query: any text.
            k: at least 1.
            filter_text: conditions as `filters.parse_filter` reads them; "" for none.
            is_explained: say in the result what was made of the query.
        Raises: UsageError: the filter cannot be read.
        """
        started = time.perf_counter()
        mask = self._mask(filter_text)
        analysis = self.analyze(query)
        added = self._added_terms(query, analysis) if analysis.terms else {}
        parts = self._parts(query)
        key = self.cache.key(
            STRATEGY, self._release, k, list(analysis.terms.items()), added, parts[1:],
            sorted(analysis.names), filter_text, self.options, self._retriever.weights,
        )  # fmt: skip
        cached = self.cache.get(key) if analysis.terms else []
        scored = cached if cached is not None else self._ranked(analysis, added, parts, k, mask)
        if cached is None:
            self.cache.put(key, scored)
        hits = self._hits(scored, analysis)
        elapsed_ms = (time.perf_counter() - started) * 1000
        return SearchResult(
            query=query,
            strategy=STRATEGY,
            hits=hits,
            total_chunks=self.index.chunk_count,
            search_time_ms=elapsed_ms,
            notice=self._notice(query, analysis, hits, mask),
            is_cached=cached is not None and bool(analysis.terms),
            plan=self._plan(query, analysis, added, filter_text) if is_explained else {},
        )

    def analyze(self, query: str) -> QueryAnalysis:
        """The query taken apart, against this index."""
        tokenizer = self.index.tokenizer
        words = [(raw, tokenizer.expand(raw)) for raw in tokenizer.query_words(query)]
        return analyze_query(
            query,
            words,
            self.index.chunk_frequency,
            self.index.chunk_count,
            self.options.analysis,
        )

    def _parts(self, query: str) -> tuple[str, ...]:
        """The question's parts, without what no file can hold; itself where it is not cut."""
        text = query.encode("utf-8", "replace").decode("utf-8")
        if not self.options.does_decompose:
            return (text,)
        from ragmachine.retrieval.plan import decompose

        return decompose(text)

    def _ranked(
        self,
        analysis: QueryAnalysis,
        added: Mapping[str, float],
        parts: Sequence[str],
        k: int,
        mask: Mask | None,
    ) -> list[Scored]:
        """Rank the whole question, merge in its parts, then see to variety."""
        pool = max(k, min(_POOL * k, _MAX_POOL))
        ranked = self._retrieve({**added, **analysis.terms}, analysis.names, pool, mask)
        if len(parts) > 1:
            ranked = self._merged(ranked, parts, pool, mask)
        return self._varied(ranked, k)

    def _retrieve(
        self, terms: Mapping[str, float], names: frozenset[str], count: int, mask: Mask | None
    ) -> list[Scored]:
        options = self.options
        hits = self._retriever.search(terms, count, mask=mask, names=names)
        if options.expand != "prf" or not hits:
            return hits
        from ragmachine.retrieval.feedback import relevance_model

        chunks = [(hit.score, self._terms_of(hit)) for hit in hits[:_FEEDBACK_HITS]]
        richer = relevance_model(terms, chunks, self._idf, weight=options.expand_weight)
        return self._retriever.search(richer, count, mask=mask, names=names)

    def _merged(
        self, whole: Sequence[Scored], parts: Sequence[str], count: int, mask: Mask | None
    ) -> list[Scored]:
        """Reciprocal rank fusion of the question's ranking with those of its parts."""
        from ragmachine.retrieval.fuse import reciprocal_rank_fusion

        rankings = [list(whole)]
        for part in map(self.analyze, parts):
            rankings.append(self._retrieve(part.terms, part.names, count, mask))
        weights = [_WHOLE_WEIGHT, *(1.0 for _ in parts)]
        fused = reciprocal_rank_fusion(
            [[hit.chunk for hit in ranking] for ranking in rankings], weights=weights
        )
        stages = {hit.chunk: hit.stages for ranking in reversed(rankings) for hit in ranking}
        return [
            Scored(chunk, score, {**stages[chunk], "fusion": score})
            for chunk, score in fused[:count]
        ]

    def _varied(self, ranked: Sequence[Scored], k: int) -> list[Scored]:
        """The first k of distinct text, by relevance or by marginal relevance."""
        is_varied = self.options.variety < 1
        texts = {}

        def text_of(position: int) -> str:
            texts[position] = self.index.chunk(ranked[position].chunk).text
            return texts[position]

        kept = list(range(len(ranked)))
        if self.options.is_distinct:
            kept = distinct(map(text_of, kept), None if is_varied else k)
        if is_varied and len(kept) > 1:
            raw_words = self.index.tokenizer.raw_words
            words = [frozenset(raw_words(texts.get(i) or text_of(i))) for i in kept]
            scores = [ranked[i].score for i in kept]
            order = maximal_marginal_relevance(scores, words, k, balance=self.options.variety)
            kept = [kept[i] for i in order]
        return [ranked[i] for i in kept[:k]]

    def _added_terms(self, query: str, analysis: QueryAnalysis) -> dict[str, float]:
        """Terms of the user's and the model's synonyms that the query does not have."""
        options, tokenizer = self.options, self.index.tokenizer
        words: list[str] = []
        for raw in tokenizer.query_words(query):
            words.extend(options.synonyms.get(raw.lower(), ()))
        if options.expand == "llm" and self._ask_synonyms:
            words.extend(self._ask_synonyms(query))
        terms = [term for word in words for term in tokenizer.query_terms(word)]
        return {term: options.expand_weight for term in terms if term not in analysis.terms}

    def _terms_of(self, hit: Scored) -> list[str]:
        return self.index.tokenizer.terms(self.index.chunk(hit.chunk).text)

    def _idf(self, term: str) -> float:
        frequency, total = self.index.chunk_frequency(term), self.index.chunk_count
        return math.log1p((total - frequency + 0.5) / (frequency + 0.5)) if frequency else 0.0

    def _mask(self, filter_text: str) -> Mask | None:
        """Which chunks a filter lets through; None where it lets all. Kept for the next query."""
        text = filter_text.strip()
        if text not in self._masks:
            from ragmachine.retrieval.filters import chunk_mask, parse_filter

            index = self.index
            self._masks[text] = chunk_mask(
                parse_filter(text),
                files=index.files,
                file_types=index.file_types,
                labels=index.labels,
                file_of_chunk=index.file_of_chunk,
                source=index.root.rpartition("/")[2],
            )
        return self._masks[text]

    def _hits(self, scored: Sequence[Scored], analysis: QueryAnalysis) -> tuple[Hit, ...]:
        chunks = [item.chunk for item in scored]
        holders = self.index.holders(sorted(analysis.terms), chunks)
        return tuple(
            Hit(rank, item.score, self.index.chunk(item.chunk), item.stages, found)
            for rank, (item, found) in enumerate(zip(scored, holders, strict=True), start=1)
        )

    def _plan(
        self, query: str, analysis: QueryAnalysis, added: Mapping[str, float], filter_text: str
    ) -> dict[str, Any]:
        """What was made of the query, for ``--explain``."""
        plan: dict[str, Any] = {
            "terms": {term: round(weight, 3) for term, weight in analysis.terms.items()},
            "added": {term: round(weight, 3) for term, weight in added.items()},
            "corrections": dict(analysis.corrections),
            "ignored": list(analysis.ignored),
        }
        plan |= {"names": list(analysis.identifiers), "quoted": list(analysis.phrases)}
        plan |= {"files": list(analysis.paths), "options": list(analysis.flags)}
        if self.options.does_decompose:
            plan["parts"] = list(self._parts(query))
        if filter_text:
            plan["filter"] = filter_text
        return plan

    def _notice(
        self, query: str, analysis: QueryAnalysis, hits: Sequence[Hit], mask: Mask | None
    ) -> str:
        if hits:
            pairs = [f"{meant!r} for {typed!r}" for typed, meant in analysis.corrections.items()]
            return f"nobody wrote that word: also looked for {', '.join(pairs)}" if pairs else ""
        if not query.strip():
            return "the query is empty: there is nothing to look for"
        if not self.index.chunk_count:
            return "the index is empty: no file in it held text"
        if not analysis.terms:
            return "the query holds no word that could tell one file from another"
        if mask is not None and not mask.any():
            return "no file meets the filter"
        where = " where the filter allows" if mask is not None else " in the index"
        return "no evidence: none of the query's words occurs" + where
