"""Server-sent events and the header that asks for patience."""

from __future__ import annotations

import time
from email.utils import formatdate
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.llm.completions import RefusedError, event_data, retry_after_s

STREAM = ': ping\n\ndata: {"a": "x\u2028y\x85z"}\r\n\r\nevent: x\ndata:one\ndata: two\n\nid: 4\n\n'
EVENTS = ['{"a": "x\u2028y\x85z"}', "one\ntwo"]


@given(st.lists(st.integers(0, len(STREAM.encode())), max_size=6))
def test_events_are_the_same_however_they_are_cut(cuts):
    """Comments and other fields are left out; a line ends with LF or CRLF and nothing else."""
    data = STREAM.encode()
    bounds = [0, *sorted(cuts), len(data)]
    blocks = [data[start:end] for start, end in pairwise(bounds)]
    assert list(event_data(blocks)) == EVENTS


def test_an_event_without_its_end_is_none():
    """The connection ended in it."""
    assert list(event_data([b"data: one\n\ndata: tw"])) == ["one"]


def test_patience_in_seconds():
    """A number, never below zero; what is neither number nor date is nothing."""
    assert retry_after_s({"retry-after": " 2.5"}) == 2.5
    assert retry_after_s({"retry-after": "-1"}) == 0
    assert retry_after_s({"retry-after": "soon"}) is None
    assert retry_after_s({}) is None


def test_patience_until_a_date():
    """As HTTP writes dates."""
    wait_s = retry_after_s({"retry-after": formatdate(time.time() + 30, usegmt=True)})
    assert 25 < wait_s <= 30


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param({"error": {"message": "no\n such"}}, "no such", id="OpenAI"),
        pytest.param({"error": "no such"}, "no such", id="LM Studio"),
        pytest.param({"object": "error", "message": "no such"}, "no such", id="vLLM"),
        pytest.param({"detail": "no such"}, "no such", id="FastAPI"),
        pytest.param("", "", id="no JSON"),
        pytest.param([1], "[1]", id="a list"),
        pytest.param({"error": {"code": 1}}, "", id="no words"),
    ],
)
def test_words_of_a_refusal(body, words):
    """Every server has its own place for them."""
    assert RefusedError(400, body).words == words


@pytest.mark.parametrize(
    ("status", "body", "is_too_long"),
    [
        pytest.param(
            400, {"error": {"type": "exceed_context_size_error", "message": "x"}}, True, id="llama"
        ),
        pytest.param(
            400, {"error": {"code": "context_length_exceeded", "message": "x"}}, True, id="OpenAI"
        ),
        pytest.param(
            400, {"message": "This model's maximum context length is 9 tokens"}, True, id="vLLM"
        ),
        pytest.param(500, {"message": "context size?"}, False, id="the server's own fault"),
        pytest.param(400, {"message": "bad schema"}, False, id="something else"),
    ],
)
def test_which_refusals_are_about_length(status, body, is_too_long):
    """By code, type or words."""
    assert RefusedError(status, body).is_too_long is is_too_long
