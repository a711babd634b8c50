"""``bench``: the same questions by quotation, with a model that reads, and with the model alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from house import Program

from fake_chat import FakeChat
from ragmachine.answer_bench import BenchRow, Trial
from ragmachine.errors import ModelError
from ragmachine.evaluation.answer_scores import AnswerScore
from ragmachine.wiring import chat_models

RIGHT = "The KV cache is sized by gpu_memory_utilization [1]."


def told(prompt: str) -> str:
    """A model that knows nothing unless it is shown."""
    return RIGHT if "PASSAGES" in prompt else "By the moon [1]."


@pytest.fixture
def dataset(program: Program) -> str:
    """Six questions, the last of which nobody can answer."""
    page = "corpus/docs/cache.md"
    words = "The KV cache is sized by gpu_memory_utilization"
    asked = [f"What sizes the KV cache, asked {n} times?" for n in range(5)]
    truth = program.house.answered("bench", *((question, page, words) for question in asked))
    for question in truth["rag_questions"]:
        question["answer"] = "By `gpu_memory_utilization`."
    truth["rag_questions"].append({"question_id": "none", "question": "Whose zebra is it?"})
    return str(program.house.save("sets/bench.json", truth))


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeChat], FakeChat]:
    """Puts a model in place, except where quotations are wanted."""

    def put(chat: FakeChat) -> FakeChat:
        monkeypatch.setattr(
            chat_models,
            "make_client",
            lambda settings: None if settings.llm == "extractive" else chat,
        )
        return chat

    return put


def test_three_ways_side_by_side(
    program: Program, dataset: str, use: Callable[[FakeChat], FakeChat]
) -> None:
    """Each has its measures, times and tokens; only who reads can cite."""
    use(FakeChat(told))
    document = program.run("bench", dataset, "--json").document()
    quoted, read, alone = document["ways"]
    assert [way["way"] for way in document["ways"]] == ["extractive", "retrieval", "alone"]
    assert (document["questions"], document["notices"]) == (6, [])
    assert read["model"] == alone["model"] == "tiny:1b"
    values = [way["measures"]["key_values"]["mean"] for way in document["ways"]]
    assert values == [1.0, 1.0, 0.0]
    assert read["measures"]["citation_precision"]["mean"] == 1.0
    assert alone["measures"]["citation_precision"] is None
    assert alone["measures"]["unsupported"] is None
    assert read["measures"]["unsupported"]["mean"] == 0.0
    assert quoted["prompt_tokens"] == quoted["answer_tokens"] == 0
    assert read["prompt_tokens"] > alone["prompt_tokens"] > 0
    assert (quoted["first_token_ms"], read["first_token_ms"] is None) == (None, False)
    for way in document["ways"]:
        assert 0 < way["latency_ms"]["p50"] <= way["latency_ms"]["p95"]
        assert [row["question_id"] for row in way["rows"]][-1] == "none"


def test_the_same_questions_count_as_found_for_all(
    program: Program, dataset: str, use: Callable[[FakeChat], FakeChat]
) -> None:
    """The model alone retrieves nothing and is still compared where retrieval found something."""
    use(FakeChat(told))
    ways = program.run("bench", dataset, "--json").document()["ways"]
    found = [way["measures_where_source_retrieved"]["key_values"] for way in ways]
    assert [one["n"] for one in found] == [5, 5, 5]


def test_a_table_for_people(
    program: Program, dataset: str, use: Callable[[FakeChat], FakeChat]
) -> None:
    """A column each way, a line each measure."""
    use(FakeChat(told))
    outcome = program.run("bench", dataset)
    outcome.assert_tidy()
    lines = outcome.out.splitlines()
    columns = [part.strip() for part in lines[2].split("  ") if part.strip()]
    assert columns == ["quotations", "tiny:1b, retrieval", "tiny:1b alone"]
    assert any(line.startswith("Latency p95") and line.count(" ms") == 3 for line in lines)
    assert any(line.startswith("Tokens read") and "about" in line for line in lines)


def test_a_missing_model_is_one_line(program: Program, dataset: str) -> None:
    """Quotations are measured all the same."""
    outcome = program.run("bench", dataset)
    outcome.assert_tidy()
    notes = [line for line in outcome.out.splitlines() if line.startswith("Note: no model: ")]
    assert len(notes) == 1
    assert "ollama serve" in notes[0]
    assert "alone" not in outcome.out


def test_no_model_is_asked_for_quotations_only(
    program: Program, dataset: str, use: Callable[[FakeChat], FakeChat]
) -> None:
    """``--llm extractive`` means that."""
    chat = use(FakeChat(told))
    document = program.run("bench", dataset, "--llm", "extractive", "--json").document()
    assert [way["way"] for way in document["ways"]] == ["extractive"]
    assert chat.asked == []


def test_a_question_where_the_model_fails_counts_0(
    program: Program, dataset: str, use: Callable[[FakeChat], FakeChat]
) -> None:
    """The reason is told once, with the number of failures; what stood in for it is not counted."""

    def fail_on_3(prompt: str) -> str:
        if "asked 3 times" in prompt:
            raise ModelError("it stumbled")
        return told(prompt)

    use(FakeChat(fail_on_3))
    document = program.run("bench", dataset, "--json").document()
    _, read, alone = document["ways"]
    assert read["failed"] == alone["failed"] == 1
    assert read["measures"]["key_values"]["mean"] == pytest.approx(4 / 5)
    assert [notice.partition(":")[0] for notice in document["notices"]] == ["tiny", "tiny"]
    assert all("1 failed and count 0" in notice for notice in document["notices"])


def test_a_limit_draws_the_same_questions_each_time(program: Program, dataset: str) -> None:
    """Some of them, in their order; a limit beyond their number is no limit."""
    words = ["bench", dataset, "--llm", "extractive", "--json"]
    ids = []
    for limit in ("3", "3", "99", "0"):
        (way,) = program.run(*words, "--limit", limit).document()["ways"]
        ids.append([row["question_id"] for row in way["rows"]])
    assert ids[0] == ids[1]
    assert len(ids[0]) == 3
    assert ids[2] == ids[3]
    assert [one for one in ids[2] if one in ids[0]] == ids[0]


def test_percentiles_are_by_nearest_rank() -> None:
    """Of 20 answers, the median is the 10th and the 95th percentile the 19th."""
    trials = tuple(Trial(AnswerScore("q", "?"), float(n)) for n in range(20, 0, -1))
    row = BenchRow("alone", "m", trials)
    assert (row.latency_ms(0.5), row.latency_ms(0.95)) == (10, 19)
    assert BenchRow("alone", "m", trials[:1]).latency_ms(0.95) == 20


@pytest.mark.parametrize(
    ("words", "code", "told_so"),
    [
        (["sets/empty.json"], 1, "holds no question"),
        (["sets/broken.json"], 1, "not valid JSON"),
        (["sets/docs.json", "--limit", "-1"], 2, "at least 0"),
        (["sets/docs.json", "--limit", "many"], 2, "whole number"),
    ],
)
def test_what_cannot_be_measured(
    program: Program, words: list[str], code: int, told_so: str
) -> None:
    """One line, and no traceback."""
    file, *rest = words
    outcome = program.run("bench", f"{program.house.root}/{file}", *rest)
    assert outcome.code == code
    outcome.assert_tidy()
    assert told_so in outcome.err
