"""The commands as a process: their output, exit codes and one-line errors."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .builders import Completed, entry, question, source, write_pair

Run = Callable[..., Completed]

EVALUATE, LIST = "evaluate_student_search_results", "list_valid_questions"
ANSWERS = "evaluate_student_answers"
COMMANDS = (EVALUATE, LIST, ANSWERS)

HIT, MISS = source("a.md", 0, 100), source("x.md", 0, 100)


def write_ranks(folder: Path, *ranks: int) -> None:
    """One question per rank, its true source retrieved there; rank 0 is not retrieved."""
    ids = [f"q{i}" for i in range(len(ranks))]
    entries = [
        entry(
            name, *([MISS] * (rank - 1 if rank else 10)), *([HIT] if rank else []), answer="a [1]"
        )
        for name, rank in zip(ids, ranks, strict=True)
    ]
    write_pair(folder, [question(name, HIT, answer="a") for name in ids], entries)


def test_recall_lines(moulinette: Run, tmp_path: Path) -> None:
    """Recall at each cut-off is the mean over the questions, in the agreed form."""
    write_ranks(tmp_path, 1, 3, 5, 10, 0, 1, 1, 1)
    done = moulinette(EVALUATE, "r.json", "d.json")
    assert (done.code, done.stderr) == (0, "")
    assert done.lines == [
        "Results: r.json: 8 entries",
        "Dataset: d.json: 8 questions, 8 with a true source",
        "Matched: 8/8 questions have an entry",
        "Problems: none",
        "Recall@1 = 0.500 (50.0%)",
        "Recall@3 = 0.625 (62.5%)",
        "Recall@5 = 0.750 (75.0%)",
        "Recall@10 = 0.875 (87.5%)",
    ]


def test_cutoffs_follow_k(moulinette: Run, tmp_path: Path) -> None:
    """Only the first k sources are scored, and cut-offs above k are not printed."""
    write_ranks(tmp_path, 1, 5)
    done = moulinette(EVALUATE, "r.json", "d.json", "4")
    assert [line for line in done.lines if line.startswith("Recall")] == [
        "Recall@1 = 0.500 (50.0%)",
        "Recall@3 = 0.500 (50.0%)",
        "Recall@4 = 0.500 (50.0%)",
    ]
    problem = "  entries with more than 4 sources, only the first 4 are scored: 1 (first: q1)"
    assert problem in done.lines


@pytest.mark.parametrize(
    ("threshold", "code", "line"),
    [
        pytest.param("0.75", 0, "PASS: Recall@5 = 0.7500, threshold 0.75", id="equal passes"),
        pytest.param("0.76", 1, "FAIL: Recall@5 = 0.7500, threshold 0.76", id="above fails"),
    ],
)
def test_threshold(moulinette: Run, tmp_path: Path, threshold: str, code: int, line: str) -> None:
    """The verdict is the last line, and the exit code says the same."""
    write_ranks(tmp_path, 1, 3, 5, 10)
    done = moulinette(EVALUATE, "r.json", "d.json", "--threshold", threshold)
    assert (done.code, done.lines[-1]) == (code, line)


def test_long_span_is_reported_and_not_found(moulinette: Run, tmp_path: Path) -> None:
    """A source over --max_context_length scores nothing, and the report says so."""
    write_pair(tmp_path, [question("q", HIT)], [entry("q", HIT)])
    done = moulinette(EVALUATE, "r.json", "d.json", "--max-context-length=99")
    problem = "  sources longer than 99 characters, they do not count as found: 1 (first: q)"
    assert problem in done.lines
    assert "Recall@1 = 0.000 (0.0%)" in done.lines
    default = moulinette(EVALUATE, "r.json", "d.json")
    assert "Recall@1 = 1.000 (100.0%)" in default.lines


@pytest.mark.parametrize(
    ("options", "mode", "valid"),
    [
        pytest.param([], "all_sources", 1, id="default"),
        pytest.param(["--require_all_sources"], "all_sources", 1, id="bare name"),
        pytest.param(["--require_all_sources", "False"], "any_source", 2, id="any"),
        pytest.param(["10", "false"], "any_source", 2, id="by position"),
        pytest.param(["--minimal_iou_threshold", "1"], "all_sources", 0, id="overlap of 1"),
    ],
)
def test_list_valid_questions(
    moulinette: Run, tmp_path: Path, options: list[str], mode: str, valid: int
) -> None:
    """One marked line per question, the mode before them, the summary after."""
    other = source("b.md", 0, 100)
    questions = [question("one", HIT), question("two", HIT, other), question("six", other)]
    write_pair(tmp_path, questions, [entry("one", HIT), entry("two", HIT), entry("six")])
    done = moulinette(LIST, "r.json", "d.json", *options)
    assert done.code == 0
    assert done.lines[0].startswith(f"Mode: {mode} ")
    assert [line.split("] ")[1] for line in done.lines[1:-1]] == [
        f'{name} "what is {name}?"' for name in ("one", "two", "six")
    ]
    assert [line.startswith("[VALID] ") for line in done.lines[1:-1]].count(True) == valid
    assert done.lines[-1] == f"Summary: {valid}/3 questions valid"


def test_question_stays_on_one_line(moulinette: Run, tmp_path: Path) -> None:
    """Breaks become spaces, control characters and lone surrogates are escaped."""
    odd = {"question_id": "q", "question": "a\r\nb\u2028c\x1b[1m\ud800 é", "sources": []}
    write_pair(tmp_path, [odd], [{**odd, "retrieved_sources": []}])
    done = moulinette(LIST, "r.json", "d.json")
    assert done.lines[1] == '[VALID] q "a b c\\x1b[1m\\ud800 é"'


def test_answer_report(moulinette: Run, tmp_path: Path) -> None:
    """Each measure is printed with its n and interval, or as not applicable."""
    questions = [question("q", HIT, answer="It keeps 16"), question("r", HIT)]
    answers = [
        entry("q", HIT, answer="It keeps 16 [1]."),
        entry("r", HIT, answer="I do not know."),
    ]
    write_pair(tmp_path, questions, answers)
    done = moulinette(ANSWERS, "r.json", "d.json")
    assert (done.code, done.stderr) == (0, "")
    assert done.lines[4:] == [
        "Token F1 = 1.000 (n = 1, 95% interval 1.000 to 1.000)",
        "ROUGE-L F1 = 1.000 (n = 1, 95% interval 1.000 to 1.000)",
        "Key values = 1.000 (n = 1, 95% interval 1.000 to 1.000)",
        "Citation precision = 1.000 (n = 1, 95% interval 1.000 to 1.000)",
        "Citation recall = 0.500 (n = 2, 95% interval 0.000 to 1.000)",
        "Unsupported sentences = n/a (n = 0)",
        "Refusals: 1 of 2: 0 right, 1 wrong",
        "Refusal precision = 0.000 (n = 1, 95% interval 0.000 to 0.000)",
        "Refusal recall = n/a (n = 0)",
        "Where a true source was retrieved (n = 2):",
        "  Token F1 = 1.000 (n = 1, 95% interval 1.000 to 1.000)",
        "  ROUGE-L F1 = 1.000 (n = 1, 95% interval 1.000 to 1.000)",
        "  Key values = 1.000 (n = 1, 95% interval 1.000 to 1.000)",
        "  Citation precision = 1.000 (n = 1, 95% interval 1.000 to 1.000)",
        "  Citation recall = 0.500 (n = 2, 95% interval 0.000 to 1.000)",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_one_document(moulinette: Run, tmp_path: Path, command: str) -> None:
    """--json prints one JSON document with a row per question, and nothing else."""
    write_ranks(tmp_path, 1, 0)
    done = moulinette(command, "r.json", "d.json", "--json")
    document: dict[str, Any] = json.loads(done.stdout)
    assert (done.code, done.stderr) == (0, "")
    assert (document["command"], document["matched"], document["k"]) == (command, 2, 10)
    assert [row["question_id"] for row in document["questions"]] == ["q0", "q1"]


def test_json_of_search_results(moulinette: Run, tmp_path: Path) -> None:
    """The document holds the recalls, the verdict and the issues; the exit code stays."""
    write_ranks(tmp_path, 1, 3)
    done = moulinette(EVALUATE, "r.json", "d.json", "3", "--json")
    document = json.loads(done.stdout)
    assert document["recall"] == {"1": 0.5, "3": 1.0}
    assert document["passed"] is None
    failed = moulinette(EVALUATE, "r.json", "d.json", "--json", "--threshold", "1", "--k", "5")
    assert (failed.code, json.loads(failed.stdout)["passed"]) == (0, True)
    write_ranks(tmp_path, 1, 0)
    failed = moulinette(EVALUATE, "r.json", "d.json", "--json", "--threshold", "1")
    assert (failed.code, json.loads(failed.stdout)["passed"]) == (1, False)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "name", ["student_answer_path", "student_results_path", "student-search-results-path"]
)
def test_files_by_name(moulinette: Run, tmp_path: Path, command: str, name: str) -> None:
    """Both files may be named, in any order, under each of the agreed names."""
    write_ranks(tmp_path, 1)
    done = moulinette(command, "--dataset_path", "d.json", f"--{name}", "r.json")
    assert (done.code, done.stderr) == (0, "")


def test_command_with_hyphens(moulinette: Run, tmp_path: Path) -> None:
    """A command is also known by its name with hyphens."""
    write_ranks(tmp_path, 1)
    assert moulinette(LIST.replace("_", "-"), "r.json", "d.json").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "no command, give one of", id="nothing"),
        pytest.param(["evaluate_student_answer"], f"did you mean {ANSWERS}?", id="near miss"),
        pytest.param(["frobnicate"], "unknown command 'frobnicate'", id="unknown command"),
        pytest.param([EVALUATE], "RESULTS is missing", id="no file"),
        pytest.param([EVALUATE, "r.json"], "DATASET is missing", id="one file"),
        pytest.param([EVALUATE, "r", "d", "--kk", "1"], "unknown option --kk", id="unknown flag"),
        pytest.param([EVALUATE, "r", "d", "--k", "abc"], "whole number", id="k abc"),
        pytest.param([EVALUATE, "r", "d", "--k", "0"], "whole number", id="k 0"),
        pytest.param([EVALUATE, "r", "d", "--k", "-3"], "whole number", id="k -3"),
        pytest.param([EVALUATE, "r", "d", "--threshold", "80"], "from 0 to 1", id="threshold"),
        pytest.param(
            [EVALUATE, "r", "d", "--k=3", "--threshold=1"], "--k 5 or more", id="k below 5"
        ),
        pytest.param([LIST, "r", "d", "--require_all_sources=x"], "True or False", id="boolean"),
    ],
)
def test_usage_errors(moulinette: Run, arguments: list[str], message: str) -> None:
    """A wrong command line ends with 2 and one line, before any file is looked for."""
    done = moulinette(*arguments)
    assert (done.code, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("results", "dataset", "message"),
    [
        pytest.param("none.json", "d.json", "none.json: no such file", id="missing results"),
        pytest.param("r.json", "none.json", "none.json: no such file", id="missing dataset"),
        pytest.param(".", "d.json", "is a folder", id="folder"),
        pytest.param("d.json", "r.json", "are the two paths swapped?", id="swapped"),
        pytest.param("no\njson", "d.json", "no json: no such file", id="newline in the path"),
    ],
)
def test_data_errors(
    moulinette: Run, tmp_path: Path, command: str, results: str, dataset: str, message: str
) -> None:
    """An unusable file ends with 1 and one line."""
    write_ranks(tmp_path, 1)
    done = moulinette(command, results, dataset)
    assert (done.code, done.stdout) == (1, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_results_of_another_dataset(moulinette: Run, tmp_path: Path, command: str) -> None:
    """Files without a common id are refused instead of scored 0."""
    write_pair(tmp_path, [question("a", HIT)], [entry("b", HIT, answer="x")])
    done = moulinette(command, "r.json", "d.json", "--json")
    assert (done.code, done.stdout) == (1, "")
    assert "belong to another dataset" in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help(moulinette: Run, arguments: list[str]) -> None:
    """--help prints the usage and ends with 0."""
    done = moulinette(*arguments)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: moulinette ")


def test_huge_k(moulinette: Run, tmp_path: Path) -> None:
    """A k far beyond any list scores all sources."""
    write_ranks(tmp_path, 1, 10)
    done = moulinette(EVALUATE, "r.json", "d.json", "--k", "9" * 5000)
    assert (done.code, done.lines[-1]) == (0, "Recall@1000000000 = 1.000 (100.0%)")
