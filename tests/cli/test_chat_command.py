"""`chat` as a process: a script of questions, and a person at a terminal."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from house import House, Outcome, Program

WORDS = ["chat", "--llm", "extractive"]


class Standard(io.TextIOWrapper):
    """Standard input with these bytes, at a terminal or not."""

    def __init__(self, data: bytes, *, is_terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8")
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        """As the test wants it."""
        return self.is_terminal


@pytest.fixture
def piped(program: Program, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Runs a session in this process on lines of standard input."""

    def run(text: str | bytes, *more: str, code: int = 0, is_terminal: bool = False) -> Outcome:
        data = text.encode() if isinstance(text, str) else text
        monkeypatch.setattr(sys, "stdin", Standard(data, is_terminal=is_terminal))
        outcome = program.run(*WORDS, *more)
        assert outcome.code == code, outcome.err
        assert "Traceback" not in outcome.out + outcome.err
        return outcome

    return run


@contextmanager
def at_terminal(house: House, state: Path, *words: str) -> Iterator[tuple[int, subprocess.Popen]]:
    """A session whose terminal the test types on; `state` is where it keeps what was typed."""
    master, slave = pty.openpty()
    extra = {"TERM": "dumb", "XDG_STATE_HOME": str(state)}
    options = house.quick([*WORDS, *words, "--index_dir", str(house.index_dir)], extra)

    def lead() -> None:  # Ctrl-C goes to whoever leads the terminal
        os.setsid()
        os.close(os.open(os.ttyname(0), os.O_RDWR))

    process = subprocess.Popen(
        **options, stdin=slave, stdout=slave, stderr=slave, preexec_fn=lead,
    )  # fmt: skip
    os.close(slave)
    try:
        yield master, process
    finally:
        process.kill()
        process.wait()
        os.close(master)


def seen(master: int, until: str, timeout_s: float = 30.0) -> str:
    """What appears on a terminal up to a text."""
    received, end = b"", time.monotonic() + timeout_s
    while time.monotonic() < end and until.encode() not in received:
        if select.select([master], [], [], 0.1)[0]:
            try:
                received += os.read(master, 65536)
            except OSError:  # Linux says so when the other end is closed
                break
    text = received.decode(errors="replace").replace("\r\n", "\n")
    assert until in text, text
    return text


def test_a_script_of_questions_is_answered_line_by_line(piped: Callable[..., Outcome]) -> None:
    """Follow-ups are completed, commands are obeyed, and the end of the lines is the end."""
    text = "What does evict do?\n\nand step?\n/sources\n/open 1\n/quit\nnever asked\n"
    outcome = piped(text)
    assert outcome.out.count("> ") >= 5
    assert "asked as: What does step do?" in outcome.out
    assert "  [1] corpus/lib/scheduler.py:" in outcome.out
    assert "never asked" not in outcome.out
    assert outcome.err == ""


def test_a_line_that_fails_costs_only_itself(piped: Callable[..., Outcome]) -> None:
    """The others are answered; the exit code is 1, as a script would want it."""
    outcome = piped(b"/opne 1\n\xff\0 evict?\n", code=1)
    assert "did you mean /open?" in outcome.err
    assert outcome.err.endswith("error: 1 of 2 lines failed, see above\n")
    assert "Cited:" in outcome.out or "I don't know" in outcome.out


def test_nothing_to_answer_is_no_error(
    piped: Callable[..., Outcome], program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty script, and no standard input at all, which Python has as None."""
    assert piped("").out == ""
    monkeypatch.setattr(sys, "stdin", None)
    assert program.run(*WORDS) == Outcome(0, "", "")


def test_without_an_index_no_line_is_read(piped: Callable[..., Outcome], tmp_path: Path) -> None:
    """One line that says what is missing."""
    outcome = piped("evict?\n", "--index_dir", str(tmp_path / "none"), code=1)
    outcome.assert_tidy()
    assert "there is no index" in outcome.err


def test_a_reader_that_has_gone_ends_a_chat_quietly(house: House) -> None:
    """As it ends a search."""
    reading, writing = os.pipe()
    os.close(reading)
    options = house.quick([*WORDS, "--index_dir", str(house.index_dir)])
    done = subprocess.run(
        **options, input=b"evict?\nstep?\n", stdout=writing, stderr=subprocess.PIPE,
        check=False, timeout=60,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_person_at_a_terminal(house: House, tmp_path: Path) -> None:
    """A prompt, an answer, Ctrl-C that keeps the session, Ctrl-D that ends it, and a history."""
    with at_terminal(house, tmp_path) as (master, process):
        assert "ask about 3 files" in seen(master, "\n> ")
        os.write(master, b"What does evict do?\n")
        assert "Cited:" in seen(master, "\n> ")
        os.write(master, b"half a question")
        seen(master, "half a question")  # it is read by now: a Ctrl-C before that waits for a key
        time.sleep(0.2)
        os.write(master, b"\x03")
        assert "cancelled" in seen(master, "\n> ")
        os.write(master, b"/k 4\n")
        assert "k is 4" in seen(master, "\n> ")
        os.write(master, b"\x04")
        assert process.wait(timeout=30) == 0
    kept = tmp_path / "ragmachine" / "chat_history"
    assert kept.read_text() == "What does evict do?\n/k 4\n"
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("words", "kept"), [([], ["ragmachine"]), (["--no-chat_history"], [])])
def test_what_is_typed_need_not_be_kept(
    piped: Callable[..., Outcome],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    kept: list[str],
) -> None:
    """The switch leaves no file and no folder; where output goes elsewhere, prompts do not."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "state").mkdir()
    outcome = piped("/k\n", *words, "--quiet", is_terminal=True)
    assert outcome.out == "k is 10\n\n"
    assert outcome.err == "> > "
    assert os.listdir(tmp_path / "state") == kept
