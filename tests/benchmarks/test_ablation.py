"""The script that measures the rows over all corpora."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
BENCHMARKS = CHECKOUT / "benchmarks"
SAMPLE = CHECKOUT / "data" / "datasets" / "AnsweredQuestions" / "sample.json"


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script as a module, its neighbours importable."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ablation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script in a project that has the sample and no other corpus."""
    module = script("ablation", monkeypatch)
    shutil.copytree(CHECKOUT / "data" / "sample", tmp_path / "data" / "sample")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    return module


def test_sets_go_with_their_corpus(
    ablation: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sets of a corpus that is not there are left out; those of other folders are added."""
    more = tmp_path / "more"
    more.mkdir()
    shutil.copy(SAMPLE, more / "sample_more.json")
    (folder,) = ablation.labelled_folders([more], "all")
    assert folder.target_dir == str(tmp_path / "data" / "sample")
    sets = [case.set for case in folder.cases]
    assert set(sets) == {"sample", "sample_more"}
    assert sets.count("sample") == sets.count("sample_more")
    assert capsys.readouterr().err.count("is not there: left out") == 3


def test_a_run_saves_numbers_table_and_plot_under_its_name(
    ablation: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The numbers say at which commit they were made, and hold the ranks of one half."""
    words = ["ablation.py", "--rows", "default", "--half", "tune", "--name", "mine"]
    monkeypatch.setattr(sys, "argv", words)
    assert ablation.main() == 0
    out = capsys.readouterr().out
    assert out.startswith("# Ablation\n")
    names = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert names == ["mine.json", "mine.md", "mine.svg"]
    document = json.loads((tmp_path / "results" / "mine.json").read_text(encoding="utf-8"))
    assert {"commit", "date", "cores", "processor"} <= document.keys()
    assert {question["half"] for question in document["questions"]} == {"tune"}
    (row,) = document["rows"]
    assert len(row["ranks"]) == len(document["questions"])


def test_the_readme_shows_ladder_and_conclusions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The saved measurement with its commit, and what it says in words."""
    tables = script("readme_tables", monkeypatch)
    saved = json.loads((BENCHMARKS / "results" / "ablation.json").read_text(encoding="utf-8"))
    text = tables.ablation()
    assert f"at commit {saved['commit']}" in text
    assert "| naive bm25s |" in text
    assert "\n- Named questions: " in text
