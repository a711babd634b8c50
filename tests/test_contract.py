"""What other programs expect of ours: the evaluator reads our files and agrees with our scores."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
SAMPLE = CHECKOUT / "data" / "sample"
ANSWERED = CHECKOUT / "data" / "datasets" / "AnsweredQuestions" / "sample.json"
EVALUATOR = CHECKOUT / "moulinette_pkg"
FOREIGN_IMPORT = re.compile(r"^(?:import|from) moulinette", re.MULTILINE)
K = 10
MOST_CHARS = 2000


def run(*words: object, folder: Path = CHECKOUT) -> str:
    """What a program prints on stdout; it must end well."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**kept, "XDG_CONFIG_HOME": os.devnull, "PYTHON": sys.executable},
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def ours(*words: object) -> str:
    """Run our program as a grader does."""
    return run(sys.executable, "-m", "src", *words)


def recall_lines(text: str) -> dict[str, str]:
    """``Recall@5 = 0.612 (61.2%)`` by its left side."""
    return dict(re.findall(r"^(Recall@\d+) = (\d\.\d{3} \(\d+\.\d%\))", text, re.MULTILINE))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results file of the bundled sample."""
    folder = tmp_path_factory.mktemp("sample")
    place = ("--index_dir", folder / "index")
    ours("index", "--max_chunk_size", MOST_CHARS, "--target_dir", SAMPLE, *place)
    words = ("--dataset_path", ANSWERED, "--k", K, "--save_directory", folder / "out")
    ours("search_dataset", *words, *place)
    return folder / "out" / "sample.json"


@pytest.fixture(scope="module")
def document(results: Path) -> dict[str, Any]:
    """The results file, parsed."""
    parsed: dict[str, Any] = json.loads(results.read_bytes())
    return parsed


@pytest.mark.parametrize(
    ("program", "folder"),
    [
        ([EVALUATOR / "moulinette-ubuntu"], CHECKOUT),
        ([sys.executable, "-m", "moulinette"], EVALUATOR),
    ],
    ids=["executable", "module"],
)
def test_both_evaluators_print_the_same_recall(
    results: Path, program: list[object], folder: Path
) -> None:
    """Recall@1, 3, 5 and 10 agree to the last digit, and say something."""
    words = ("evaluate_student_search_results", results, ANSWERED, "--k", K)
    theirs = recall_lines(run(*program, *words, folder=folder))
    assert list(theirs) == ["Recall@1", "Recall@3", "Recall@5", "Recall@10"]
    assert recall_lines(ours("evaluate", results, ANSWERED, "--k", K)) == theirs
    assert float(theirs["Recall@10"].split()[0]) > 0.3


def test_the_evaluator_finds_nothing_to_complain_about(results: Path) -> None:
    """No source too many or too long, no unknown id."""
    words = ("evaluate_student_search_results", results, ANSWERED, "--k", K)
    assert "Problems: none" in run(EVALUATOR / "moulinette-ubuntu", *words)


def test_the_evaluator_lists_every_question(results: Path) -> None:
    """Its other command reads the same file."""
    listed = run(EVALUATOR / "moulinette-ubuntu", "list_valid_questions", results, ANSWERED)
    questions = json.loads(ANSWERED.read_bytes())["rag_questions"]
    assert re.search(rf"^Summary: \d+/{len(questions)} questions valid$", listed, re.MULTILINE)


def test_results_have_an_entry_per_question_in_order(document: dict[str, Any]) -> None:
    """Both names of the text are written, and k."""
    questions = json.loads(ANSWERED.read_bytes())["rag_questions"]
    entries = document["search_results"]
    assert [entry["question_id"] for entry in entries] == [q["question_id"] for q in questions]
    texts = [question["question"] for question in questions]
    assert [entry["question"] for entry in entries] == texts
    assert [entry["question_str"] for entry in entries] == texts
    assert document["k"] == K


def test_sources_are_spans_of_files_named_from_the_project_root(document: dict[str, Any]) -> None:
    """At most k of them, at most 2,000 characters each, inside the untranslated text."""
    texts: dict[str, str] = {}
    for entry in document["search_results"]:
        assert len(entry["retrieved_sources"]) <= K
        for source in entry["retrieved_sources"]:
            name = source["file_path"]
            assert name.startswith("data/sample/")
            if name not in texts:
                texts[name] = (CHECKOUT / name).read_bytes().decode("utf-8")
            start, end = source["first_character_index"], source["last_character_index"]
            assert 0 <= start < end <= len(texts[name])
            assert end - start <= MOST_CHARS
            assert texts[name][start:end].strip()


def python_files() -> list[Path]:
    """Every Python file of the repository, installed packages and corpora left out."""
    found = []
    for folder, names, files in os.walk(CHECKOUT):
        names[:] = [name for name in names if not name.startswith(".") and name != "__pycache__"]
        if Path(folder) == CHECKOUT:
            names[:] = [name for name in names if name not in ("data", "build", "dist", "venv")]
        found += [Path(folder, name) for name in files if name.endswith(".py")]
    return found


def test_no_file_imports_the_evaluator() -> None:
    """Graders look for such lines; the two programs meet in JSON files only."""
    files = python_files()
    assert len(files) > 50
    guilty = [path for path in files if FOREIGN_IMPORT.search(path.read_text(encoding="utf-8"))]
    assert guilty == []
