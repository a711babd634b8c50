"""The OpenAI-compatible routes, asked by the official client."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from live import Asks, Live, SlowChat, until

from fake_chat import FakeChat
from ragmachine.server.openai_routes import question_of
from ragmachine.server.openai_schemas import ChatRequest

openai = pytest.importorskip("openai", reason="a dependency of development")

ASKED = [{"role": "user", "content": "What does marmalade need?"}]
SAID = "Marmalade needs bitter oranges [1]."


@pytest.fixture
def connect(live: Any) -> Iterator[Any]:
    """Makes an official client of a server."""
    clients = []

    def make(**options: Any) -> Any:
        server: Live = live(**options)
        client = openai.OpenAI(
            base_url=f"{server.url}/v1", api_key=options.get("token") or "none", max_retries=0
        )
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


def test_a_chat_is_answered_with_sources(connect: Any, model: Any) -> None:
    """As the client reads it; sources are an extra field."""
    model(FakeChat(SAID))
    client = connect(settings={"llm": "auto"})
    answer = client.chat.completions.create(model="ragmachine", messages=ASKED, temperature=0.2)
    assert answer.choices[0].message.content == SAID
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.usage.prompt_tokens > 0
    (source,) = answer.model_extra["sources"]
    assert (source["number"], source["source"]) == (1, "corpus/notes/jam.md")


def test_a_chat_is_streamed(connect: Any, model: Any) -> None:
    """Words, then the end with the sources, then the usage that was asked for."""
    model(FakeChat(SAID))
    client = connect(settings={"llm": "auto"})
    chunks = list(
        client.chat.completions.create(
            model="ragmachine", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
    )
    words = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert [word for word in words if word] == SAID.split(" ")
    end = next(chunk for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason)
    assert end.model_extra["sources"][0]["source"] == "corpus/notes/jam.md"
    assert end.model_extra["answer"] == SAID
    assert chunks[-1].usage.completion_tokens > 0


def test_a_stream_tells_what_a_search_lacked(connect: Any) -> None:
    """The notice of the search, as an answer in one piece has it."""
    create = connect(settings={"strategy": "hybrid"}).chat.completions.create
    whole = create(model="ragmachine", messages=ASKED)
    assert "no vectors" in whole.model_extra["notice"]
    *_, end = create(model="ragmachine", messages=ASKED, stream=True)
    assert end.model_extra["notice"] == whole.model_extra["notice"]


def test_quotations_are_streamed_as_one_piece(connect: Any) -> None:
    """Where no model writes, there is an answer all the same."""
    chunks = connect().chat.completions.create(model="ragmachine", messages=ASKED, stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert "bitter oranges" in text


def test_a_follow_up_is_understood(connect: Any) -> None:
    """What it leaves out comes from the question before."""
    messages = [
        {"role": "system", "content": "Answer in rhymes."},
        {"role": "user", "content": "How long is the warranty of a Limpet 3?"},
        {"role": "assistant", "content": "30 months [1]."},
        {"role": "user", "content": [{"type": "text", "text": "And of a Winkle 4?"}]},
    ]
    asked = ChatRequest(model="ragmachine", messages=messages)
    assert question_of(asked) == "How long is the warranty of a Winkle 4?"
    answer = connect().chat.completions.create(model="ragmachine", messages=messages)
    assert "24 months" in answer.choices[0].message.content


def test_the_model_is_listed(connect: Any) -> None:
    """Clients offer it to choose from."""
    assert [model.id for model in connect().models.list()] == ["ragmachine"]


def test_errors_are_those_of_the_client(connect: Any) -> None:
    """An unknown model, no question, a field of the wrong type, no token."""
    client = connect()
    with pytest.raises(openai.NotFoundError, match="use ragmachine"):
        client.chat.completions.create(model="gpt-4o", messages=ASKED)
    with pytest.raises(openai.BadRequestError, match="no question"):
        client.chat.completions.create(
            model="ragmachine", messages=[{"role": "system", "content": "x"}]
        )
    with pytest.raises(openai.UnprocessableEntityError):
        client.chat.completions.create(model="ragmachine", messages=ASKED, extra_body={"k": "x"})


def test_a_token_is_an_api_key(connect: Any) -> None:
    """The client sends it as it sends any other."""
    client = connect(token="abc")  # noqa: S106
    assert client.models.list().data
    with pytest.raises(openai.AuthenticationError, match="token"):
        client.with_options(api_key="other").models.list()


def test_a_full_queue_is_an_error_of_the_client(connect: Any, model: Any, live: Any) -> None:
    """While another question is answered and none may wait; before a stream begins as well."""
    import threading

    slow = model(SlowChat())
    client = connect(settings={"llm": "auto"}, answers_waiting=0)
    first = threading.Thread(
        target=lambda: client.chat.completions.create(model="ragmachine", messages=ASKED)
    )
    first.start()
    until(slow.begun.is_set)
    with pytest.raises(openai.InternalServerError, match="waiting for the model"):
        client.chat.completions.create(model="ragmachine", messages=ASKED)
    with pytest.raises(openai.InternalServerError, match="waiting for the model") as refused:
        client.chat.completions.create(model="ragmachine", messages=ASKED, stream=True)
    assert refused.value.response.headers["retry-after"] == "5"
    slow.go.set()
    first.join(20)


class ToyEncoder:
    """Vectors of two numbers."""

    def encode(self, texts: list[str]) -> Any:
        """Length and ones."""
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def test_texts_become_vectors(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in both forms that clients ask for."""
    from ragmachine.wiring import dense

    monkeypatch.setattr(dense, "make_encoder", lambda settings, store: ToyEncoder())
    client = connect()
    found = client.embeddings.create(model="ragmachine", input=["abc", "abcde"])
    assert [row.embedding for row in found.data] == [[3.0, 1.0], [5.0, 1.0]]
    plain = client.embeddings.create(model="ragmachine", input="ab", encoding_format="float")
    assert plain.data[0].embedding == [2.0, 1.0]
    packed = client.embeddings.with_raw_response.create(
        model="ragmachine", input="ab", encoding_format="base64"
    ).http_response.json()
    raw = base64.b64decode(packed["data"][0]["embedding"])
    assert np.frombuffer(raw, "<f4").tolist() == [2.0, 1.0]


def test_without_an_encoder_there_are_no_vectors(ask: Asks) -> None:
    """404 with what to install."""
    client = ask(settings={"encoder": "ollama:none", "ollama_host": "127.0.0.1:9"})
    answer = client.post("/v1/embeddings", json={"model": "x", "input": "y"})
    assert (answer.status_code, answer.json()["code"]) == (404, "encoder_unavailable")
    assert answer.json()["error"]["message"]
    many = {"model": "x", "input": ["y"] * 257}
    assert ask().post("/v1/embeddings", json=many).status_code == 400
