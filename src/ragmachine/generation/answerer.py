"""Answers a question from its search result: by a model when there is one, else by quotation.

Called by the pipeline; evaluation and the front ends see only its `Answer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from ragmachine.errors import ModelError
from ragmachine.llm.chat import ChatClient, ModelUnavailableError
from ragmachine.models import Answer, SearchResult

from .citations import cite, read_citations
from .extractive import extract_answer
from .prompts import build_messages
from .stitch import ContextStitcher
from .words import content_words, split_terms

_QUOTED_CHARS = 24_000  # ten chunks of the largest size and their headers
_MOST_WORDS_SHOWN = 20


class Answerer:
    """Turns search results into answers; safe to share between threads.

    Args:
        client: the model, or None to answer by quotation only.
        context_chars: most characters of passages that the model reads.
        max_tokens: longest answer of the model.
        terms: tokenizer for quotation; a simple one when None.
        asked: tokenizer for the question; `terms` when None.
        absence: notice for answers without a client, such as "no model is configured".
        retry_after_s: how long a model that could not be reached is left alone, so that a thousand
            questions do not wait for it a thousand times, and a long-lived server finds it again.
    """

    def __init__(
        self,
        client: ChatClient | None,
        *,
        context_chars: int,
        max_tokens: int,
        terms: Callable[[str], list[str]] | None = None,
        asked: Callable[[str], list[str]] | None = None,
        absence: str = "",
        retry_after_s: float = 60.0,
    ) -> None:
        self._client = client
        self._stitcher = ContextStitcher(context_chars)
        self._max_tokens = max_tokens
        self._terms = terms or split_terms
        self._asked = asked or self._terms
        self._absence = absence
        self._retry_after_s = retry_after_s
        self._unavailable: tuple[float, str] | None = None  # until when, and the notice

    def answer(
        self, result: SearchResult, *, on_token: Callable[[str], None] | None = None
    ) -> Answer:
        """Answer the result's query; never raises for what a model does.

        Args:
            result: hits, best first.
            on_token: receives the model's words as they arrive. It is not called for refusals and
                quotations, and the final text may differ from what it got: numbers that name no
                passage are dropped, and so is a sentence cut in the middle.
        """
        started = time.perf_counter()
        if not result.hits:
            answer = Answer(_refusal(result), "none", result)
        else:
            answer = self._by_model(result, on_token)
        return replace(answer, answer_time_ms=(time.perf_counter() - started) * 1000)

    def _by_model(self, result: SearchResult, on_token: Callable[[str], None] | None) -> Answer:
        """The model's answer, or quotation with the reason as its notice."""
        if self._client is None:
            return self._by_quotation(result, self._absence)
        if self._unavailable and time.monotonic() < self._unavailable[0]:
            return self._by_quotation(result, self._unavailable[1])
        context = self._stitcher.stitch(result.hits)
        if not context.passages:
            return self._by_quotation(result, "no passage fits into the context; allow it more")
        try:
            reply = self._client.chat(
                build_messages(result.query, context),
                max_tokens=self._max_tokens,
                on_token=on_token,
            )
        except ModelError as error:
            notice = " ".join(str(error).split())
            if isinstance(error, ModelUnavailableError):
                self._unavailable = (time.monotonic() + self._retry_after_s, notice)
            return self._by_quotation(result, notice)
        numbers = [passage.number for passage in context.passages]
        text, cited = read_citations(reply.text, numbers)
        if not text:
            return self._by_quotation(result, f"the model {reply.model} answered nothing usable")
        notice = f"the answer was cut at {self._max_tokens} tokens" if reply.is_truncated else ""
        return Answer(text, reply.model, result, cite(context.passages, cited), notice)

    def _by_quotation(self, result: SearchResult, notice: str) -> Answer:
        passages = ContextStitcher(_QUOTED_CHARS).stitch(result.hits).passages
        answer = extract_answer(result.query, passages, terms=self._terms, asked=self._asked)
        if not answer.text:
            return Answer(_nothing_quotable(result), "none", result, notice=notice)
        return Answer(
            answer.text, "extractive", result, cite(passages, answer.cited), notice=notice
        )


def _refusal(result: SearchResult) -> str:
    """What was searched for and where, so that a reader can tell a typo from an absence."""
    words = content_words(result.query)[:_MOST_WORDS_SHOWN]
    searched = (
        f"Searched {result.total_chunks:,} chunks for: {', '.join(words)}."
        if words
        else f"It holds no word to search {result.total_chunks:,} chunks for."
    )
    return f"I don't know: nothing in the index bears on this question.\n{searched}"


def _nothing_quotable(result: SearchResult) -> str:
    count = len(result.hits)
    passages = "the passage found" if count == 1 else f"the {count} passages found"
    return f"I don't know: no line of {passages} shares a word with the question."
