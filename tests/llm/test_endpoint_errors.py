"""What an endpoint refuses, in one line each, and never with the key."""

from __future__ import annotations

import logging

import pytest

from ragmachine.errors import ModelError
from ragmachine.llm import Message, ModelUnavailableError, OpenAIChat, PromptTooLongError

QUESTION = [Message("user", "What is six times seven?")]
KEY = "sk-secret-0123456789"
SCHEMA = {"type": "object", "properties": {"ranking": {"type": "array"}}}
each_way = pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])


def ask(is_streamed=False, chat=None, **options):
    """One question."""
    on_token = (lambda _: None) if is_streamed else None
    chat = chat or OpenAIChat("tiny")
    return chat.chat(QUESTION, **{"max_tokens": 50, "on_token": on_token, **options})


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        pytest.param(401, {"error": "bad key"}, ModelUnavailableError, "does not accept", id="401"),
        pytest.param(403, {}, ModelUnavailableError, "does not accept the key", id="403"),
        pytest.param(
            404,
            {"error": {"message": "The model `tiny` does not exist"}},
            ModelUnavailableError,
            "has no model tiny; name another with --model",
            id="404 model",
        ),
        pytest.param(
            404, "<html>", ModelUnavailableError, "has no chat completions; mend", id="404 path"
        ),
        pytest.param(301, "", ModelUnavailableError, "has no chat completions", id="301"),
        pytest.param(
            429, {"error": {"message": "quota"}}, ModelUnavailableError, "now: quota; wait a",
            id="429",
        ),
        pytest.param(503, {"error": "loading"}, ModelUnavailableError, "not ready: load", id="503"),
        pytest.param(500, {"error": "oops"}, ModelError, "failed: oops", id="500"),
        pytest.param(500, "<html>", ModelError, "failed; see its log", id="500 without words"),
        pytest.param(400, {"error": "bad"}, ModelError, "refused, status 400: bad", id="400"),
    ],
)  # fmt: skip
@each_way
def test_refusals(endpoint, status, body, kind, said, is_streamed):
    """Each status has its error; nothing is tried again without being asked for patience."""
    endpoint.refuse(status, body)
    with pytest.raises(kind) as caught:
        ask(is_streamed)
    assert said in str(caught.value)
    assert isinstance(caught.value, ModelUnavailableError) == (kind is ModelUnavailableError)
    assert len(endpoint.requests) == 1


@each_way
def test_an_error_amid_the_events(endpoint, is_streamed):
    """Status 200, and then an error in the place of an answer."""
    body = {"error": {"message": "the model crashed"}}
    text = "data: " + '{"error": {"message": "the model crashed"}}' + "\n\n"
    endpoint.refuse(200, text if is_streamed else body)
    with pytest.raises(ModelError, match="failed: the model crashed"):
        ask(is_streamed)


@pytest.mark.parametrize("status", [429, 503])
def test_short_patience_is_had_once(endpoint, status):
    """Two seconds are waited; the second refusal is an error, as is one of a minute."""
    waited: list[float] = []
    chat = OpenAIChat("tiny", sleep=waited.append)
    endpoint.refuse(status, Retry_After="2")
    assert ask(chat=chat).text == "Forty-two [1]."
    endpoint.refuse(status, Retry_After="2")
    endpoint.refuse(status, Retry_After="3")
    with pytest.raises(ModelUnavailableError, match="wait 3 s"):
        ask(chat=chat)
    endpoint.refuse(status, Retry_After="60")
    with pytest.raises(ModelUnavailableError, match="wait 60 s"):
        ask(chat=chat)
    assert waited == [2, 2]


def test_a_prompt_too_long(endpoint):
    """llama.cpp gives numbers, others only words."""
    numbers = {"type": "exceed_context_size_error", "n_prompt_tokens": 3000, "n_ctx": 1024}
    endpoint.refuse(400, {"error": {"message": "request exceeds", **numbers}})
    with pytest.raises(PromptTooLongError, match="3,050 tokens with the answer, of 1,024") as one:
        ask()
    assert one.value.excess_tokens == 3050 - 1024
    endpoint.refuse(400, {"error": {"message": "x", "code": "context_length_exceeded"}})
    with pytest.raises(PromptTooLongError) as other:
        ask()
    assert other.value.excess_tokens == 0


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Unknown parameter: 'chat_template_kwargs'", "chat_template_kwargs"),
        ("Unsupported value: 'temperature' does not support 0.0", "temperature"),
        ("response_format is not supported", "response_format"),
        ("'max_tokens' is not supported, use 'max_completion_tokens'", "max_tokens"),
    ],
)
def test_a_refused_parameter_is_left_out_from_then_on(endpoint, words, name):
    """Asked again at once without it; its successor, where there is one, takes its place."""
    chat = OpenAIChat("tiny")
    endpoint.refuse(400, {"error": {"message": words}})
    assert ask(chat=chat, schema=SCHEMA).text == "Forty-two [1]."
    ask(chat=chat, schema=SCHEMA)
    assert [name in request for request in endpoint.requests] == [True, False, False]
    renamed = [request.get("max_completion_tokens") for request in endpoint.requests]
    assert renamed == ([None, 50, 50] if name == "max_tokens" else [None] * 3)


def test_a_parameter_refused_for_ever_ends(endpoint):
    """Each is left out once; then the refusal is an error."""
    for _ in range(3):
        endpoint.refuse(400, {"error": {"message": "chat_template_kwargs, temperature: no"}})
    with pytest.raises(ModelError, match="status 400"):
        ask()
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_the_key_is_shown_nowhere(endpoint, status, caplog, capsys):
    """An endpoint that repeats it is not repeated, neither in errors nor in logs."""
    caplog.set_level(logging.DEBUG)
    endpoint.refuse(status, {"error": {"message": f"model? Incorrect key {KEY} given"}})
    chat = OpenAIChat("tiny")
    with pytest.raises(ModelError) as caught:
        ask(chat=chat)
    shown = [str(caught.value), repr(caught.value), caplog.text, *capsys.readouterr()]
    assert KEY not in "".join([*shown, repr(vars(chat)), repr(chat)])


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ключ"])
def test_a_key_that_no_header_holds(endpoint, monkeypatch, key):
    """Is refused before it is sent, and not shown."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ModelUnavailableError, match="OPENAI_API_KEY holds") as caught:
        ask()
    assert key not in str(caught.value)
    assert endpoint.requests == []


def test_a_redirect_is_not_followed(endpoint):
    """The key would follow it."""
    endpoint.refuse(307, "", Location=endpoint.url + "/elsewhere")
    with pytest.raises(ModelError):
        ask()
    assert len(endpoint.requests) == 1
