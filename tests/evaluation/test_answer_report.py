"""A file of answers against a dataset: counts, means, warnings."""

from __future__ import annotations

from typing import Any

import pytest

from ragmachine.errors import DatasetError
from ragmachine.evaluation import answer_report
from ragmachine.evaluation.answer_report import evaluate_answers
from ragmachine.exchange import AnswerEntry, Dataset, Question, SearchEntry, SearchResults, Source

SOURCE = Source(file_path="a", first_character_index=0, last_character_index=100)
DATASET = Dataset(
    rag_questions=(
        Question(question_id="found", question="a?", answer="It is 5.", sources=(SOURCE,)),
        Question(question_id="lost", question="b?", answer="It is 6.", sources=(SOURCE,)),
        Question(question_id="none", question="c?"),
    )
)
ANSWERS = {"found": "It is 5 [1].", "lost": "I don't know.", "none": "I don't know."}


def answers(texts: dict[str, str], *, found: tuple[str, ...] = ("found",)) -> SearchResults:
    """An answers file; the questions named in `found` retrieved the true source."""
    return SearchResults(
        search_results=tuple(
            AnswerEntry(
                question_id=name, question="?", answer=text,
                retrieved_sources=(SOURCE,) if name in found else (),
            )
            for name, text in texts.items()
        ),
        k=10,
    )  # fmt: skip


def test_counts_and_means() -> None:
    """Over all questions, and over those whose source was retrieved."""
    document = evaluate_answers(answers(ANSWERS), DATASET).to_json()
    assert (document["questions"], document["answered"], document["unanswerable"]) == (3, 3, 1)
    assert document["source_retrieved"] == 1
    assert document["refused"] == {"right": 1, "wrong": 1}
    every, found = document["measures"], document["measures_where_source_retrieved"]
    assert (every["key_values"]["mean"], every["key_values"]["n"]) == (0.5, 2)
    assert (found["key_values"]["mean"], found["key_values"]["n"]) == (1.0, 1)
    assert every["false_refusals"]["mean"] == 0.5
    assert every["refusal_precision"]["mean"] == 0.5
    assert every["refusal_recall"]["mean"] == 1.0
    assert found["refusal_recall"] is None
    assert [row["question_id"] for row in document["rows"]] == ["found", "lost", "none"]


def test_the_text_has_a_line_for_each_measure() -> None:
    """With both columns, intervals and n; a dash where a measure applies to nothing."""
    lines = evaluate_answers(answers(ANSWERS), DATASET).to_text().splitlines()
    row = next(line for line in lines if line.startswith("Key values"))
    assert row.endswith("  0.500 [0.00, 1.00] n=2  1.000 [1.00, 1.00] n=1")
    assert next(line for line in lines if line.startswith("Unanswerable")).endswith("-")
    assert "Refusals: 1 right, 1 wrong" in lines


def test_verbose_names_what_went_wrong() -> None:
    """A wrong refusal, a lacking value and an invention, each with its reason."""
    texts = {"found": "It is 4.", "lost": "I don't know.", "none": "It is 7."}
    text = evaluate_answers(answers(texts), DATASET).to_text(verbose=True)
    assert "a?: lacks 5; source retrieved" in text
    assert "b?: refused; source not retrieved" in text
    assert "c?: unanswerable, and answered" in text
    assert "lacks" not in evaluate_answers(answers(texts), DATASET).to_text()


def test_missing_and_foreign_entries_are_told() -> None:
    """And count 0."""
    report = evaluate_answers(answers({"found": "It is 5.", "other": "x"}), DATASET)
    assert "2 of the questions have no answer and count 0" in report.warnings
    assert "1 of the entries answer no question of the set" in report.warnings
    assert report.to_json()["measures"]["key_values"]["mean"] == 0.5


def test_a_set_without_answers_and_sources_is_one_of_refusals() -> None:
    """It says that nothing else is measured."""
    only = Dataset(rag_questions=(Question(question_id="none", question="c?"),))
    report = evaluate_answers(answers({"none": "I don't know."}), only)
    assert any("only refusals are measured" in warning for warning in report.warnings)
    assert report.to_json()["measures"]["refusal_recall"]["mean"] == 1.0


@pytest.mark.parametrize("more", [{}, {"sentences": [{"supported": True}]}], ids=["none", "some"])
def test_answers_without_verdicts_are_told(more: dict[str, Any]) -> None:
    """That no sentence is unsupported says nothing where nobody looked."""
    entry = AnswerEntry(question_id="found", question="a?", answer="It is 5.", **more)
    report = evaluate_answers(SearchResults(search_results=(entry,), k=1), DATASET)
    warned = any("which of its sentences are supported" in line for line in report.warnings)
    assert warned is not bool(more)


def test_what_to_type_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """ROUGE-L is the only measure that needs one."""
    monkeypatch.setattr(answer_report, "has_rouge", lambda: False)
    report = evaluate_answers(answers(ANSWERS), DATASET)
    assert any("--extra measure" in warning for warning in report.warnings)


def test_results_without_answers_are_refused() -> None:
    """With the command that makes some."""
    entry = SearchEntry(question_id="found", question="a?")
    with pytest.raises(DatasetError, match=r"holds an answer.*answer_dataset"):
        evaluate_answers(SearchResults(search_results=(entry,), k=1), DATASET)


def test_answers_to_another_dataset_are_refused() -> None:
    """None of the ids is known."""
    with pytest.raises(DatasetError, match="another dataset"):
        evaluate_answers(answers({"other": "x"}), DATASET)
