"""Grounding from end to end: settings, answers given again, and whole datasets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ragmachine import RagPipeline
from ragmachine.llm.chat import Reply
from workspace import Workspace

PAGE = "# Pump\n\nThe pump rests for 150 seconds.\n\nIt trips at six amperes.\n"
REPLY = "The pump rests for 150 seconds [1]. It sings at 90 decibels [1]."


class Chat:
    """A model that always answers the same."""

    name = "fake:1b"

    def __init__(self) -> None:
        self.asked = 0

    def chat(self, messages: Any, **options: Any) -> Reply:
        """Give the answer."""
        self.asked += 1
        return Reply(REPLY, False, self.name)

    def count_tokens(self, text: str) -> int:
        """Four characters a token."""
        return len(text) // 4


Ask = Callable[..., RagPipeline]


@pytest.fixture
def chat() -> Chat:
    """The model."""
    return Chat()


@pytest.fixture
def answering(project: Workspace, chat: Chat, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """A pipeline over one page, asking the model."""
    project.write("pump.md", PAGE)
    project.index()
    monkeypatch.setattr(RagPipeline, "_client", lambda self: chat)
    return lambda **settings: project.pipeline(llm="auto", **settings)


def test_a_models_sentences_are_checked(answering: Ask) -> None:
    """The wrong one is named, the right one has its line."""
    right, wrong = answering().answer("How long does the pump rest?").sentences
    assert (right.is_supported, right.span and right.span.location) == (True, "corpus/pump.md:3-3")
    assert (wrong.is_supported, wrong.reason) == (False, "not found in [1]: 90")


def test_strict_is_a_setting(answering: Ask) -> None:
    """It reaches the answer."""
    answer = answering(strict=True).answer("How long does the pump rest?")
    assert answer.text == "The pump rests for 150 seconds [1]."


def test_refuse_below_is_a_setting(answering: Ask, chat: Chat) -> None:
    """A question that the page does not hold is not even put to the model."""
    question = "How does a zebra paint Saturn violet?"
    assert answering().answer(question).is_refusal
    assert chat.asked == 0
    answering(refuse_below=0.0).answer(f"{question} The pump?")
    assert chat.asked == 1


def test_an_answer_given_again_is_checked_again(answering: Ask, chat: Chat) -> None:
    """By another pipeline, without asking the model, with the same verdicts and spans."""
    question = "How long does the pump rest?"
    first = answering(answer_cache=True)
    made = first.answer(question)
    first.flush()
    again = answering(answer_cache=True).answer(question)
    assert (chat.asked, again.text) == (1, made.text)
    assert again.sentences == made.sentences
    assert again.grounds == made.grounds


@pytest.mark.parametrize("strict", [False, True], ids=["marked", "strict"])
def test_a_dataset_gets_the_text_and_what_it_rests_on(
    answering: Ask, project: Workspace, strict: bool
) -> None:
    """A strict run leaves sentences out of the text, and so out of the verdicts."""
    dataset = project.root / "asked.json"
    questions = [
        {"question_id": "a", "question": "How long does the pump rest?"},
        {"question_id": "b", "question": "What is max_moons?"},
    ]
    dataset.write_text(json.dumps({"rag_questions": questions}))
    pipeline = answering(strict=strict)
    results = pipeline.search_dataset(dataset, project.root / "found")
    notices: list[str] = []
    path = pipeline.answer_dataset(results, project.root / "answers", on_notice=notices.append)
    found = json.loads(results.read_text())["search_results"]
    first, second = json.loads(path.read_text())["search_results"]
    added = {"answer", "answer_mode", "refused", "citations", "sentences"}
    assert first.keys() == second.keys() == found[0].keys() | added
    assert {name: first[name] for name in found[0]} == found[0]
    assert first["answer"] == (REPLY[:35] if strict else REPLY)
    verdicts = [sentence["supported"] for sentence in first["sentences"]]
    assert verdicts == ([True] if strict else [True, False])
    assert [second["refused"], second["citations"]] == [True, []]
    assert second["answer"].startswith("I don't know: ")


def test_a_run_with_other_rules_does_not_continue_this_one(
    answering: Ask, project: Workspace, chat: Chat
) -> None:
    """An interrupted run's answers were written under its own rules."""
    dataset = project.root / "asked.json"
    question = {"question_id": "a", "question": "How long does the pump rest?"}
    dataset.write_text(json.dumps({"rag_questions": [question, question]}))
    results = answering().search_dataset(dataset, project.root / "found")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answering().answer_dataset(results, project.root / "answers", on_question=stop)
    assert chat.asked == 1
    path = answering(strict=True).answer_dataset(results, project.root / "answers")
    answers = [entry["answer"] for entry in json.loads(path.read_text())["search_results"]]
    assert answers == [REPLY[:35]] * 2
    assert chat.asked == 3
