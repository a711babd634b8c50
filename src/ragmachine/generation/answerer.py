"""Answers a question from its search result: by a model when there is one, else by quotation.

Called by the pipeline; evaluation and the front ends see only its `Answer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ragmachine.errors import ModelError
from ragmachine.llm.chat import ChatClient, ModelUnavailableError, PromptTooLongError, Reply
from ragmachine.models import Answer, Chunk, Citation, Grounds, Hit, SearchResult

from .citations import cite, numbers_in, read_citations
from .extractive import extract_answers
from .prompts import build_messages
from .refusals import (
    MODEL_KNOWS_NOTHING,
    NOTHING_FOUND,
    NOTHING_SUPPORTED,
    TOO_LITTLE_FOUND,
    is_refusal,
    no_line,
    nowhere,
    refuse,
)
from .stitch import Context, ContextStitcher, Passage
from .usage_of import FirstPiece, usage_of
from .verify import Verifier, without_unsupported
from .words import split_terms

_QUOTED_CHARS = 24_000  # ten chunks of the largest size and their headers
_SAFETY = 1.1  # tokens are not spread evenly over the passages


class Answerer:
    """Turns search results into answers; safe to share between threads.

    Args:
        client: the model, or None to answer by quotation only.
        context_chars: most characters of passages that the model reads.
        max_tokens: longest answer of the model.
        terms: tokenizer for quotation and verification; a simple one when None.
        asked: tokenizer for the question; `terms` when None.
        weigh: what each term says, for verification; all the same when None.
        assess: what a search gave to answer from; nobody looks when None.
        refuse_below: grounds weaker than this, 0 to 1, are no answer, and neither is one of which
            no sentence is supported and none reaches this score.
        is_strict: whether sentences that the passages do not support are left out.
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
        weigh: Callable[[Sequence[str]], Sequence[float]] | None = None,
        assess: Callable[[SearchResult], Grounds] | None = None,
        refuse_below: float = 0.0,
        is_strict: bool = False,
        absence: str = "",
        retry_after_s: float = 60.0,
    ) -> None:
        self._client = client
        self._context_chars = context_chars
        self._max_tokens = max_tokens
        self._terms = terms or split_terms
        self._asked = asked or self._terms
        self._verifier = Verifier(terms=self._terms, weigh=weigh)
        self._assess = assess
        self._refuse_below = refuse_below
        self._is_strict = is_strict
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
                passage are dropped, and so are a sentence cut in the middle and what is not
                supported where that is to be left out.
        """
        started = time.perf_counter()
        grounds = self._assess(result) if self._assess and result.hits else None
        if not result.hits:
            answer = refuse(result, NOTHING_FOUND)
        elif grounds and grounds.strength < self._refuse_below:
            answer = _without_grounds(result, grounds)
        else:
            answer = self._by_model(result, on_token)
        elapsed_ms = (time.perf_counter() - started) * 1000
        return replace(answer, grounds=grounds, answer_time_ms=elapsed_ms)

    def verified(self, answer: Answer, read: Callable[[Citation], str | None]) -> Answer:
        """An answer given earlier with its sentences checked again.

        What cites nothing is looked up in the cited passages and in the hits of the answer's
        search, since nobody remembers what else its author was shown.

        Args:
            answer: its text, citations and result are read.
            read: gives a citation's text; None where it is gone.
        """
        labels = {
            (hit.chunk.file_path, hit.chunk.start): hit.chunk.label for hit in answer.result.hits
        }
        passages = []
        for citation in answer.citations:
            place = (citation.file_path, citation.start)
            if text := read(citation):
                passages.append(_passage(citation, text, labels.get(place, "")))
        last = max((citation.number for citation in answer.citations), default=0)
        others = ContextStitcher(self._context_chars).stitch(answer.result.hits).passages
        passages += [replace(other, number=last + other.number) for other in others]
        grounds = self._assess(answer.result) if self._assess else None
        sentences = self._verifier.verify(answer.text, passages)
        return replace(answer, sentences=sentences, grounds=grounds)

    def _by_model(self, result: SearchResult, on_token: Callable[[str], None] | None) -> Answer:
        """The model's answer, or quotation with the reason as its notice."""
        if self._client is None:
            return self._by_quotation(result, self._absence)
        if self._unavailable and time.monotonic() < self._unavailable[0]:
            return self._by_quotation(result, self._unavailable[1])
        context = ContextStitcher(self._context_chars).stitch(result.hits)
        if not context.passages:
            return self._by_quotation(result, "no passage fits into the context; allow it more")
        first = FirstPiece(on_token) if on_token else None
        try:
            reply, context = self._ask(self._client, result, context, first)
        except ModelError as error:
            notice = " ".join(str(error).split())
            if isinstance(error, ModelUnavailableError):
                self._unavailable = (time.monotonic() + self._retry_after_s, notice)
            return self._by_quotation(result, notice)
        usage = usage_of(self._client, build_messages(result.query, context), reply, first)
        answer = replace(self._checked(result, context, reply), usage=usage)
        return answer if answer.context else replace(answer, context=_shown(context.passages))

    def _ask(
        self,
        client: ChatClient,
        result: SearchResult,
        context: Context,
        on_token: Callable[[str], None] | None,
    ) -> tuple[Reply, Context]:
        """The reply and what it was made from: less, where the model cannot read it all."""
        try:
            messages = build_messages(result.query, context)
            reply = client.chat(messages, max_tokens=self._max_tokens, on_token=on_token)
        except PromptTooLongError as error:
            tokens = client.count_tokens(context.text)
            excess = error.excess_tokens or tokens / 2
            room = int(len(context.text) * (1 - _SAFETY * excess / max(tokens, 1)))
            context = ContextStitcher(max(room, 0)).stitch(result.hits)
            if not context.passages:
                raise
            messages = build_messages(result.query, context)
            reply = client.chat(messages, max_tokens=self._max_tokens, on_token=on_token)
        return reply, context

    def _checked(self, result: SearchResult, context: Context, reply: Reply) -> Answer:
        """The model's answer with each sentence checked, or what is to be said instead."""
        numbers = [passage.number for passage in context.passages]
        text, _ = read_citations(reply.text, numbers)
        if not text:
            return self._by_quotation(result, f"the model {reply.model} answered nothing usable")
        if is_refusal(text):
            return refuse(result, MODEL_KNOWS_NOTHING, notice=reply.notice)
        sentences = self._verifier.verify(text, context.passages)
        best = max((sentence.score for sentence in sentences), default=0.0)
        is_supported = any(sentence.is_supported for sentence in sentences)
        if not is_supported and (self._is_strict or best < self._refuse_below):
            return refuse(result, NOTHING_SUPPORTED, notice=reply.notice)
        notices = [reply.notice]
        if self._is_strict:
            count = len(sentences)
            text, sentences = without_unsupported(text, sentences)
            if len(sentences) < count:
                notices.append(
                    f"left out as unsupported: {count - len(sentences)} of {count} sentences"
                )
        if reply.is_truncated:
            notices.append(f"the answer was cut at {self._max_tokens} tokens")
        return Answer(
            text,
            reply.model,
            result,
            cite(context.passages, sorted(numbers_in(text, numbers))),
            notice="; ".join(filter(None, notices)),
            sentences=sentences,
        )

    def _by_quotation(self, result: SearchResult, notice: str) -> Answer:
        passages = ContextStitcher(_QUOTED_CHARS).stitch(result.hits).passages
        questions = result.parts or (result.query,)
        answer = extract_answers(questions, passages, terms=self._terms, asked=self._asked)
        if not answer.text:
            refusal = refuse(result, no_line(len(result.hits)), notice=notice)
            return replace(refusal, context=_shown(passages))
        return Answer(
            answer.text,
            "extractive",
            result,
            cite(passages, answer.cited),
            notice=notice,
            sentences=self._verifier.verify(answer.text, passages, is_quoted=True),
            context=_shown(passages),
        )


def _without_grounds(result: SearchResult, grounds: Grounds) -> Answer:
    reason = nowhere(grounds.missing) if grounds.missing else TOO_LITTLE_FOUND
    return refuse(result, reason, notice="to be answered all the same, add --refuse_below 0")


def _shown(passages: Sequence[Passage]) -> tuple[Hit, ...]:
    """The passages by number, with their text as their reader got it."""
    return tuple(passage.hit for passage in passages)


def _passage(citation: Citation, text: str, label: str) -> Passage:
    """A cited place as its author was shown it."""
    chunk = Chunk(
        -1, citation.file_path, citation.start, citation.end,
        citation.first_line, citation.last_line, text, "", label, citation.place,
    )  # fmt: skip
    return Passage(citation.number, Hit(citation.number, 1.0, chunk), text)
