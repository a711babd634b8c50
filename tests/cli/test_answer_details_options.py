"""``answer --no_retrieval``, ``--show_context``, ``--timings``, ``--max_new_tokens``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from house import Program

from fake_chat import FakeChat
from ragmachine.llm.chat import Message, Reply
from ragmachine.wiring import chat_models

ASKED = "What evicts blocks when memory runs out?"
TEXT = "The scheduler evicts the oldest block [1]."
STEPS = ("plan", "search", "rerank", "generate", "first_token", "total")


class Counting(FakeChat):
    """A model whose server counts, and that keeps how long its answers may be."""

    def __init__(self, answer: str) -> None:
        super().__init__(answer)
        self.limits: list[int] = []
        self.counts = (0, 0)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        on_token: Callable[[str], None] | None = None,
        schema: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> Reply:
        """Answer, with the counts."""
        self.limits.append(max_tokens)
        reply = super().chat(messages, max_tokens=max_tokens, on_token=on_token)
        read, written = self.counts
        return Reply(reply.text, False, self.name, prompt_tokens=read, answer_tokens=written)


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch, program: Program) -> Counting:
    """A model; the house is left without an answer cache."""
    chat = Counting(TEXT)
    monkeypatch.setattr(chat_models, "make_client", lambda settings: chat)
    for path in program.house.index_dir.glob("answer_cache*"):
        path.unlink()
    return chat


def test_the_model_alone(program: Program, chat: Counting) -> None:
    """It sees the question and no passage; its invented citation goes; a notice says what it is."""
    outcome = program.run("answer", ASKED, "--no_retrieval")
    outcome.assert_tidy()
    assert chat.asked == [ASKED]
    assert outcome.out.strip() == "The scheduler evicts the oldest block."
    assert "nothing was searched" in outcome.err


def test_the_model_alone_needs_no_index(program: Program, chat: Counting) -> None:
    """There is nothing to search."""
    outcome = program.run("answer", ASKED, "--no_retrieval", "--index_dir", "nowhere", "--json")
    document = outcome.document()
    assert (document["strategy"], document["retrieved_chunks"]) == ("none", [])
    assert (document["answer_mode"], document["citations"]) == ("tiny:1b", [])


def test_a_model_that_knows_nothing_refuses(program: Program, chat: Counting) -> None:
    """As it does with passages."""
    chat.answer = "I don't know."
    document = program.run("answer", ASKED, "--no_retrieval", "--json").document()
    assert document["refused"] is True


@pytest.mark.parametrize("words", [["--llm", "extractive"], []], ids=["no model", "no server"])
def test_without_a_model_there_is_nothing_to_ask(program: Program, words: list[str]) -> None:
    """One line that says what to type."""
    outcome = program.run("answer", ASKED, "--no_retrieval", *words)
    assert outcome.code == 1
    outcome.assert_tidy()
    assert "ollama" in outcome.err


def test_the_longest_answer_reaches_the_model(program: Program, chat: Counting) -> None:
    """With passages and without."""
    program.run("answer", ASKED, "--max_new_tokens", "7")
    program.run("answer", ASKED, "--max_new_tokens", "8", "--no_retrieval")
    assert chat.limits == [7, 8]


def test_the_context_is_what_the_model_read(program: Program, chat: Counting) -> None:
    """Each passage with number, score and place, and its text as it stands in the prompt."""
    outcome = program.run("answer", ASKED, "--show_context", "--context_chars", "600")
    outcome.assert_tidy()
    shown = outcome.out.partition("Context, as whoever answered saw it:")[2]
    document = program.run(
        "answer", ASKED, "--show_context", "--context_chars", "600", "--json"
    ).document()
    assert document["context"]
    for number, passage in enumerate(document["context"], 1):
        assert passage["rank"] == number
        assert passage["text"].rstrip() in chat.asked[0]
        assert passage["text"].rstrip() in shown
        assert f"[{number}]  score {passage['score']:.2f}  {passage['file_path']}:" in shown
    assert sum(len(passage["text"]) for passage in document["context"]) <= 600
    assert "context" not in program.run("answer", ASKED, "--json").document()


def test_quotations_have_a_context_too(program: Program) -> None:
    """The passages that they were chosen from."""
    outcome = program.run("answer", ASKED, "--show_context", "--llm", "extractive")
    assert "[1]  score " in outcome.out


def test_without_retrieval_no_passage_is_shown(program: Program, chat: Counting) -> None:
    """And that is said."""
    outcome = program.run("answer", ASKED, "--show_context", "--no_retrieval")
    assert "no passage was shown" in outcome.out


def timings(program: Program, *words: str) -> dict[str, Any]:
    """Those of a JSON document."""
    document = program.run("answer", ASKED, *words, "--timings", "--json").document()
    found: dict[str, Any] = document["metrics"]["timings"]
    return found


def test_timings_of_an_answer(program: Program, chat: Counting) -> None:
    """Each step that ran has a time, and all of them fit into the total."""
    chat.counts = (321, 12)
    found = timings(program, "--no_cache")
    ran = [found[f"{step}_ms"] for step in ("plan", "search", "generate")]
    assert all(spent >= 0 for spent in ran)
    assert sum(ran) <= found["total_ms"]
    assert 0 <= found["first_token_ms"] <= found["generate_ms"]
    assert found["rerank_ms"] is None
    assert (found["prompt_tokens"], found["answer_tokens"]) == (321, 12)
    assert found["tokens_estimated"] is False


def test_tokens_are_estimated_where_nobody_counts(program: Program, chat: Counting) -> None:
    """As the client estimates them."""
    found = timings(program)
    assert found["tokens_estimated"] is True
    assert found["answer_tokens"] == len(TEXT) // 4


def test_caches_are_told(program: Program, chat: Counting) -> None:
    """A miss, then a hit; off where they are."""
    words = ["answer", "What evicts the oldest block?", "--timings", "--json"]
    seen = []
    for _ in range(2):
        found = program.run(*words, "--answer_cache").document()["metrics"]["timings"]
        seen.append((found["query_cache"], found["answer_cache"], found["generate_ms"] is None))
    assert seen == [("miss", "miss", False), ("hit", "hit", True)]
    assert timings(program, "--no_cache")["answer_cache"] == "off"
    assert timings(program, "--no_retrieval")["query_cache"] == "off"


def test_quotations_cost_no_tokens(program: Program) -> None:
    """And have no first token."""
    found = timings(program, "--llm", "extractive")
    assert (found["prompt_tokens"], found["first_token_ms"]) == (0, None)


def test_timings_for_people(program: Program, chat: Counting) -> None:
    """A line each step, below the answer."""
    outcome = program.run("answer", ASKED, "--timings")
    outcome.assert_tidy()
    below = outcome.out.partition("\nTimings:\n")[2].splitlines()
    assert [line.split()[0] for line in below] == [
        "plan", "search", "rerank", "generate", "first", "total", "caches", "tokens",
    ]  # fmt: skip
    assert "Timings" not in program.run("answer", ASKED).out


def test_a_reranking_has_a_time(
    program: Program, chat: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as a judge was asked."""
    found = timings(program, "--rerank", "llm", "--no_cache")
    assert found["rerank_ms"] >= 0
