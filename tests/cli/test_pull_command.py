"""`pull`: lines where nobody watches, a bar on a terminal, and one line for each failure."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from house import Program

from ragmachine.llm.ollama_pull import PullProgress
from ragmachine.terminal.pull_report import PullReport

REPORTS = [
    PullProgress("pulling manifest", 0, 0),
    PullProgress("pulling aa", 0, 523_000_000),
    PullProgress("pulling aa", 52_299_999, 523_000_000),
    PullProgress("pulling aa", 52_300_000, 523_000_000),
    PullProgress("pulling aa", 262_000_000, 523_000_000),
    PullProgress("pulling aa", 523_000_000, 523_000_000),
    PullProgress("success", 523_000_000, 523_000_000),
]


def shown(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> tuple[list, list]:
    """Steps of the bar and lines that come of the reports."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    steps: list[tuple[int, int]] = []
    lines: list[str] = []
    report = PullReport(lambda done, total: steps.append((done, total)), lines.append)
    for one in REPORTS:
        report.show(one)
    return steps, lines


def test_elsewhere_a_line_a_step_and_a_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven reports, six lines: the tenth that was not full yet is left out."""
    steps, lines = shown(monkeypatch, is_terminal=False)
    assert steps == []
    assert lines == [
        "pulling manifest", "pulling aa", "10 % of 523 MB", "50 % of 523 MB", "100 % of 523 MB",
        "success",
    ]  # fmt: skip


def test_on_a_terminal_the_bar_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every report moves it; there are no lines."""
    steps, lines = shown(monkeypatch, is_terminal=True)
    assert steps == [(one.done_bytes, one.total_bytes) for one in REPORTS]
    assert lines == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pull"], "`ragmachine pull qwen3:0.6b`"),
        (["pull", "tiny:1b"], "`ragmachine pull tiny:1b`"),
        (["pull", "--model", "tiny:1b", "--quiet"], "`ragmachine pull tiny:1b`"),
    ],
)
def test_no_server_to_pull_with(program: Program, words: list[str], message: str) -> None:
    """One line, which names the model that was asked for or the default."""
    outcome = program.run(*words)
    outcome.assert_tidy()
    assert outcome.code == 1
    assert "no Ollama server answers at http://127.0.0.1:9" in outcome.err
    assert message in outcome.err


@pytest.mark.parametrize("is_quiet", [False, True], ids=["with progress", "quiet"])
def test_a_model_that_comes(
    program: Program, monkeypatch: pytest.MonkeyPatch, is_quiet: bool
) -> None:
    """Progress on stderr, the result on stdout; the settings' host and model are used."""
    asked = []

    def pull(model: str, host: str | None, *, on_progress: Callable[[PullProgress], None]) -> None:
        asked.append((model, host))
        for one in REPORTS:
            on_progress(one)

    monkeypatch.setattr("ragmachine.llm.ollama_pull.pull_model", pull)
    quiet = ["--quiet"] if is_quiet else []
    outcome = program.run("pull", "tiny:1b", "--ollama_host", "box:99", *quiet)
    assert (outcome.code, outcome.out) == (0, "Ollama has tiny:1b\n")
    assert asked == [("tiny:1b", "box:99")]
    assert ("100 % of 523 MB" in outcome.err) is not is_quiet
