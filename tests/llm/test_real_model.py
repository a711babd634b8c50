"""Every client against a model that really generates; what it says is never asserted, only how.

The model is SmolLM2-135M with one thread, behind Ollama's API (see `ollama_server`), behind
llama.cpp's own endpoint, and in this process.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ollama_server import needs_model

from ragmachine.errors import ModelError
from ragmachine.llm import (
    ChatChain,
    Message,
    ModelUnavailableError,
    OllamaChat,
    OpenAIChat,
    PromptTooLongError,
)
from ragmachine.llm.ollama_pull import PullProgress, pull_model

pytestmark = needs_model

CHECKOUT = Path(__file__).resolve().parents[2]
SAMPLE = CHECKOUT / "data" / "sample"
MODEL = "smollm2:135m"
KEY = "sk-test-0123456789"
QUESTION = [Message("system", "Be short."), Message("user", "Name a colour.")]
SCHEMA = {
    "type": "object",
    "properties": {"ranking": {"type": "array", "items": {"type": "integer"}, "maxItems": 2}},
    "required": ["ranking"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def running():
    """Ollama's API over the model; loaded when it is first asked."""
    from ollama_server import serving

    with serving() as server:
        yield server


@pytest.fixture
def server(running):
    """The same, with nothing asked yet."""
    running.reset()
    return running


@pytest.fixture(scope="module")
def endpoint():
    """llama.cpp's own HTTP server, which wants a key; its base URL."""
    import xllamacpp

    from ragmachine.llm.local import packaged_model

    params = xllamacpp.CommonParams()
    params.model.path = packaged_model()
    params.n_ctx, params.n_parallel, params.verbosity = 512, 1, -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.api_keys = [KEY]
    running = xllamacpp.Server(params)
    yield f"{running.listening_address}/v1"
    del running


@pytest.fixture(params=["ollama", "openai", "local"])
def chat(request, monkeypatch):
    """Each of the three clients."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    if request.param == "ollama":
        server = request.getfixturevalue("server")
        return OllamaChat(MODEL, host=server.host)
    if request.param == "openai":
        return OpenAIChat(MODEL, request.getfixturevalue("endpoint"))
    return request.getfixturevalue("local")


def test_a_streamed_answer_is_the_whole_one(chat):
    """Greedy decoding: what is shown piece by piece, and what comes at once, are the same."""
    seen = []
    streamed = chat.chat(QUESTION, max_tokens=8, on_token=seen.append)
    whole = chat.chat(QUESTION, max_tokens=8)
    assert len(seen) > 1
    assert "".join(seen).startswith(streamed.text)  # a cut sentence may have gone
    assert (whole.text, whole.model) == (streamed.text, chat.name)


def test_a_long_answer_is_cut_and_said_to_be(chat):
    """Four tokens are not enough for a poem."""
    reply = chat.chat([Message("user", "Write a long poem.")], max_tokens=4)
    assert reply.is_truncated
    assert 0 < len(reply.text.split()) <= 4


def test_the_model_stops_at_its_own_end(chat):
    """It is asked for one word and has room for sixty."""
    reply = chat.chat([Message("user", "Say only: yes")], max_tokens=60)
    assert not reply.is_truncated


def test_an_answer_follows_its_schema(chat):
    """The grammar leaves nothing else."""
    reply = chat.chat(QUESTION, max_tokens=40, schema=SCHEMA)
    document = json.loads(reply.text)
    assert document.keys() == {"ranking"}
    assert len(document["ranking"]) <= SCHEMA["properties"]["ranking"]["maxItems"]
    assert all(isinstance(number, int) for number in document["ranking"])


def test_a_slow_answer_times_out(chat):
    """Reading a hundred tokens takes longer than 20 ms."""
    for on_token, words in ((None, "Count these words. "), (lambda _: None, "Add these up. ")):
        messages = [Message("user", words * 25)]
        with pytest.raises(ModelUnavailableError, match=r"silent for 0\.02 s"):
            chat.chat(messages, max_tokens=4, on_token=on_token, timeout_s=0.02)


def test_a_failing_listener_ends_the_answer(chat):
    """Its error arrives as it is, and the next question is answered."""

    def closed(_):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        chat.chat(QUESTION, max_tokens=16, on_token=closed)
    assert chat.chat(QUESTION, max_tokens=4).text


def test_the_official_client_meets_what_it_knows(server):
    """Tags, show, generate and embed have the shapes that it parses."""
    import ollama

    with ollama.Client(server.host, trust_env=False) as client:
        assert [model.model for model in client.list().models] == [MODEL]
        facts = client.show(MODEL).modelinfo
        assert facts["llama.context_length"] == 8192
        written = client.generate(MODEL, "Hi", options={"num_predict": 4})
        assert written.done_reason == "length"
        assert written.eval_count == 4
        parts = list(client.generate(MODEL, "Hi", stream=True, options={"num_predict": 4}))
        assert "".join(part.response for part in parts) == written.response
        rows = client.embed(MODEL, ["one", "two"]).embeddings
        assert [len(row) for row in rows] == [576, 576]


def test_a_missing_model_is_named(server):
    """With the command that brings it."""
    with pytest.raises(ModelUnavailableError, match="has no model other:1b") as caught:
        OllamaChat("other:1b", host=server.host).chat(QUESTION, max_tokens=4)
    assert caught.value.remedy == "type `ragmachine pull other:1b`"


def test_the_window_that_is_asked_for_holds_the_prompt(server):
    """The tokens that the server counted are within it, and the estimate was no less than they."""
    text = next(SAMPLE.rglob("*.md")).read_text(encoding="utf-8")[:500]
    client = OllamaChat(MODEL, host=server.host)
    client.chat([Message("user", text)], max_tokens=4)
    (_, body), *_ = server.requests
    assert body["options"]["num_ctx"] == 1024


@pytest.mark.parametrize("lines", [0, 2], ids=["before the first piece", "amid the answer"])
def test_a_connection_that_is_dropped(server, lines):
    """Tried again while nothing was shown, an error after."""
    server.drop_after = [lines]
    client, seen = OllamaChat(MODEL, host=server.host), []
    if lines:
        with pytest.raises(ModelError, match="broke off"):
            client.chat(QUESTION, max_tokens=8, on_token=seen.append)
        assert len(seen) == lines
    else:
        assert client.chat(QUESTION, max_tokens=8, on_token=seen.append).text
        assert len(server.requests) == 2


def test_an_error_amid_the_answer(server):
    """The server's line of error is ours."""
    server.fail_after = 2
    with pytest.raises(ModelError, match="refused: an error was encountered"):
        OllamaChat(MODEL, host=server.host).chat(QUESTION, max_tokens=8, on_token=lambda _: None)


