"""How settings become a searcher: the retriever, the stages and what they weigh."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragmachine.errors import UsageError
from ragmachine.settings import Settings
from ragmachine.wiring import chat_models

if TYPE_CHECKING:
    from ragmachine.index.reader import Index
    from ragmachine.index.store import IndexStore
    from ragmachine.retrieval.expand import SynonymExpander
    from ragmachine.retrieval.lexical import LexicalWeights
    from ragmachine.retrieval.options import SearchOptions
    from ragmachine.retrieval.ranking import Retriever, Stage
    from ragmachine.retrieval.reading import QuestionReader
    from ragmachine.retrieval.rerank import Reranker
    from ragmachine.retrieval.searcher import Searcher

LEXICAL, DENSE = "lexical", "dense"


def open_searcher(
    store: IndexStore,
    settings: Settings,
    *,
    use_cache: bool,
    ask_synonyms: Callable[[str], Sequence[str]],
) -> Searcher:
    """A searcher over the current generation.

    Args:
        store: the index folder.
        settings: which stages run, and how.
        use_cache: whether results may come from, and go to, the query cache.
        ask_synonyms: gives a query's synonyms, where the settings want a model's.
    Raises: IndexMissingError, IndexCorruptError, IndexVersionError, UsageError.
    """
    from ragmachine.index.provenance import code_digest
    from ragmachine.index.reader import open_index
    from ragmachine.retrieval.cache import QueryCache
    from ragmachine.retrieval.lexical import LexicalRetriever
    from ragmachine.retrieval.reading import QuestionReader
    from ragmachine.retrieval.searcher import Searcher

    index = open_index(store)
    options = search_options(settings)
    reader = QuestionReader(index, options, ask_synonyms)
    lexical = LexicalRetriever(index, lexical_weights(settings))
    retriever: Retriever = lexical
    strategy, notice = LEXICAL, ""
    if settings.strategy != LEXICAL:
        from ragmachine.wiring.dense import with_vectors

        retriever, strategy, notice = with_vectors(store, settings, index, lexical)
    if options.expand == "prf":
        from ragmachine.retrieval.feedback import Feedback, FeedbackRetriever

        retriever = FeedbackRetriever(retriever, Feedback(index, weight=options.expand_weight))
    entries = settings.cache_entries if use_cache else 0
    return Searcher(
        index,
        reader,
        retriever,
        _stages(index, reader, retriever, options, settings),
        QueryCache(store.path("query_cache.json"), index.generation, entries),
        strategy=strategy,
        # another release may rank otherwise
        decided_by=[options, _reranking(settings), code_digest(["retrieval"]) if entries else ""],
        reads_text=strategy != LEXICAL or settings.rerank != "none",
        notice=notice,
    )


def in_parts(
    searcher: Searcher, settings: Settings, ask_synonyms: Callable[[str], Sequence[str]]
) -> Searcher:
    """The same searcher, index, cache and all, for questions of several parts.

    Args:
        searcher: what `open_searcher` gave for the same settings.
        settings: whatever they say about parts.
        ask_synonyms: as for `open_searcher`.
    """
    from ragmachine.retrieval.reading import QuestionReader

    options = replace(search_options(settings), does_decompose=True)
    twin = copy(searcher)
    twin.reader = QuestionReader(searcher.index, options, ask_synonyms)
    return twin


def _stages(
    index: Index,
    reader: QuestionReader,
    retriever: Retriever,
    options: SearchOptions,
    settings: Settings,
) -> list[Stage]:
    """What is done to the first ranking, in order; what is switched off is not even imported."""
    from ragmachine.retrieval.parts import PartsStage
    from ragmachine.retrieval.variety import VarietyStage

    # it does nothing for a question that the reader leaves whole; see `in_parts`
    stages: list[Stage] = [PartsStage(retriever, reader.read_part)]
    if options.retry_coverage > 0:
        from ragmachine.retrieval.rounds import RetryStage

        threshold, does_correct = options.retry_coverage, options.analysis.does_correct
        stages.append(RetryStage(index, retriever, threshold, does_correct=does_correct))
    if settings.rerank != "none":
        from ragmachine.retrieval.rerank import RerankStage

        stages.append(
            RerankStage(
                index,
                make_reranker(settings),
                top=settings.rerank_top,
                budget_ms=_budget_ms(settings),
                weight=settings.rerank_weight,
            )
        )
    stages.append(
        VarietyStage(index, options.is_distinct, options.near_duplicates, options.variety)
    )
    return stages


def lexical_weights(settings: Settings) -> LexicalWeights:
    """The settings that weigh lexical signals."""
    from ragmachine.retrieval.lexical import LexicalWeights

    return LexicalWeights(
        file=settings.file_weight,
        passage=settings.passage_weight,
        name=settings.name_weight,
        has_priors=settings.priors,
        support=settings.support_factor,
        documentation=settings.documentation_factor,
        symbol=settings.symbol_factor,
        candidates=settings.candidates,
    )


def search_options(settings: Settings) -> SearchOptions:
    """The settings that switch the stages of a search, and the user's own synonyms.

    Raises: UsageError: the synonyms file cannot be read.
    """
    from ragmachine.retrieval.options import SearchOptions
    from ragmachine.retrieval.query import AnalysisOptions

    synonyms: dict[str, tuple[str, ...]] = {}
    if settings.synonyms_file:
        from ragmachine.retrieval.synonyms import read_synonyms

        synonyms = read_synonyms(settings.synonyms_file, settings.project_root)
    return SearchOptions(
        analysis=AnalysisOptions(
            settings.part_weight, settings.common_share, does_correct=settings.correct
        ),
        expand=settings.expand,
        expand_weight=settings.expand_weight,
        does_narrow=settings.narrow,
        does_compare=settings.compare,
        does_decompose=settings.decompose,
        retry_coverage=settings.retry_coverage,
        is_distinct=settings.distinct,
        near_duplicates=settings.near_duplicates,
        variety=settings.variety,
        synonyms=synonyms,
        reranked=settings.rerank_top if settings.rerank != "none" else 0,
    )


def _reranking(settings: Settings) -> list[object]:
    """What decides a reranking; nothing where there is none."""
    if settings.rerank == "none":
        return []
    asked = (settings.llm, settings.model, settings.gguf)
    judge = settings.rerank_model if settings.rerank == "cross" else asked
    return [settings.rerank, judge, _budget_ms(settings), settings.rerank_weight]


def _budget_ms(settings: Settings) -> int:
    from ragmachine.retrieval.rerank import DEFAULT_BUDGETS_MS

    return settings.rerank_budget_ms or DEFAULT_BUDGETS_MS[settings.rerank]


def make_reranker(settings: Settings) -> Reranker:
    """The judge of the best hits that the settings name.

    Raises: UsageError: a cross-encoder is wanted and none is named.
    """
    from ragmachine.retrieval.rerank import CrossEncoderReranker

    if settings.rerank == "llm":
        from ragmachine.retrieval.listwise import ListwiseReranker

        return ListwiseReranker(chat_models.make_chain(settings))
    if not settings.rerank_model:
        raise UsageError(
            "no cross-encoder is named",
            remedy="name a folder with model.onnx and tokenizer.json: --rerank_model FOLDER",
        )
    from ragmachine.encoders import OnnxCrossEncoder

    folder = os.path.join(settings.project_root, os.path.expanduser(settings.rerank_model))
    return CrossEncoderReranker(OnnxCrossEncoder.from_folder(folder))


def make_expander(
    settings: Settings, store: IndexStore, ask: Callable[[str], str]
) -> SynonymExpander:
    """Asks a model for synonyms, and remembers them beside the index."""
    from ragmachine.retrieval.expand import SynonymExpander

    return SynonymExpander(
        ask, cache_path=Path(store.path("expansions.json")), model=settings.model
    )
