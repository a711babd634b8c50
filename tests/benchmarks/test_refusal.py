"""The script that measures refusals and the check of sentences."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ragmachine.exchange import read_dataset
from ragmachine.settings import Settings

CHECKOUT = Path(__file__).resolve().parents[2]
BENCHMARKS = CHECKOUT / "benchmarks"
QUESTIONS = CHECKOUT / "data" / "datasets" / "unanswerable" / "questions.json"


@pytest.fixture
def refusal(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, its neighbours importable."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("refusal", BENCHMARKS / "refusal.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "refusal", module)
    spec.loader.exec_module(module)
    return module


def cases(refusal: ModuleType, **strengths: list[float]) -> list[Any]:
    """Cases of the groups, with these strengths."""
    return [
        refusal.Case("?", group, "", "tune", strength, ())
        for group, given in strengths.items()
        for strength in given
    ]


def test_the_unanswerable_questions_are_a_dataset() -> None:
    """Each once, without answer or source, its corpus and kind among those that are known."""
    questions = read_dataset(QUESTIONS).rag_questions
    assert len({question.question for question in questions}) == len(questions) >= 80
    assert not any(question.sources or question.answer for question in questions)
    extras = [question.model_extra or {} for question in questions]
    assert {extra["corpus"] for extra in extras} == {"sample", "vllm", "numpy", "sqlalchemy"}
    kinds = {"missing thing", "missing fact", "other project", "other subject"}
    assert {extra["kind"] for extra in extras} == kinds


def test_the_threshold_refuses_one_in_ten_at_most(refusal: ModuleType) -> None:
    """Of the answerable ones, and no more than its recall needs; what is at it is answered."""
    named, paraphrased = [0.9] * 10, [0.5] * 7 + [0.1, 0.2, 0.3]
    given = cases(refusal, named=named, paraphrased=paraphrased, unanswerable=[0.1, 0.25, 0.4])
    # at most two of twenty: up to .3; of those, .26 is the first that refuses two of three
    assert refusal.chosen(given) == 0.26


def test_the_fit_finds_what_tells_them_apart(refusal: ModuleType) -> None:
    """Coverage speaks for an answer, a heavy word against it; missing names are left out."""

    def case(group: str, coverage: float, heaviest: float, *missing: str) -> Any:
        evidence = refusal.Evidence(coverage, heaviest)
        return refusal.Case("?", group, "", "tune", 0.5, missing, evidence=evidence)

    answerable = [case("named", c, h) for c in (0.5, 0.7, 0.9) for h in (0.0, 0.1, 0.2)]
    others = [case("unanswerable", c, h) for c in (0.3, 0.5, 0.7) for h in (0.2, 0.4)]
    fitted = refusal.fitted([*answerable, *others])
    assert fitted[1] > 0 > fitted[2]
    assert refusal.fitted([*answerable, *others, case("unanswerable", 1.0, 0.0, "x")]) == fitted


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is not used.", "It is used."),
        ("It cannot run.", "It can run."),
        ("It may run and is fast.", "It may not run and is fast."),
        ("Three.", ""),
    ],
    ids=["not", "cannot", "put in", "nothing to turn"],
)
def test_a_negation_is_turned(refusal: ModuleType, answer: str, expected: str) -> None:
    """Taken out where there is one, else put in once."""
    assert sys.modules["spoiling"].turned(answer) == expected


def test_a_unit_is_changed(refusal: ModuleType) -> None:
    """For another of its kind; what is no measure stays."""
    spoiling = sys.modules["spoiling"]
    assert spoiling.other_unit("Wait 30 seconds.") == "Wait 30 minutes."
    assert spoiling.other_unit("Take 3 of them.") == ""


def test_precision_and_recall(refusal: ModuleType) -> None:
    """Two of four unanswerable, one of ten paraphrased: 2/3 of these, 10/19 where 1 in 10 is."""
    given = cases(
        refusal, named=[0.9] * 10, paraphrased=[0.1] + [0.9] * 9, unanswerable=[0.1, 0.1, 0.5, 0.5]
    )
    row = refusal.row(given, 0.2)
    assert row["refused"] == {"named": "0/10", "paraphrased": "1/10", "unanswerable": "2/4"}
    assert (row["recall"], row["precision"]) == (0.5, 0.667)
    # .1 * .5 = .05 right, .9 * (0 + .1) / 2 = .045 wrong
    assert row["precision, 1 in 10 unanswerable"] == 0.526


def test_nothing_refused_has_no_precision(refusal: ModuleType) -> None:
    """Nought by nought."""
    row = refusal.row(cases(refusal, named=[0.9], paraphrased=[0.9], unanswerable=[0.9]), 0.2)
    assert (row["precision"], row["recall"]) == (None, 0.0)


def test_a_run_measures_the_corpora_that_are_there(
    refusal: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Both halves, before and after; saved with where it comes from."""
    machine = sys.modules["machine"]
    shutil.copytree(CHECKOUT / "data" / "sample", tmp_path / "data" / "sample")
    for name in ("ROOT", "RESULTS"):
        monkeypatch.setattr(machine, name, tmp_path if name == "ROOT" else tmp_path / "results")
    monkeypatch.setattr(refusal, "ROOT", tmp_path)
    monkeypatch.setenv("RAG_PROJECT_ROOT", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["refusal", "--name", "tried"])
    assert refusal.main() == 0
    document = json.loads((tmp_path / "results" / "tried.json").read_text(encoding="utf-8"))
    assert document["shipped"] == Settings().refuse_below
    for half in ("tune", "report"):
        assert [row["threshold"] for row in document["before"][half]["thresholds"]][:2] == [
            0.05,
            0.1,
        ]
        assert document["after"][half].keys() >= {"as written", "another question's"}
    assert "processor" in document
    assert capsys.readouterr().err.count("is not there") == 3
