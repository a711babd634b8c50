"""``index --enrich`` as the user meets it: what it prints, what it costs, how it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import termios
from pathlib import Path
from typing import Any

import pytest
from house import Program

from fake_chat import FakeChat
from ragmachine.index.enrich import SYSTEM_RULES
from ragmachine.llm.chat import ModelUnavailableError
from ragmachine.wiring import chat_models


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> FakeChat:
    """A model that says the same of every passage, in place of the settings' own."""
    chat = FakeChat("Which hamster turns the wheel?")
    monkeypatch.setattr(chat_models, "make_chain", lambda settings: chat)
    return chat


def indexing(program: Program, tmp_path: Path, *words: str) -> list[str]:
    """A line that indexes the house's corpus into a folder of this test's own."""
    corpus = ["--target_dir", f"{program.house.root}/corpus"]
    return ["index", *corpus, "--index_dir", str(tmp_path / "index"), *words]


def found(program: Program, tmp_path: Path) -> list[Any]:
    """What a search for a word of the summaries finds."""
    words = ["search", "hamster", "--index_dir", str(tmp_path / "index"), "--json"]
    chunks: list[Any] = program.run(*words).document()["retrieved_chunks"]
    return chunks


def test_the_cost_is_printed(program: Program, tmp_path: Path, chat: FakeChat) -> None:
    """The index's own line first, then what was asked; a second run asks nobody."""
    outcome = program.run(*indexing(program, tmp_path, "--enrich"))
    first, second = outcome.out.splitlines()
    assert first.startswith("3 files")
    count = len(chat.asked)
    assert second.startswith(f"summaries of {count} of {count} chunks: {count} written in ")
    read = (sum(map(len, chat.asked)) + count * len(SYSTEM_RULES)) // 4
    written = count * len("Which hamster turns the wheel?") // 4
    assert second.endswith(f"by tiny:1b; about {read:,} tokens read and {written} written")
    assert outcome.err == ""
    assert len(found(program, tmp_path)) == min(count, 10)
    outcome = program.run(*indexing(program, tmp_path, "--enrich"))
    assert f"summaries of {count} of {count} chunks: 0 written" in outcome.out
    assert len(chat.asked) == count


def test_the_document_holds_it_too(program: Program, tmp_path: Path, chat: FakeChat) -> None:
    """One document, with what was made beside the index."""
    outcome = program.run(*indexing(program, tmp_path, "--enrich", "--json"))
    summaries = outcome.document()["summaries"]
    assert summaries["asked"] == summaries["chunks"] == len(chat.asked)
    assert summaries["model"] == "tiny:1b"
    assert outcome.err == ""


def test_without_a_server_the_index_is_there(program: Program, tmp_path: Path) -> None:
    """Exit code 0, one line on stderr, and nothing said of summaries on stdout."""
    outcome = program.run(*indexing(program, tmp_path, "--enrich"))
    assert outcome.code == 0
    assert outcome.err.startswith("no summaries: no Ollama server answers")
    assert "ollama serve" in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out.startswith("3 files")
    assert "summaries" not in outcome.out
    assert found(program, tmp_path) == []


def test_a_server_that_went_away_is_said(
    program: Program, tmp_path: Path, chat: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written before is kept, indexed and accounted for."""

    def leave_after_two(prompt: str) -> str:
        if len(fickle.asked) > 2:
            raise ModelUnavailableError("the server is gone", remedy="start it")
        return "hamster"

    fickle = FakeChat(leave_after_two)
    monkeypatch.setattr(chat_models, "make_chain", lambda settings: fickle)
    outcome = program.run(*indexing(program, tmp_path, "--enrich"))
    assert outcome.err == "no more summaries: the server is gone; start it\n"
    assert ": 2 written in " in outcome.out
    assert len(found(program, tmp_path)) == 2


def test_ctrl_c_keeps_what_is_done(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 130 and one line; the index answers, and the next run takes the lines over."""

    def interrupted(prompt: str) -> str:
        if len(chat.asked) > 2:
            raise KeyboardInterrupt
        return "hamster"

    chat = FakeChat(interrupted)
    monkeypatch.setattr(chat_models, "make_chain", lambda settings: chat)
    outcome = program.run(*indexing(program, tmp_path, "--enrich"))
    assert outcome.code == 130
    assert outcome.err == "error: interrupted; nothing is left half-written\n"
    assert found(program, tmp_path) == []
    program.run(*indexing(program, tmp_path))
    assert len(found(program, tmp_path)) == 2


def test_progress_is_shown_on_a_terminal(
    program: Program, tmp_path: Path, chat: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bar over the texts to ask about, with the time that is left."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
    with os.fdopen(slave, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr("sys.stderr", terminal)
        program.run(*indexing(program, tmp_path, "--enrich"))
    received = b""
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while piece := os.read(master, 65536):
            received += piece
    os.close(master)
    assert b"enriching" in received
    assert b" texts" in received
