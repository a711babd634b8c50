"""``evaluate_answers``: from questions to measures, checked against the independent evaluator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from house import CHECKOUT, House, Program

from ragmachine.evaluation import answer_report, answer_scores

LAUNCHER = CHECKOUT / "moulinette_pkg" / "moulinette-ubuntu"
SHARED = {
    "token_f1": "token_f1",
    "rouge_l": "rouge_l_f1",
    "key_values": "key_values",
    "citation_precision": "citation_precision",
    "citation_recall": "citation_recall",
    "unsupported": "unsupported",
    "refusal_precision": "refusal_precision",
    "refusal_recall": "refusal_recall",
}


@pytest.fixture(scope="module")
def answered(house: House, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``truth.json`` and ``answers/truth.json``, made by the program itself."""
    folder = tmp_path_factory.mktemp("answered")
    page, module = "corpus/docs/cache.md", "corpus/lib/scheduler.py"
    truth = house.answered(
        "truth",
        ("What sizes the KV cache?", page, "The KV cache is sized by gpu_memory_utilization"),
        ("What does evict give back?", module, "def evict(block)"),
        ("How long does the calibration of pump 7 take?", "corpus/docs/ledger.md", "of pump 7"),
    )
    questions = truth["rag_questions"]
    for question, answer in zip(
        questions, ("By `gpu_memory_utilization`.", "The oldest block.", "7 minutes"), strict=True
    ):
        question["answer"] = answer
    questions[2]["key_values"] = ["7 minutes"]
    unanswerable = "Which colour has the zebra enclosure of Frankfurt?"
    questions.append({"question_id": "none", "question": unanswerable, "sources": []})
    (folder / "truth.json").write_text(json.dumps(truth))
    options = {"cwd": CHECKOUT, "check": True, "timeout": 60, "capture_output": True}
    environment = {**os.environ, **house.environment}
    for words in (
        ["search_dataset", folder / "truth.json", "--save_directory", folder / "found"],
        ["answer_dataset", folder / "found" / "truth.json", "--llm", "extractive",
         "--save_directory", folder / "answers"],
    ):  # fmt: skip
        subprocess.run([sys.executable, "-m", "src", *words], env=environment, **options)
    return folder


def measured(program: Program, folder: Path) -> Any:
    """The report on the answers, as a document."""
    words = [str(folder / "answers" / "truth.json"), str(folder / "truth.json")]
    return program.run("evaluate_answers", *words, "--json").document()


def test_a_whole_run(program: Program, answered: Path) -> None:
    """Search, answer, measure: the quotations hold the values, and the odd one out is refused."""
    document = measured(program, answered)
    assert (document["questions"], document["answered"], document["unanswerable"]) == (4, 4, 1)
    assert document["refused"] == {"right": 1, "wrong": 0}
    assert document["measures"]["key_values"]["mean"] == 1.0
    assert document["measures"]["refusal_recall"]["mean"] == 1.0
    assert document["measures"]["unsupported"]["mean"] == 0.0
    assert document["warnings"] == []


def test_the_independent_evaluator_agrees(program: Program, answered: Path) -> None:
    """Written apart, it finds the same values for each question, and so the same means."""
    words = [answered / "answers" / "truth.json", answered / "truth.json", "--json"]
    done = subprocess.run(
        [LAUNCHER, "evaluate_student_answers", *words],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        check=True,
        timeout=60,
    )
    theirs, ours = json.loads(done.stdout), measured(program, answered)
    assert len(ours["rows"]) == len(theirs["questions"])
    for our_row, their_row in zip(ours["rows"], theirs["questions"], strict=True):
        for name, their_name in SHARED.items():
            assert our_row[name] == pytest.approx(their_row[their_name]), name
        assert our_row["has_source"] == their_row["is_source_retrieved"]
    found = theirs["measures_where_source_retrieved"]
    assert ours["measures_where_source_retrieved"]["token_f1"]["mean"] == pytest.approx(
        found["token_f1"]["mean"]
    )


@pytest.mark.parametrize(
    "name", ["answers_path", "student_answer_path", "student-search-results-path"]
)
def test_files_by_name(program: Program, answered: Path, name: str) -> None:
    """In every spelling that the evaluator takes as well."""
    answers, truth = answered / "answers" / "truth.json", answered / "truth.json"
    outcome = program.run("evaluate_answers", f"--{name}={answers}", f"--dataset_path={truth}")
    outcome.assert_tidy()
    assert outcome.out.startswith("4 questions: 4 with an answer, 1 unanswerable")


def test_without_its_library_the_other_measures_are_printed(
    program: Program, answered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the command that installs it."""
    monkeypatch.setattr(answer_scores, "has_rouge", lambda: False)
    monkeypatch.setattr(answer_report, "has_rouge", lambda: False)
    words = [str(answered / "answers" / "truth.json"), str(answered / "truth.json")]
    outcome = program.run("evaluate_answers", *words)
    outcome.assert_tidy()
    assert "uv sync --extra measure" in outcome.out
    assert "Token F1" in outcome.out


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ("sets/docs.json", "are not swapped"),
        ("results/docs.json", "answer_dataset"),
        ("results/code.json", "another dataset"),
        ("sets/blank.json", "the file is empty"),
        ("sets/latin.json", "not UTF-8"),
        ("nowhere.json", "does not exist"),
    ],
)
def test_other_files_are_refused(program: Program, answers: str, words: str) -> None:
    """In one line that says why."""
    root = program.house.root
    outcome = program.run("evaluate_answers", f"{root}/{answers}", f"{root}/sets/docs.json")
    assert outcome.code == 1
    outcome.assert_tidy()
    assert words in outcome.err


def test_a_dataset_is_required(program: Program) -> None:
    """Said before anything is read."""
    outcome = program.run("evaluate_answers", "nowhere.json")
    assert outcome.code == 2
    outcome.assert_tidy()
