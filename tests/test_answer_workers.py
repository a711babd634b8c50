"""Answering a file of results: what an entry tells, several questions at a time, interruptions."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmachine import RagPipeline
from ragmachine.errors import ModelError
from ragmachine.models import Answer, Citation, SearchResult, Support
from workspace import Workspace, in_child

COUNT = 12
SPAN = Citation(1, "corpus/a.md", 0, 5, 1, 1)


class Slow:
    """An answerer that takes its time, and knows how many ask it at once.

    Attributes:
        asked: the questions, in the order in which they came.
        most: questions asked at the same time, at most.
        stop: what it does with a question before it answers.
    """

    def __init__(self, stop: Callable[[str], object] = lambda query: None) -> None:
        self.asked: list[str] = []
        self.most = 0
        self.stop = stop
        self._now = 0
        self._lock = threading.Lock()

    def answer(self, result: SearchResult, *, on_token: object = None) -> Answer:
        """Answer with the question's own number."""
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            self.asked.append(result.query)
        try:
            self.stop(result.query)
            time.sleep(0.02)
        finally:
            with self._lock:
                self._now -= 1
        sentence = Support(0, 3, "yes", True, 1.0, "", (1,), SPAN)
        text = f"yes to {result.query} [1]"
        return Answer(text, "fake", result, (SPAN,), sentences=(sentence,))


Run = Callable[..., dict[str, Any]]


@pytest.fixture
def results(project: Workspace) -> Path:
    """Twelve entries that cite one indexed file."""
    project.write("a.md", "alpha is first\n")
    project.index()
    source = {"file_path": "corpus/a.md", "first_character_index": 0, "last_character_index": 14}
    entries = [
        {"question_id": f"q{n}", "question": f"question {n}", "retrieved_sources": [source]}
        for n in range(COUNT)
    ]
    path = project.root / "results.json"
    path.write_text(json.dumps({"search_results": entries, "k": 1}))
    return path


@pytest.fixture
def run(project: Workspace, results: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Answers them with a fake."""

    def answer(fake: Slow, **options: Any) -> dict[str, Any]:
        monkeypatch.setattr(RagPipeline, "_answers", lambda self: fake)
        path = project.pipeline().answer_dataset(results, project.root / "answers", **options)
        document: dict[str, Any] = json.loads(path.read_text())
        return document

    return answer


def journal(project: Workspace) -> Path:
    """Where the answers of an unfinished run lie."""
    return project.root / "answers" / ".results.json.partial"


def texts(document: dict[str, Any]) -> list[str]:
    """The answers in their order."""
    return [entry["answer"] for entry in document["search_results"]]


EXPECTED = [f"yes to question {n} [1]" for n in range(COUNT)]


def test_an_entry_tells_what_its_answer_rests_on(run: Run) -> None:
    """The spans that its numbers name, and a verdict on each sentence."""
    entry = run(Slow())["search_results"][0]
    assert entry["citations"] == [SPAN.to_json()]
    (sentence,) = entry["sentences"]
    assert (sentence["supported"], sentence["span"]) == (True, SPAN.to_json())
    assert (entry["answer_mode"], entry["refused"]) == ("fake", False)


def test_a_resumed_entry_tells_the_same(run: Run) -> None:
    """All of it is kept in the journal."""
    whole = run(Slow())

    def stop(query: str) -> None:
        if query == "question 5":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Slow(stop))
    again = Slow()
    assert run(again) == whole
    assert again.asked == [f"question {n}" for n in range(5, COUNT)]


def test_by_default_one_question_is_asked_at_a_time(run: Run) -> None:
    """In order."""
    fake = Slow()
    assert texts(run(fake)) == EXPECTED
    assert fake.most == 1
    assert fake.asked == [f"question {n}" for n in range(COUNT)]


def test_workers_ask_at_the_same_time(run: Run) -> None:
    """As many as were asked for, and the file keeps its order."""
    fake, seen = Slow(), []
    document = run(fake, workers=4, on_question=lambda done, total: seen.append((done, total)))
    assert texts(document) == EXPECTED
    assert 2 <= fake.most <= 4
    assert sorted(fake.asked) == sorted(f"question {n}" for n in range(COUNT))
    assert seen == [(n, COUNT) for n in range(1, COUNT + 1)]


@pytest.mark.parametrize("workers", [1, 4])
def test_a_failure_ends_the_run_and_keeps_what_was_answered(
    project: Workspace, run: Run, workers: int
) -> None:
    """The next run asks only what is left; nobody is asked after the failure for long."""

    def stop(query: str) -> None:
        if query == "question 3":
            raise ModelError("the model is gone")

    with pytest.raises(ModelError, match="the model is gone"):
        run(Slow(stop), workers=workers)
    assert not (project.root / "answers" / "results.json").exists()
    kept = len(journal(project).read_bytes().splitlines()) - 1
    assert kept >= 1
    fake = Slow()
    assert texts(run(fake, workers=workers)) == EXPECTED
    assert len(fake.asked) == COUNT - kept
    assert not journal(project).exists()


def test_workers_killed_are_resumed(project: Workspace, run: Run) -> None:
    """The process ended amid four questions: what was written down is not asked again."""

    def stop(query: str) -> None:
        if query == "question 9":
            time.sleep(0.1)
            os._exit(9)

    assert in_child(lambda: run(Slow(stop), workers=4)) == 9
    kept = len(journal(project).read_bytes().splitlines()) - 1
    assert kept >= 1
    fake = Slow()
    assert texts(run(fake, workers=4)) == EXPECTED
    assert len(fake.asked) == COUNT - kept


def test_a_journal_of_another_form_is_asked_again(project: Workspace, run: Run) -> None:
    """As an earlier version wrote it: without what its answers rest on."""

    def stop(query: str) -> None:
        if query == "question 2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Slow(stop))
    head = journal(project).read_bytes().splitlines(keepends=True)[0]
    journal(project).write_bytes(head + b'{"position": 0, "answer": "old"}\n')
    fake = Slow()
    assert texts(run(fake)) == EXPECTED
    assert len(fake.asked) == COUNT


def test_real_answers_are_the_same_with_and_without_workers(
    project: Workspace, results: Path
) -> None:
    """Quotations made by several threads over one index."""
    documents = []
    for workers in (1, 4):
        folder = project.root / f"with-{workers}"
        path = project.pipeline().answer_dataset(results, folder, workers=workers)
        documents.append(json.loads(path.read_text()))
    assert documents[0] == documents[1]
