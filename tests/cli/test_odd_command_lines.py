"""Odd and wrong command lines: what each prints, where, and with which exit code."""

from __future__ import annotations

import os
from pathlib import Path

import odd_ablations
import odd_files
import odd_words
import pytest
from house import Program
from odd_rows import Row, fails, refused, works

from ragmachine.commands.arguments import Command
from ragmachine.commands.table import COMMANDS

LONGEST_LINE = 1200  # characters, whatever was typed
ROWS = [
    *odd_words.queries(),
    *odd_words.numbers(),
    *odd_words.spellings(),
    *odd_words.positions(),
    *odd_files.mistakes(),
    *odd_files.files(),
    *odd_files.surroundings(),
    *odd_ablations.ablations(),
    *odd_ablations.shapes(),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_command_line_does_what_the_table_says(
    row: Row, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code, text and stream as in the table; one line per error; a refusal leaves no trace."""

    def placed(text: str) -> str:
        return text.replace("@root", str(program.house.root)).replace("@tmp", str(tmp_path))

    if row.argv[:1] == ["index"]:
        monkeypatch.setenv("RAG_INDEX_DIR", placed("@tmp/index"))
    for name, value in row.environment.items():
        monkeypatch.setenv(name, placed(value))
    outcome = program.run(*map(placed, row.argv))
    assert outcome.code == row.code, outcome.err
    assert placed(row.out) in outcome.out
    assert placed(row.err or "") in outcome.err
    assert outcome.err.count("\n") <= (row.err != "")
    assert len(outcome.err) < LONGEST_LINE
    outcome.assert_tidy()
    if row.code:
        assert os.listdir(tmp_path) == []


def complete(command: Command) -> list[str]:
    """A line of that command which would do its work."""
    required = {
        "query": "cache",
        "dataset_path": "@root/sets/docs.json",
        "student_search_results_path": "@root/results/docs.json",
        "answers_path": "@root/results/docs.json",
    }
    words = {option.name: required[option.name] for option in command.options if option.is_required}
    places = {
        "target_dir": "@root/corpus",
        "save_directory": "@tmp/out",
        "index_dir": "@tmp/index",
        "directory": "@tmp/corpus",
    }
    names = {option.name for option in command.options}
    words.update({name: place for name, place in places.items() if name in names})
    return [command.name, *(f"--{name}={value}" for name, value in words.items())]


@pytest.mark.parametrize("flag", ["--frobnicate", "--frobnicate=1", "--quite", "-Q"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_an_unknown_flag_is_refused_before_any_work(
    command: Command, flag: str, program: Program, tmp_path: Path
) -> None:
    """Exit code 2, and neither an index nor an output folder appears."""
    places = {"@root": str(program.house.root), "@tmp": str(tmp_path)}
    words = complete(command)
    for name, place in places.items():
        words = [word.replace(name, place) for word in words]
    outcome = program.run(*words, flag)
    assert outcome.code == 2
    assert f"{command.name} has no option {flag.partition('=')[0]}" in outcome.err
    outcome.assert_tidy()
    assert os.listdir(tmp_path) == []


def test_the_notice_about_dense_vectors_comes_once(program: Program) -> None:
    """One line on stderr, however many words the query has; it says what to type."""
    outcome = program.run("search", "cache scheduler calibration", "--bonus", "y")
    assert outcome.err == (
        "no vectors were built for this index: the search is lexical;"
        " build them: `ragmachine index --bonus y`\n"
    )


def test_a_refused_search_dataset_leaves_the_dataset_as_it_was(program: Program) -> None:
    """Saving the results beside the dataset would replace the true sources."""
    path = program.house.root / "sets" / "docs.json"
    before = path.read_bytes()
    assert program.run("search_dataset", str(path), "--save_directory", str(path.parent)).code == 1
    assert path.read_bytes() == before


def test_a_clamped_k_returns_every_chunk_that_holds_a_word(program: Program) -> None:
    """A k beyond the index is no error and adds nothing."""
    everything = program.run("search", "calibration", "--k", "99999999", "--json").document()
    as_many = program.run("search", "calibration", "--k", "100000", "--json").document()
    assert len(everything["retrieved_chunks"]) > 1
    assert everything["retrieved_chunks"] == as_many["retrieved_chunks"]


CHILD_ROWS = [
    works("none", "search None", "[None]"),
    works("bad-byte", ["search", "\udcff C++"], "[C++]"),
    works("100k", ["search", "cache " * 16_666], "[cache]"),
    works("empty", "search '' --k 10", "no hits", "the query is empty"),
    works("nonsense", "search 'asdfghjkl zxcvbnm qwertyuiop' --k 10", "no hits", "no evidence"),
    works("help", "--help", "ragmachine COMMAND"),
    works("no-server", "answer 'What evicts blocks?'", "Cited:", "no Ollama server answers"),
    refused("k-zero", "answer 'What is vLLM?' --k 0", "--k must be at least 1, not 0"),
    refused("misspelt-flag", "index --max_chunk_szie 500", "did you mean --max_chunk_size?"),
    refused("misspelt-variable", "search cache", "did you mean RAG_LLM?", RAG_LML="x"),
    fails("no-dataset", "search_dataset --dataset_path /nonexistent/dataset.json --k 10",
          "/nonexistent/dataset.json does not exist"),
    fails("no-index", "search cache", "there is no index in /nonexistent",
          RAG_INDEX_DIR="/nonexistent"),
]  # fmt: skip


@pytest.mark.parametrize("row", CHILD_ROWS, ids=lambda row: row.id)
def test_a_process_of_its_own_does_what_the_table_says(row: Row, program: Program) -> None:
    """The same through ``python -m src``, argv decoded by the interpreter."""
    outcome = program.child(*map(os.fsencode, row.argv), environment=row.environment)
    assert outcome.code == row.code, outcome.err
    assert row.out in outcome.out
    assert (row.err or "") in outcome.err
    outcome.assert_tidy()
