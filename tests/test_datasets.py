"""Whole files of questions: what is written, what is kept, what an interruption leaves."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmachine import RagPipeline
from ragmachine.errors import DatasetError, IndexMissingError, StorageError
from ragmachine.models import Answer, SearchResult
from workspace import Workspace, in_child, read_only

QUESTIONS = [
    {"question_id": "q2", "question": "what is alpha?", "difficulty": "easy"},
    {"question_id": "q1", "question": "what is beta?"},
    {"question_id": "q3", "question": "the and of"},
    {"question_id": "q1", "question": ""},
]


@pytest.fixture
def indexed(project: Workspace) -> Workspace:
    """Three indexed files, and four questions in a dataset beside them."""
    project.write("a.md", "alpha is first\n")
    project.write("b.md", "beta is second, after alpha\n")
    project.write("c.md", "gamma\n")
    project.index()
    save(project.root / "questions.json", {"rag_questions": QUESTIONS})
    return project


def save(path: Path, document: Any) -> Path:
    """Write a JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def load(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def searched(project: Workspace, k: int = 10) -> Any:
    """Search the dataset; the document written."""
    out = project.root / "out"
    return load(project.pipeline().search_dataset(project.root / "questions.json", out, k))


# --- searching a dataset


def test_results_keep_ids_texts_and_order(indexed: Workspace) -> None:
    """One entry per question, in the order of the dataset, with both names for the text."""
    document = searched(indexed)
    assert document["k"] == 10
    entries = document["search_results"]
    assert [entry["question_id"] for entry in entries] == ["q2", "q1", "q3", "q1"]
    texts = [question["question"] for question in QUESTIONS]
    assert [entry["question"] for entry in entries] == texts
    assert [entry["question_str"] for entry in entries] == texts


def test_sources_have_the_contracts_form(indexed: Workspace) -> None:
    """Path from the project root and offsets; questions without evidence have no source."""
    entries = searched(indexed)["search_results"]
    assert entries[1]["retrieved_sources"] == [
        {"file_path": "corpus/b.md", "first_character_index": 0, "last_character_index": 27}
    ]
    assert [len(entry["retrieved_sources"]) for entry in entries] == [2, 1, 0, 0]


def test_at_most_k_sources_are_written(indexed: Workspace) -> None:
    """K limits every entry and is on record."""
    document = searched(indexed, k=1)
    assert document["k"] == 1
    assert len(document["search_results"][0]["retrieved_sources"]) == 1


def test_the_file_has_the_name_of_the_dataset(indexed: Workspace) -> None:
    """The results lie in the folder asked for, which is made when missing."""
    target = indexed.root / "new" / "folder"
    path = indexed.pipeline().search_dataset(indexed.root / "questions.json", target)
    assert path == target / "questions.json"
    assert os.listdir(target) == ["questions.json"]


def test_progress_counts_the_questions(indexed: Workspace) -> None:
    """(done, total) after every question."""
    seen: list[tuple[int, int]] = []
    indexed.pipeline().search_dataset(
        indexed.root / "questions.json",
        indexed.root / "out",
        on_question=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_the_dataset_is_never_overwritten(indexed: Workspace) -> None:
    """Results for the dataset's own folder are refused, by whatever name it is called."""
    dataset = indexed.root / "questions.json"
    before = dataset.read_bytes()
    (indexed.root / "link").symlink_to(indexed.root)
    for folder in (indexed.root, indexed.root / "link", indexed.root / "corpus" / ".."):
        with pytest.raises(DatasetError, match="overwrite"):
            indexed.pipeline().search_dataset(dataset, folder)
    assert dataset.read_bytes() == before


@pytest.mark.parametrize("questions", [QUESTIONS, []], ids=["questions", "no question"])
def test_without_an_index_nothing_is_written(
    project: Workspace, questions: list[dict[str, str]]
) -> None:
    """No index is an error, also for a dataset that asks nothing."""
    dataset = save(project.root / "questions.json", {"rag_questions": questions})
    with pytest.raises(IndexMissingError):
        project.pipeline().search_dataset(dataset, project.root / "out")
    assert not (project.root / "out").exists()


def test_a_missing_dataset_is_named(indexed: Workspace) -> None:
    """The error has the path, and no folder is made."""
    with pytest.raises(DatasetError, match=r"none\.json does not exist"):
        indexed.pipeline().search_dataset("none.json", indexed.root / "out")
    assert not (indexed.root / "out").exists()


def test_a_folder_that_cannot_be_written_is_a_storage_error(indexed: Workspace) -> None:
    """A clear error, and nothing half-written."""
    (indexed.root / "out").write_text("a file")
    with pytest.raises(StorageError, match="out"):
        searched(indexed)


def test_a_second_search_of_the_dataset_comes_from_the_cache(indexed: Workspace) -> None:
    """The batch writes what it learned, and the results are the same."""
    first = searched(indexed)
    assert indexed.pipeline().search("what is alpha?", 10).is_cached
    assert searched(indexed) == first


# --- answering a results file


class Fake:
    """An answerer that repeats the question, keeps count, and may be stopped.

    Attributes:
        asked: the questions, in order.
        stop_after: answers after which it raises KeyboardInterrupt.
    """

    def __init__(self, stop_after: int = 1000) -> None:
        self.asked: list[str] = []
        self.results: list[SearchResult] = []
        self.stop_after = stop_after
        self.mode, self.notice = "fake", ""

    def answer(self, result: SearchResult, *, on_token: object = None) -> Answer:
        """Repeat the question."""
        if len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked.append(result.query)
        self.results.append(result)
        return Answer(f"answer to {result.query!r} ü\u2028", self.mode, result, notice=self.notice)


Answering = Callable[[Fake], Path]


@pytest.fixture
def answering(indexed: Workspace, monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Answers the search results with a fake."""
    searched(indexed)

    def run(fake: Fake, **settings: Any) -> Path:
        monkeypatch.setattr(RagPipeline, "_answers", lambda self: fake)
        return indexed.pipeline(**settings).answer_dataset(
            indexed.root / "out" / "questions.json", indexed.root / "answers"
        )

    return run


def journal(project: Workspace) -> Path:
    """Where the answers of an unfinished run lie."""
    return project.root / "answers" / ".questions.json.partial"


def texts(path: Path) -> list[str]:
    """The answers of a finished file."""
    return [entry["answer"] for entry in load(path)["search_results"]]


EXPECTED = [f"answer to {question['question']!r} ü\u2028" for question in QUESTIONS]


def test_every_entry_gets_its_answer(answering: Answering) -> None:
    """In order, also where the same id or an empty question comes twice."""
    assert texts(answering(Fake())) == EXPECTED


def test_every_field_is_kept(indexed: Workspace, answering: Answering) -> None:
    """Fields that the product does not know stay, in the document, its entries and sources."""
    results = indexed.root / "out" / "questions.json"
    document = load(results)
    document["run"] = "seventh"
    document["search_results"][0]["difficulty"] = "easy"
    document["search_results"][0]["retrieved_sources"][0]["score"] = 0.5
    save(results, document)
    answered = load(answering(Fake()))
    added = {"answer", "answer_mode", "refused", "citations", "sentences"}
    for entry in answered["search_results"]:
        for name in added:
            del entry[name]
    assert answered == document


def test_an_older_answer_is_replaced(indexed: Workspace, answering: Answering) -> None:
    """Answering a file of answers gives new ones."""
    results = indexed.root / "out" / "questions.json"
    document = load(results)
    document["search_results"][0]["answer"] = "old"
    save(results, document)
    assert texts(answering(Fake())) == EXPECTED


def test_the_answerer_gets_the_text_of_the_sources(answering: Answering) -> None:
    """Hits are made from the sources on file, in their order, with their text."""
    fake = Fake()
    answering(fake)
    assert [hit.chunk.text for hit in fake.results[0].hits] == [
        "alpha is first",
        "beta is second, after alpha",
    ]
    assert [hit.rank for hit in fake.results[0].hits] == [1, 2]
    assert fake.results[2].hits == ()


def test_an_interrupted_run_is_resumed(indexed: Workspace, answering: Answering) -> None:
    """After Ctrl-C on the third question, only the last two are asked."""
    with pytest.raises(KeyboardInterrupt):
        answering(Fake(stop_after=2))
    assert not (indexed.root / "answers" / "questions.json").exists()
    fake = Fake()
    path = answering(fake)
    assert fake.asked == ["the and of", ""]
    assert texts(path) == EXPECTED
    assert not journal(indexed).exists()


def test_a_killed_run_is_resumed(indexed: Workspace, answering: Answering) -> None:
    """The same when the process ended without any chance to tidy up."""

    class Killed(Fake):
        def answer(self, result: SearchResult, *, on_token: object = None) -> Answer:
            if len(self.asked) == 2:
                os._exit(9)
            return super().answer(result)

    assert in_child(lambda: answering(Killed())) == 9
    fake = Fake()
    assert texts(answering(fake)) == EXPECTED
    assert len(fake.asked) == 2


@pytest.mark.parametrize("cut", [1, 5, 20], ids="{} bytes".format)
def test_a_line_cut_short_is_asked_again_and_again_resumable(
    indexed: Workspace, answering: Answering, cut: int
) -> None:
    """Killed within a write, twice: each whole line counts, and later lines are not lost."""
    with pytest.raises(KeyboardInterrupt):
        answering(Fake(stop_after=2))
    os.truncate(journal(indexed), journal(indexed).stat().st_size - cut)
    second = Fake(stop_after=2)
    with pytest.raises(KeyboardInterrupt):
        answering(second)
    assert second.asked == ["what is beta?", "the and of"]
    third = Fake()
    assert texts(answering(third)) == EXPECTED
    assert third.asked == [""]


@pytest.mark.parametrize(
    "settings",
    [{"model": "other:1b"}, {"llm": "ollama"}, {"context_chars": 500}, {"max_new_tokens": 7}],
    ids=lambda settings: next(iter(settings)),
)
def test_answers_under_other_settings_are_not_taken_over(
    indexed: Workspace, answering: Any, settings: dict[str, Any]
) -> None:
    """A journal written by another model, or with less to read, is put aside."""
    with pytest.raises(KeyboardInterrupt):
        answering(Fake(stop_after=2))
    fake = Fake()
    answering(fake, **settings)
    assert len(fake.asked) == 4


def test_answers_to_other_results_are_not_taken_over(
    indexed: Workspace, answering: Answering
) -> None:
    """When the results file has changed meanwhile, everything is asked again."""
    with pytest.raises(KeyboardInterrupt):
        answering(Fake(stop_after=2))
    searched(indexed, k=1)
    fake = Fake()
    assert texts(answering(fake)) == EXPECTED
    assert len(fake.asked) == 4


def test_answers_over_another_index_are_not_taken_over(
    indexed: Workspace, answering: Answering
) -> None:
    """When the files have changed and were indexed again, so has what answers rest on."""
    with pytest.raises(KeyboardInterrupt):
        answering(Fake(stop_after=2))
    indexed.write("a.md", "alpha is last\n")
    indexed.index()
    fake = Fake()
    answering(fake)
    assert len(fake.asked) == 4


@pytest.mark.parametrize("content", [b"", b"{", b"[1]\n", b"\xff\n", b"null\n{}\n"], ids=repr)
def test_a_journal_that_makes_no_sense_is_put_aside(
    indexed: Workspace, answering: Answering, content: bytes
) -> None:
    """A damaged journal costs time, not the run."""
    journal(indexed).parent.mkdir()
    journal(indexed).write_bytes(content)
    assert texts(answering(Fake())) == EXPECTED


def test_a_fall_back_is_not_remembered(indexed: Workspace, answering: Answering) -> None:
    """Quotations given because the model was away are asked again once it may be back."""
    fallen = Fake(stop_after=2)
    fallen.mode, fallen.notice = "extractive", "the model does not answer"
    with pytest.raises(KeyboardInterrupt):
        answering(fallen)
    fake = Fake()
    assert texts(answering(fake)) == EXPECTED
    assert len(fake.asked) == 4


def test_each_notice_is_given_once(
    indexed: Workspace, answering: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred questions to a missing model are one line of notice."""
    fake = Fake()
    fake.notice = "no model"
    monkeypatch.setattr(RagPipeline, "_answers", lambda self: fake)
    notices: list[str] = []
    seen: list[tuple[int, int]] = []
    indexed.pipeline().answer_dataset(
        indexed.root / "out" / "questions.json",
        indexed.root / "answers",
        on_question=lambda done, total: seen.append((done, total)),
        on_notice=notices.append,
    )
    assert notices == ["no model"]
    assert seen[-1] == (4, 4)


def test_results_that_cite_unknown_files_are_refused(
    indexed: Workspace, answering: Answering
) -> None:
    """Results of another corpus cannot be answered."""
    results = indexed.root / "out" / "questions.json"
    document = load(results)
    for entry in document["search_results"]:
        for source in entry["retrieved_sources"]:
            source["file_path"] = "elsewhere/x.md"
    save(results, document)
    with pytest.raises(DatasetError, match=r"none of the files.*index the corpus"):
        answering(Fake())
    assert not (indexed.root / "answers" / "questions.json").exists()


def test_an_entry_whose_files_are_gone_is_answered_as_unknown(
    indexed: Workspace, answering: Answering
) -> None:
    """One lost entry stops no other; a notice says so."""
    results = indexed.root / "out" / "questions.json"
    document = load(results)
    for source in document["search_results"][0]["retrieved_sources"]:
        source["file_path"] = "elsewhere/x.md"
    save(results, document)
    notices: list[str] = []
    answering(Fake())  # puts the fake in place
    indexed.pipeline().answer_dataset(results, indexed.root / "answers", on_notice=notices.append)
    assert (indexed.root / "answers" / "questions.json").exists()
    assert any("files that are gone" in notice for notice in notices)


def test_results_are_never_overwritten(indexed: Workspace, answering: Answering) -> None:
    """Answers for the results' own folder are refused, and the results stay as they are."""
    results = indexed.root / "out" / "questions.json"
    before = results.read_bytes()
    with pytest.raises(DatasetError, match="overwrite"):
        indexed.pipeline().answer_dataset(results, indexed.root / "out")
    assert results.read_bytes() == before


def test_without_an_index_no_answer_is_written(indexed: Workspace, answering: Answering) -> None:
    """The same as for a search."""
    shutil.rmtree(indexed.folder)
    with pytest.raises(IndexMissingError):
        answering(Fake())
    assert not (indexed.root / "answers").exists()


def test_a_folder_without_rights_is_refused_at_the_first_answer(
    indexed: Workspace, answering: Answering
) -> None:
    """Rather than after the last one."""
    fake = Fake()
    (indexed.root / "answers").mkdir()
    with read_only(indexed.root / "answers"), pytest.raises(StorageError, match="Permission"):
        answering(fake)
    assert len(fake.asked) == 1


def test_the_whole_way_without_a_model(indexed: Workspace) -> None:
    """Search a dataset and answer it by quotation, with nothing faked."""
    searched(indexed)
    path = indexed.pipeline().answer_dataset(
        indexed.root / "out" / "questions.json", indexed.root / "answers"
    )
    answers = texts(path)
    assert "alpha is first" in answers[0]
    assert all(answers)
