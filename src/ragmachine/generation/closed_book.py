"""A model's answer without any passage: the baseline that retrieval has to beat."""

from __future__ import annotations

import time
from collections.abc import Callable

from ragmachine.llm.chat import ChatClient, Message
from ragmachine.llm.quoting import disarm
from ragmachine.models import Answer, SearchResult

from .citations import read_citations
from .refusals import is_refusal
from .usage_of import FirstPiece, usage_of

NOTICE = "from the model alone: nothing was searched, so nothing is cited or checked"
_RULES = """\
You answer questions about a software project.
Be short: at most four sentences. If you do not know, write only: I don't know.\
"""


def answer_alone(
    client: ChatClient,
    query: str,
    *,
    max_tokens: int,
    on_token: Callable[[str], None] | None = None,
) -> Answer:
    """The model's answer to a question from what it was trained on.

    Args:
        client: the model.
        query: the question.
        max_tokens: longest answer.
        on_token: receives the model's words as they arrive.
    Returns: an answer without hits, citations and sentences.
    Raises: ModelError, as `ChatClient.chat`: nothing stands in for the model here.
    """
    started = time.perf_counter()
    first = FirstPiece(on_token) if on_token else None
    messages = [Message("system", _RULES), Message("user", disarm(query.strip()))]
    reply = client.chat(messages, max_tokens=max_tokens, on_token=first)
    text = read_citations(reply.text, ())[0] or reply.text
    return Answer(
        text,
        "none" if is_refusal(text) else reply.model,
        SearchResult(query, "none", (), 0, 0.0),
        notice="; ".join(filter(None, [reply.notice, NOTICE])),
        answer_time_ms=(time.perf_counter() - started) * 1000,
        usage=usage_of(client, messages, reply, first),
    )
