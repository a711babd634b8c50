"""Answers that are given again: what decides one beside the question, and where it is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ragmachine.errors import IndexCorruptError, ModelError
from ragmachine.models import Answer, Citation, SearchResult
from ragmachine.settings import Settings

if TYPE_CHECKING:
    from ragmachine.encoders import EmbeddingCache, Vectors
    from ragmachine.generation.answer_rows import Read
    from ragmachine.generation.answerer import Answerer
    from ragmachine.index.store import IndexStore
    from ragmachine.retrieval.searcher import Searcher

# Where things lie, how long one waits and at what speed; what the index tells itself; what is
# told beside the settings: k, and what the synonyms file says.
_WITHOUT_EFFECT = frozenset(
    """
    project_root index_dir target_dir max_file_bytes workers cache_entries encoder_threads
    llm_timeout_s llm_threads keep_alive ollama_host answer_cache answer_cache_threshold
    max_chunk_size overlap chunker context table_rows bm25 k1 b
    k synonyms_file
    host port no_token allowed_hosts cors_origins ingest_roots upload_dir max_body_bytes
    max_upload_bytes request_timeout_s answer_timeout_s rate_limit answers_at_once answers_waiting
    collections_open
    """.split()
)


class Pipeline(Protocol):
    """What is needed of a `RagPipeline`, which itself calls this module."""

    settings: Settings

    @property
    def store(self) -> IndexStore:
        """The index folder."""

    def search(self, query: str, k: int | None = None, *, filter: str = "") -> SearchResult:
        """The k best chunks for a query."""

    def answer_from(
        self, result: SearchResult, *, on_token: Callable[[str], None] | None = None
    ) -> Answer:
        """An answer from hits at hand."""

    def opened_searcher(self) -> Searcher:
        """What answers now."""


class AnswerMemory:
    """A pipeline's earlier answers, given again where nothing that decides them has changed.

    A question in other words is recognised where the settings' encoder can be had; without it
    only the same question is.

    Args:
        pipeline: searches, and answers what was not asked before.
        answerer: checks the sentences of an earlier answer again.
    """

    def __init__(self, pipeline: Pipeline, answerer: Callable[[], Answerer]) -> None:
        from ragmachine.generation.answer_cache import AnswerCache
        from ragmachine.wiring.chat_models import make_client

        settings = pipeline.settings
        client = make_client(settings)
        self._model = client.name if client else ""  # the environment may name another
        self._pipeline = pipeline
        self._answerer = answerer
        self._cache = AnswerCache(
            pipeline.store.path("answer_cache.json"),
            entries=settings.cache_entries,
            threshold=settings.answer_cache_threshold,
        )
        self._encoder: EmbeddingCache | None = None

    def answer(
        self, query: str, k: int, filter_text: str, on_token: Callable[[str], None] | None
    ) -> Answer:
        """An answer given earlier, or one made now and kept.

        Kept are a model's own answers to searches without a notice: what stood in for an absent
        model, or came from a search that lacked something, is made anew.

        Args:
            query: as for `RagPipeline.answer`.
            k: passages to retrieve, checked.
            filter_text: as for `RagPipeline.answer`.
            on_token: is given an earlier answer as one piece.
        Raises: as `RagPipeline.answer`.
        """
        pipeline = self._pipeline
        searcher = pipeline.opened_searcher()
        result = pipeline.search(query, k, filter=filter_text)
        if pipeline.opened_searcher() is not searcher:  # replaced: of which one are the hits?
            return pipeline.answer_from(result, on_token=on_token)
        encoder, name = self._named_encoder()
        scope = self._scope(searcher, name, k, filter_text)
        read = self._reader(searcher)
        known = self._cache.get(query, None, scope)
        vector = None if known else _vector(encoder, query)
        known = known or self._cache.get(query, vector, scope)
        if known and known.is_current(read):
            answer = self._answerer().verified(known.answer(result), read)
            if on_token:
                on_token(answer.text)
            return answer
        answer = pipeline.answer_from(result, on_token=on_token)
        is_whole = not answer.notice and not result.notice
        if is_whole and answer.mode not in ("extractive", "none"):
            self._cache.put(query, vector, scope, answer, read)
        return answer

    def flush(self) -> None:
        """Write what was kept or given again."""
        self._cache.flush()

    def _scope(self, searcher: Searcher, encoder: str, k: int, filter_text: str) -> str:
        """Everything that decides an answer beside the question."""
        from ragmachine.index.provenance import code_digest
        from ragmachine.wiring.searching import search_options

        settings, manifest = self._pipeline.settings, searcher.index.manifest
        chosen = [
            (field.name, getattr(settings, field.name))
            for field in dataclasses.fields(settings)
            if field.name not in _WITHOUT_EFFECT
        ]
        indexed = (searcher.index.content_id, manifest["versions"], manifest["summaries"])
        code = code_digest(["generation", "llm", "retrieval"])
        synonyms = search_options(settings).synonyms
        ranked_by = searcher.retriever.decided_by
        made_by = (code, encoder, self._model, chosen, synonyms, ranked_by)
        return repr((indexed, made_by, k, filter_text.strip()))

    def _reader(self, searcher: Searcher) -> Read:
        """Reads what a citation points to, in the index that was searched."""
        project_root = self._pipeline.settings.project_root

        def read(citation: Citation) -> str | None:
            place = (citation.file_path, citation.start, citation.end)
            found = searcher.index.span(*place, project_root=project_root)
            return found.text if found else None

        return read

    def _named_encoder(self) -> tuple[EmbeddingCache | None, str]:
        """The encoder of the settings and its name; none where it cannot be had."""
        from ragmachine.encoders import EmbeddingCache
        from ragmachine.wiring.dense import make_encoder

        try:
            if self._encoder is None:
                made = make_encoder(self._pipeline.settings, self._pipeline.store)
                self._encoder = EmbeddingCache(made)
            return self._encoder, self._encoder.name
        except (ModelError, IndexCorruptError):
            return None, ""


def _vector(encoder: EmbeddingCache | None, query: str) -> Vectors | None:
    """The question's vector; none where the encoder is missing or fails."""
    try:
        return encoder.encode_query(query) if encoder else None
    except ModelError:
        return None
