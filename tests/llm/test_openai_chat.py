"""OpenAIChat against a loopback endpoint."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from ragmachine.errors import ModelError
from ragmachine.llm import Message, ModelUnavailableError, OpenAIChat

QUESTION = [Message("system", "Answer shortly."), Message("user", "What is six times seven?")]
KEY = "sk-secret-0123456789"
SCHEMA = {"type": "object", "properties": {"ranking": {"type": "array"}}}
each_way = pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])


def ask(is_streamed=False, chat=None, **options):
    """One question."""
    on_token = (lambda _: None) if is_streamed else None
    chat = chat or OpenAIChat("tiny")
    return chat.chat(QUESTION, **{"max_tokens": 50, "on_token": on_token, **options})


@each_way
def test_an_answer(endpoint, is_streamed):
    """Whole or in events, which are passed on as they come."""
    seen = []
    reply = ask(on_token=seen.append if is_streamed else None)
    assert (reply.text, reply.is_truncated, reply.model) == ("Forty-two [1].", False, "tiny")
    assert seen == (["Forty", "-two [1]."] if is_streamed else [])


def test_request_body(endpoint):
    """Everything that was asked for reaches the endpoint, at its usual path, with the key."""
    ask(schema=SCHEMA, temperature=0.5)
    assert endpoint.requests == [
        {
            "path": "/v1/chat/completions",
            "model": "tiny",
            "messages": [
                {"role": "system", "content": "Answer shortly."},
                {"role": "user", "content": "What is six times seven?"},
            ],
            "max_tokens": 50,
            "temperature": 0.5,
            "stream": False,
            "chat_template_kwargs": {"enable_thinking": False},
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": SCHEMA},
            },
        }
    ]
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent(endpoint, monkeypatch):
    """Servers of one's own want none."""
    monkeypatch.delenv("OPENAI_API_KEY")
    ask()
    assert "authorization" not in endpoint.headers[0]


@each_way
def test_thinking_is_neither_shown_nor_returned(endpoint, is_streamed):
    """Tags in fragments, as from a server that knows nothing of thinking."""
    endpoint.pieces = ["<th", "ink>six", " sevens</think>", "Forty", "-two"]
    assert ask(is_streamed).text == "Forty-two"


@each_way
def test_a_cut_answer(endpoint, is_streamed):
    """Ends with its last whole sentence; JSON is left as it is."""
    endpoint.pieces, endpoint.finish_reason = ["It is forty-two. It was com", "puted"], "length"
    reply = ask(is_streamed)
    assert (reply.text, reply.is_truncated) == ("It is forty-two.", True)
    assert ask(is_streamed, schema=SCHEMA).text == "It is forty-two. It was computed"


@each_way
def test_nothing_said(endpoint, is_streamed):
    """An empty answer is an error; so is one that was cut before it began."""
    endpoint.pieces = [" "]
    with pytest.raises(ModelError, match="empty answer"):
        ask(is_streamed)
    endpoint.finish_reason = "length"
    with pytest.raises(ModelError, match="stopped before it said anything"):
        ask(is_streamed)


@each_way
def test_a_dropped_connection_is_tried_once_more(endpoint, is_streamed):
    """One hang-up is mended; two are an error."""
    endpoint.drops = 1
    assert ask(is_streamed).text == "Forty-two [1]."
    endpoint.drops = 2
    with pytest.raises(ModelError, match="broke off"):
        ask(is_streamed)
    assert len(endpoint.requests) == 4


def test_a_broken_stream_that_was_seen_is_not_tried_again(endpoint):
    """What was shown cannot be taken back."""
    endpoint.mode = "broken"
    with pytest.raises(ModelError, match="broke off"):
        ask(is_streamed=True)
    assert len(endpoint.requests) == 1


@each_way
def test_silence(endpoint, is_streamed):
    """Is given up after timeout_s."""
    endpoint.mode = "hang"
    with pytest.raises(ModelUnavailableError, match=r"was silent for 0\.15 s"):
        ask(is_streamed, OpenAIChat("tiny", timeout_s=0.15))


@each_way
@pytest.mark.parametrize("mode", ["garbage", "shape"])
def test_a_malformed_answer(endpoint, mode, is_streamed):
    """One line of error that says where to look."""
    endpoint.mode = mode
    with pytest.raises(ModelError, match="no valid answer for tiny") as caught:
        ask(is_streamed)
    assert "/v1" in caught.value.remedy


def test_no_endpoint_named(monkeypatch):
    """Nothing leaves this machine for an address that nobody wrote."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelUnavailableError, match="no endpoint is named; set OPENAI_BASE_URL"):
        ask()


def test_nobody_there_is_quick():
    """A closed port of this machine costs milliseconds."""
    started = time.perf_counter()
    with pytest.raises(
        ModelUnavailableError, match=r"no endpoint answers at http://127.0.0.1:9/v1"
    ):
        ask(chat=OpenAIChat("tiny", "http://127.0.0.1:9/v1"))
    assert time.perf_counter() - started < 0.5


def test_a_name_that_does_not_resolve():
    """The same error, from the library."""
    with pytest.raises(ModelUnavailableError, match="no endpoint answers at"):
        ask(chat=OpenAIChat("tiny", "http://nobody.invalid:9/v1"))


def test_nobody_there_never_imports_the_library():
    """It stays unimported when nothing listens."""
    code = (
        "import sys\n"
        "from ragmachine.errors import ModelError\n"
        "from ragmachine.llm import Message, OpenAIChat\n"
        "try:\n"
        "    OpenAIChat('x', 'http://127.0.0.1:9').chat([Message('user', 'x')], max_tokens=5)\n"
        "except ModelError:\n"
        "    print('httpx' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_tokens_are_estimated():
    """The format has no way to count."""
    assert OpenAIChat("tiny").count_tokens("x" * 100) == 35