def test_a_model_is_pulled(server):
    """Bytes grow to their sum."""
    seen: list[PullProgress] = []
    pull_model(MODEL, server.host, on_progress=seen.append)
    assert [report.done_bytes for report in seen[1:4]] == [0, 40_000_000, 98_362_432]
    assert seen[-1] == PullProgress("success", 98_362_432, 98_362_432)


def test_a_model_that_nobody_has_is_not_pulled(server):
    """The server finds no manifest."""
    with pytest.raises(ModelError, match="there is no model nonsense to be pulled"):
        pull_model("nonsense", server.host)


@pytest.mark.parametrize(
    ("key", "said"), [("wrong-key-123", "accept the key"), ("", "wants a key")]
)
def test_an_endpoint_that_wants_its_key(endpoint, monkeypatch, key, said):
    """The key is not in the error."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ModelUnavailableError, match=said) as caught:
        OpenAIChat(MODEL, endpoint).chat(QUESTION, max_tokens=4)
    assert not key or key not in str(caught.value)


def test_an_endpoint_says_how_much_too_long_a_prompt_is(endpoint, monkeypatch):
    """llama.cpp counts: 512 tokens are its window."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(PromptTooLongError, match="of 512") as caught:
        OpenAIChat(MODEL, endpoint).chat([Message("user", "word " * 600)], max_tokens=10)
    assert 600 + 10 - 512 <= caught.value.excess_tokens <= 700 + 10 - 512


def test_a_chain_goes_on_to_the_local_model(local):
    """Nothing listens at the first address; one line tells both."""
    absent = OllamaChat("tiny:1b", host="127.0.0.1:9")
    reply = ChatChain([("ollama", absent), ("local", local)]).chat(QUESTION, max_tokens=4)
    assert reply.model == "smollm2-135m"
    assert reply.notice == (
        "ollama: no Ollama server answers at http://127.0.0.1:9; local: answered by smollm2-135m"
    )
