"""One opened index and what answers queries over it; the pipeline makes one per generation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragmachine.models import Hit, SearchResult
from ragmachine.retrieval.explain import notice_of, plan_of
from ragmachine.retrieval.ranking import Mask, Question, Retriever, Scored, Stage
from ragmachine.retrieval.reading import QuestionReader

if TYPE_CHECKING:
    from ragmachine.index.reader import Index
    from ragmachine.retrieval.cache import QueryCache

_KEPT_MASKS = 64


class Searcher:
    """Query to result: reading, a first ranking, one stage after another, hits with their text.

    Args:
        index: the opened generation.
        reader: takes queries apart.
        retriever: gives the first ranking.
        stages: what is done to it, in order; the last leaves at most k hits.
        cache: results of earlier queries over the index.
        strategy: what the retriever is called in results.
        decided_by: what else decides results, JSON-ready: options, the program's release.
        reads_text: whether anything but the query's terms decides them.
        notice: what the user is told with each result.
    """

    def __init__(
        self,
        index: Index,
        reader: QuestionReader,
        retriever: Retriever,
        stages: Sequence[Stage],
        cache: QueryCache,
        *,
        strategy: str,
        decided_by: Sequence[object],
        reads_text: bool = False,
        notice: str = "",
    ) -> None:
        self.index = index
        self.cache = cache
        self.reader = reader
        self.retriever = retriever
        self._stages = stages
        self._strategy = strategy
        self._decided_by = [strategy, retriever.decided_by, *decided_by]
        self._reads_text = reads_text
        self._notice = notice
        self._masks: dict[str, Mask] = {}

    def search(
        self, query: str, k: int, filter_text: str = "", *, is_explained: bool = False
    ) -> SearchResult:
        """The k best chunks; none with a score of 0, and a notice on why when there is none.

        Args:
            query: any text.
            k: at least 1.
            filter_text: conditions as `filters.parse_filter` reads them; "" for none.
            is_explained: say in the result what was made of the query. The stages then run, even
                where the cache knows the hits.
        Raises: UsageError: the filter cannot be read, or no record has a column that it names.
        """
        started = time.perf_counter()
        question = self.reader.read(query, k, self._mask(filter_text))
        stage_ms = {"plan": (time.perf_counter() - started) * 1000}
        has_terms = bool(question.analysis.terms or (self._reads_text and query.strip()))
        key = self._key(question, filter_text)
        cached = self.cache.get(key) if has_terms and not is_explained else None
        scored = cached or []
        if cached is None and has_terms:
            scored = self._ranked(question, stage_ms)
            if not question.notices:
                self.cache.put(key, scored)
        hits = self._hits(scored, question)
        told = notice_of(question, len(hits), self.index.chunk_count)
        search_time_ms = (time.perf_counter() - started) * 1000
        stage_ms["search"] = search_time_ms - sum(stage_ms.values())
        return SearchResult(
            query=query,
            strategy=self._strategy,
            hits=hits,
            total_chunks=self.index.chunk_count,
            search_time_ms=search_time_ms,
            notice="; ".join(filter(None, [self._notice, *question.notices, told])),
            is_cached=cached is not None,
            plan=plan_of(question, filter_text) if is_explained else {},
            stage_ms=stage_ms,
            parts=() if question.is_comparison else tuple(question.parts),
        )

    def _key(self, question: Question, filter_text: str) -> str:
        return self.cache.key(
            self._decided_by, question.k, list(question.terms.items()), question.analysis.evidence,
            sorted(question.names), question.parts, question.narrowing, filter_text,
            question.analysis.text if self._reads_text else "",
        )  # fmt: skip

    def _ranked(self, question: Question, stage_ms: dict[str, float]) -> list[Scored]:
        ranked = self.retriever.search(question, question.pool)
        for stage in self._stages:
            started = time.perf_counter()
            ranked = stage.apply(question, ranked)
            if timed_as := getattr(stage, "timed_as", ""):
                stage_ms[timed_as] = (time.perf_counter() - started) * 1000
        return ranked

    def _mask(self, filter_text: str) -> Mask | None:
        """Which chunks a filter lets through; None where it lets all. Kept for the next query."""
        text = filter_text.strip()
        if not text:
            return None
        mask = self._masks.get(text)
        if mask is None:
            from ragmachine.retrieval.filters import chunk_mask, parse_filter

            index = self.index
            mask = chunk_mask(
                parse_filter(text),
                files=index.files,
                file_types=index.file_types,
                labels=index.labels,
                file_of_chunk=index.file_of_chunk,
                sources=index.sources,
                row_facts=index.row_facts,
            )
            if len(self._masks) >= _KEPT_MASKS:
                self._masks.clear()  # whoever asks with ever new filters fills no memory
            self._masks[text] = mask
        return mask

    def _hits(self, scored: Sequence[Scored], question: Question) -> tuple[Hit, ...]:
        chunks = [item.chunk for item in scored]
        holders = self.index.holders(sorted(question.analysis.terms), chunks)
        return tuple(
            Hit(rank, item.score, self.index.chunk(item.chunk), item.stages, found)
            for rank, (item, found) in enumerate(zip(scored, holders, strict=True), start=1)
        )
