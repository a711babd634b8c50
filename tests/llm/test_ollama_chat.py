"""OllamaChat against a loopback server, through the official client."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import pytest

from ragmachine.errors import ModelError
from ragmachine.llm.chat import Message, ModelUnavailableError
from ragmachine.llm.ollama import OllamaChat

QUESTION = [Message("system", "Answer shortly."), Message("user", "What is six times seven?")]


def client(server, **options):
    return OllamaChat("tiny:1b", host=server.host, **options)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_whole_answer(server):
    """Without a listener the answer comes in one piece and carries the model's name."""
    reply = client(server).chat(QUESTION, max_tokens=50)
    assert (reply.text, reply.is_truncated, reply.model) == ("Forty-two [1].", False, "tiny:1b")
    assert server.requests[0]["stream"] is False


def test_streamed_answer(server):
    """With a listener every piece is passed on as it arrives, and the reply is the same."""
    seen: list[str] = []
    reply = client(server).chat(QUESTION, max_tokens=50, on_token=seen.append)
    assert seen == ["Forty", "-two [1]."]
    assert reply.text == "Forty-two [1]."
    assert server.requests[0]["stream"] is True


def test_request_body(server):
    """Roles, thinking off, temperature, length and keep-alive reach the server."""
    client(server, keep_alive="3m").chat(QUESTION, max_tokens=50, temperature=0.5)
    body = server.requests[0]
    assert body["path"] == "/api/chat"
    assert body["model"] == "tiny:1b"
    assert body["messages"] == [
        {"role": "system", "content": "Answer shortly."},
        {"role": "user", "content": "What is six times seven?"},
    ]
    assert body["think"] is False
    assert body["keep_alive"] == "3m"
    assert body["options"] == {"temperature": 0.5, "num_predict": 50, "num_ctx": 1024}


@pytest.mark.parametrize(
    ("keep_alive", "sent"),
    [("10m", "10m"), ("-1", -1.0), ("0", 0.0), ("1h30m", "1h30m")],
)
def test_a_bare_number_is_sent_as_one(server, keep_alive, sent):
    """As text it would be a duration without its unit, which the server refuses."""
    client(server, keep_alive=keep_alive).chat(QUESTION, max_tokens=5)
    assert server.requests[0]["keep_alive"] == sent


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
def test_a_dropped_connection_is_tried_once_more(server, is_streamed):
    """One hang-up is mended; two are an error."""
    on_token = (lambda _: None) if is_streamed else None
    server.drops = 1
    assert client(server).chat(QUESTION, max_tokens=5, on_token=on_token).text == "Forty-two [1]."
    server.drops = 2
    with pytest.raises(ModelError, match="broke off"):
        client(server).chat(QUESTION, max_tokens=5, on_token=on_token)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("pieces", "requests"),
    [
        pytest.param(["Forty", "-two"], 1, id="something was shown"),
        pytest.param(["<think>", "hm"], 2, id="nothing was shown"),
    ],
)
def test_a_broken_stream_is_tried_again_only_unseen(server, pieces, requests):
    """What was shown cannot be taken back."""
    server.mode, server.pieces = "broken", pieces
    with pytest.raises(ModelError, match="broke off"):
        client(server).chat(QUESTION, max_tokens=5, on_token=lambda _: None)
    assert len(server.requests) == requests


@pytest.mark.parametrize(
    "error",
    [
        "model requires more system memory (5.6 GiB) than is available (3.2 GiB)",
        "CUDA error: out of memory",
        "llama runner process has terminated: signal: killed",
    ],
)
def test_a_model_that_does_not_fit(server, error):
    """The server's ways to say so are one error, and asking again soon is known to be vain."""
    server.mode, server.error = "refuse", error
    with pytest.raises(ModelUnavailableError, match="does not fit into the memory") as caught:
        client(server).chat(QUESTION, max_tokens=5)
    assert "--model" in caught.value.remedy


def test_a_lone_surrogate_is_sent_as_a_question_mark(server):
    """JSON in UTF-8 cannot hold it."""
    client(server).chat([Message("user", "a\udcffb")], max_tokens=5)
    assert server.requests[0]["messages"][0]["content"] == "a?b"


def test_no_server_is_quick_and_says_what_to_type():
    """A closed port costs milliseconds and gives the two commands that help."""
    port = free_port()
    started = time.perf_counter()
    with pytest.raises(ModelUnavailableError) as caught:
        OllamaChat("tiny:1b", host=f"127.0.0.1:{port}").chat(QUESTION, max_tokens=5)
    assert time.perf_counter() - started < 0.5
    assert caught.value.message == f"no Ollama server answers at http://127.0.0.1:{port}"
    assert (
        caught.value.remedy == "start it with `ollama serve`, then type `ragmachine pull tiny:1b`"
    )


