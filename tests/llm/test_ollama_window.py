"""The window that is asked for holds the prompt, and what the server cut is noticed."""

from __future__ import annotations

import pytest

from ragmachine.llm import Message, OllamaChat, PromptTooLongError

QUESTION = [Message("system", "Answer shortly."), Message("user", "What is six times seven?")]


def client(server):
    return OllamaChat("tiny:1b", host=server.host)


@pytest.mark.parametrize(
    ("content", "max_tokens", "expected"),
    [
        pytest.param("x" * 300, 100, 1024, id="short prompt takes one step"),
        pytest.param("x" * 2800, 28, 1024, id="exactly one step"),
        pytest.param("x" * 2800, 29, 2048, id="one token more takes two"),
        pytest.param("7" * 2000, 8, 3072, id="digits are tokens of their own"),
    ],
)
def test_the_window_follows_the_prompt(server, content, max_tokens, expected):
    """The estimate + 16 per message + max_tokens, rounded up to 1,024."""
    client(server).chat([Message("user", content)], max_tokens=max_tokens)
    assert server.requests[0]["options"]["num_ctx"] == expected


def test_context_never_shrinks(server):
    """A later short prompt keeps the large window, so that the server need not reload the model."""
    chat = client(server)
    chat.chat([Message("user", "x" * 8000)], max_tokens=10)
    chat.chat(QUESTION, max_tokens=10)
    assert [request["options"]["num_ctx"] for request in server.requests] == [3072, 3072]


@pytest.mark.parametrize(
    ("limit_tokens", "expected"),
    [
        pytest.param(2500, 2500, id="the model reads less"),
        pytest.param(32768, 4096, id="the model reads more"),
        pytest.param(None, 4096, id="the server does not tell"),
    ],
)
def test_the_window_ends_where_the_model_does(server, limit_tokens, expected):
    """3,500 + 16 + 10 tokens: a window beyond the limit would be cut down without a word."""
    server.limit_tokens = limit_tokens
    chat = client(server)
    for _ in range(2):
        chat.chat([Message("user", "x" * 10_000)], max_tokens=10)
    assert server.requests[0]["options"]["num_ctx"] == expected
    assert server.shows == 1


def test_a_prompt_far_beyond_the_model_is_not_sent(server):
    """35,000 tokens by an estimate that is too high by less than three times, of 2,500."""
    server.limit_tokens = 2500
    with pytest.raises(PromptTooLongError, match="35,026 tokens with the answer, of 2,500"):
        client(server).chat([Message("user", "x" * 100_000)], max_tokens=10)
    assert server.requests == []


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param({"prompt_eval_count": 1024}, id="the prompt filled the window"),
        pytest.param({"prompt_eval_count": 1020, "eval_count": 5}, id="the answer overflowed it"),
    ],
)
@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
def test_a_prompt_that_was_cut_is_an_error(server, counts, is_streamed):
    """The server's counts tell; the next window is twice as large."""
    server.counts = counts
    chat = client(server)
    with pytest.raises(PromptTooLongError) as caught:
        chat.chat(QUESTION, max_tokens=10, on_token=(lambda _: None) if is_streamed else None)
    assert caught.value.excess_tokens > 0
    server.counts = {"prompt_eval_count": 1024, "eval_count": 10}
    assert chat.chat(QUESTION, max_tokens=10).text == "Forty-two [1]."
    assert server.requests[1]["options"]["num_ctx"] == 2048


def test_tokens_are_estimated():
    """Without a server: Ollama's API has nothing to count with."""
    assert OllamaChat("tiny:1b", host="127.0.0.1:9").count_tokens("x" * 100) == 35
