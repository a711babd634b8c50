"""How settings become whoever writes answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ragmachine.settings import Settings
from ragmachine.wiring.searching import DENSE

if TYPE_CHECKING:
    from ragmachine.generation.answerer import Answerer
    from ragmachine.llm.chat import ChatClient
    from ragmachine.models import Grounds, SearchResult
    from ragmachine.retrieval.searcher import Searcher


def make_answerer(
    settings: Settings, client: ChatClient | None, searcher: Callable[[], Searcher]
) -> Answerer:
    """Writes answers with the model, or without one.

    Args:
        settings: how long, how strict, and from which grounds on.
        client: the model; None for none.
        searcher: what answers now; tells what words are worth, and what grounds a search gives.
    """
    from ragmachine.generation.answerer import Answerer
    from ragmachine.index.tokens import Tokenizer
    from ragmachine.retrieval.assess import inverse_frequencies
    from ragmachine.retrieval.grounds import grounds_of

    def assess(result: SearchResult) -> Grounds:
        now = searcher()
        has_vectors = result.strategy in (DENSE, "hybrid")
        return grounds_of(
            result.query, result.hits, now.reader, now.index, is_by_meaning=has_vectors
        )

    tokenizer = Tokenizer()
    return Answerer(
        client,
        context_chars=settings.context_chars,
        max_tokens=settings.max_new_tokens,
        terms=tokenizer.terms,
        asked=tokenizer.query_terms,
        weigh=lambda terms: inverse_frequencies(searcher().index, terms),
        assess=assess,
        refuse_below=settings.refuse_below,
        is_strict=settings.strict,
    )
