"""Tokens as servers count them, and what is known where they do not."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from fake_chat import FakeChat
from ragmachine.errors import ModelError
from ragmachine.generation.usage_of import FirstPiece, usage_of
from ragmachine.llm.chat import Message, Reply
from ragmachine.llm.collector import ReplyCollector
from ragmachine.llm.completions import complete, request_body

ASKED = [Message("system", "Be short."), Message("user", "Why so?")]


def reply_of(usage: Any, *, is_streamed: bool) -> Reply:
    """The reply of a server that sends this as its usage."""
    if is_streamed:
        deltas = [{"choices": [{"delta": {"content": "Yes."}, "finish_reason": "stop"}]}]
        events = [*deltas, {"choices": [], "usage": usage}]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    else:
        choice = {"message": {"content": "Yes."}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": usage})
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text=body))
    collector = ReplyCollector("m", None)
    sent = request_body(
        "m", ASKED, max_tokens=9, temperature=0.0, schema=None, is_streamed=is_streamed
    )
    with httpx.Client(transport=transport, base_url="http://x/v1/") as client:
        complete(client, sent, collector)
    return collector.finish(is_truncated=False, is_prose=True)


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 2}, (7, 2)),
        ({"prompt_tokens": "7"}, (0, 0)),
        ({}, (0, 0)),
        (None, (0, 0)),
        (5, (0, 0)),
    ],
    ids=repr,
)
def test_counts_of_a_server(usage: Any, counts: tuple[int, int], is_streamed: bool) -> None:
    """Taken where they are numbers; anything else costs no answer."""
    reply = reply_of(usage, is_streamed=is_streamed)
    assert reply.text == "Yes."
    assert (reply.prompt_tokens, reply.answer_tokens) == counts


def test_a_stream_is_asked_for_its_counts() -> None:
    """Servers leave them out of streams otherwise; a whole answer has them anyway."""
    options = {"max_tokens": 9, "temperature": 0.0, "schema": None}
    streamed = request_body("m", ASKED, is_streamed=True, **options)
    assert streamed["stream_options"] == {"include_usage": True}
    assert "stream_options" not in request_body("m", ASKED, is_streamed=False, **options)


def test_usage_is_estimated_where_the_server_does_not_count() -> None:
    """By the client, over all messages and the answer."""
    usage = usage_of(FakeChat(""), ASKED, Reply("x" * 40, False, "m"), None)
    assert (usage.prompt_tokens, usage.answer_tokens) == (2 + 1, 10)
    assert usage.is_estimated
    counted = usage_of(
        FakeChat(""), ASKED, Reply("x", False, "m", prompt_tokens=5, answer_tokens=1), None
    )
    assert (counted.prompt_tokens, counted.answer_tokens, counted.is_estimated) == (5, 1, False)


def test_a_client_that_cannot_count_costs_no_answer() -> None:
    """Its tokens are unknown then."""

    class Silent(FakeChat):
        def count_tokens(self, text: str) -> int:
            raise ModelError("gone")

    usage = usage_of(Silent(""), ASKED, Reply("x", False, "m"), None)
    assert (usage.prompt_tokens, usage.answer_tokens) == (0, 0)


def test_the_first_piece_has_a_time() -> None:
    """The first one only, and all are passed on."""
    heard: list[str] = []
    first = FirstPiece(heard.append)
    assert first.after_ms is None
    first("a")
    after_ms = first.after_ms
    first("b")
    assert heard == ["a", "b"]
    assert after_ms is not None
    assert first.after_ms == after_ms >= 0