def test_no_server_never_imports_the_client():
    """The client library stays unimported when nothing listens."""
    code = (
        "import sys\n"
        "from ragmachine.errors import ModelError\n"
        "from ragmachine.llm import Message, OllamaChat\n"
        "try:\n"
        "    OllamaChat().chat([Message('user', 'x')], max_tokens=5)\n"
        "except ModelError:\n"
        "    print('ollama' in sys.modules, 'httpx' in sys.modules)\n"
    )
    environment = {**os.environ, "OLLAMA_HOST": f"127.0.0.1:{free_port()}"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.split() == ["False", "False"]


def test_environment_names_the_host(server, monkeypatch):
    """OLLAMA_HOST is read when no host is given."""
    monkeypatch.setenv("OLLAMA_HOST", server.host)
    assert OllamaChat("tiny:1b").chat(QUESTION, max_tokens=5).text == "Forty-two [1]."


def test_proxy_is_not_asked_for_loopback(server, monkeypatch):
    """A proxy of the environment does not come between this machine and itself."""
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert client(server).chat(QUESTION, max_tokens=5).text == "Forty-two [1]."


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
def test_missing_model(server, is_streamed):
    """A 404 becomes the pull command, and asking again soon is known to be vain."""
    server.mode = "missing"
    with pytest.raises(ModelUnavailableError) as caught:
        client(server).chat(
            QUESTION, max_tokens=5, on_token=(lambda _: None) if is_streamed else None
        )
    assert caught.value.remedy == "type `ragmachine pull tiny:1b`"


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
def test_silence_times_out(server, is_streamed):
    """A server that accepts and then says nothing is given up after timeout_s."""
    server.mode = "hang"
    with pytest.raises(ModelUnavailableError, match=r"silent for 0\.15 s"):
        client(server, timeout_s=0.15).chat(
            QUESTION, max_tokens=5, on_token=(lambda _: None) if is_streamed else None
        )


@pytest.mark.parametrize("mode", ["garbage", "shape"])
@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
def test_malformed_answer(server, mode, is_streamed):
    """What is not Ollama's JSON is one line of error, never the parser's exception."""
    server.mode = mode
    with pytest.raises(ModelError, match="no valid answer for tiny:1b"):
        client(server).chat(
            QUESTION, max_tokens=5, on_token=(lambda _: None) if is_streamed else None
        )


def test_server_error_is_one_line(server):
    """The server's own words are shown, on one line."""
    server.mode = "refuse"
    with pytest.raises(ModelError, match="refused: unknown tensor in layer 3"):
        client(server).chat(QUESTION, max_tokens=5)


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
def test_refused_think_parameter(server, is_streamed):
    """A model that refuses `think` is asked again without it, and never with it afterwards."""
    server.mode = "refuse_think"
    chat = client(server)
    on_token = (lambda _: None) if is_streamed else None
    assert chat.chat(QUESTION, max_tokens=5, on_token=on_token).text == "Forty-two [1]."
    chat.chat(QUESTION, max_tokens=5, on_token=on_token)
    assert ["think" in request for request in server.requests] == [True, False, False]


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([""], id="nothing"),
        pytest.param([" \n"], id="blank"),
        pytest.param(["<think>Hm. Six sevens", " are"], id="thinking only"),
    ],
)
def test_empty_answer(server, pieces):
    """An answer without a visible word is an error with its remedy."""
    server.pieces = pieces
    with pytest.raises(ModelError, match="empty answer") as caught:
        client(server).chat(QUESTION, max_tokens=5)
    assert caught.value.remedy


def test_an_answer_cut_before_it_began(server):
    """The model thought until its tokens were used up: the error says so."""
    server.pieces, server.done_reason = ["<think>Hm. Six sevens"], "length"
    with pytest.raises(ModelError, match="stopped before it said anything") as caught:
        client(server).chat(QUESTION, max_tokens=5)
    assert "--max_new_tokens" in caught.value.remedy


def test_cut_answer_ends_with_a_sentence(server):
    """done_reason "length" marks the reply and its unfinished sentence goes."""
    server.pieces = ["It is forty-two [1]. It was com", "puted by"]
    server.done_reason = "length"
    reply = client(server).chat(QUESTION, max_tokens=5)
    assert (reply.text, reply.is_truncated) == ("It is forty-two [1].", True)


SCHEMA = {"type": "object", "properties": {"ranking": {"type": "array"}}}


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
def test_a_schema_reaches_the_server(server, is_streamed):
    """As the format of the answer; without one there is no format at all."""
    chat = client(server)
    on_token = (lambda _: None) if is_streamed else None
    chat.chat(QUESTION, max_tokens=5, on_token=on_token, schema=SCHEMA)
    chat.chat(QUESTION, max_tokens=5, on_token=on_token)
    assert server.requests[0]["format"] == SCHEMA
    assert server.requests[1].get("format") is None


def test_a_schema_outlives_a_refused_think_parameter(server):
    """Asked again without `think`, the server still gets the format."""
    server.mode = "refuse_think"
    client(server).chat(QUESTION, max_tokens=5, schema=SCHEMA)
    assert [request.get("format") for request in server.requests] == [SCHEMA, SCHEMA]


def test_a_cut_answer_to_a_schema_is_kept_whole(server):
    """JSON has no sentences to be cut at."""
    server.pieces = ['{"ranking": ["No. ', '3", "No. 1']
    server.done_reason = "length"
    reply = client(server).chat(QUESTION, max_tokens=5, schema=SCHEMA)
    assert (reply.text, reply.is_truncated) == ('{"ranking": ["No. 3", "No. 1', True)


def test_one_call_may_have_less_time(server):
    """The call's own timeout is used and named; the client's stays for the next."""
    chat = client(server, timeout_s=0.3)
    server.mode = "hang"
    with pytest.raises(ModelUnavailableError, match=r"silent for 0\.12 s"):
        chat.chat(QUESTION, max_tokens=5, timeout_s=0.123)
    with pytest.raises(ModelUnavailableError, match=r"silent for 0\.3 s"):
        chat.chat(QUESTION, max_tokens=5)


def test_thinking_is_neither_shown_nor_returned(server):
    """Thinking whose tags arrive in fragments reaches neither listener nor reply."""
    server.pieces = ["<th", "ink>six", " sevens</thi", "nk>\n\n", "Forty", "-two"]
    seen: list[str] = []
    reply = client(server).chat(QUESTION, max_tokens=5, on_token=seen.append)
    assert "".join(seen) == reply.text == "Forty-two"


def test_listener_failure_is_its_own(server):
    """A closed pipe on our side is not reported as a failure of the server."""

    def closed(_: str) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        client(server).chat(QUESTION, max_tokens=5, on_token=closed)
