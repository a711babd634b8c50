"""``answer --answer_cache``: a second answer without a model, and ``--no_cache`` against it."""

from __future__ import annotations

import pytest
from house import Program

from fake_chat import FakeChat
from ragmachine.wiring import chat_models, dense
from toy_encoder import ToyEncoder

ASKED = "What evicts blocks?"
TEXT = "The scheduler evicts the oldest block [1]."


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch, program: Program) -> FakeChat:
    """A model, and an encoder that needs none; the house is left without an answer cache."""
    chat = FakeChat(TEXT)
    monkeypatch.setattr(chat_models, "make_client", lambda settings: chat)
    monkeypatch.setattr(dense, "make_encoder", lambda *_: ToyEncoder())
    for path in program.house.index_dir.glob("answer_cache*"):
        path.unlink()
    return chat


def test_an_answer_is_given_again(program: Program, chat: FakeChat) -> None:
    """The same text and citations, and a line on where they are from."""
    first = program.run("answer", ASKED, "--answer_cache")
    again = program.run("answer", ASKED, "--answer_cache")
    assert len(chat.asked) == 1
    assert first.out == again.out
    assert TEXT in again.out
    assert first.err == ""
    assert again.err.startswith("as answered on ")
    assert again.err.count("\n") == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([], ["--answer_cache"]),
        (["--answer_cache"], []),
        (["--answer_cache", "--no_cache"], ["--answer_cache"]),
        (["--answer_cache"], ["--answer_cache", "--no_cache"]),
    ],
    ids=["not written", "not read", "no_cache writes none", "no_cache reads none"],
)
def test_a_cache_that_is_off_does_nothing(
    program: Program, chat: FakeChat, first: list[str], second: list[str]
) -> None:
    """By default, and with ``--no_cache`` whatever else is said."""
    program.run("answer", ASKED, *first)
    program.run("answer", ASKED, *second)
    assert len(chat.asked) == 2


def test_a_document_says_it_too(program: Program, chat: FakeChat) -> None:
    """With the same fields as any answer's."""
    words = ["answer", ASKED, "--answer_cache", "--json"]
    first, again = program.run(*words).document(), program.run(*words).document()
    assert again["answer"] == first["answer"] == TEXT
    assert again["citations"] == first["citations"]
    assert again["answer_mode"] == "tiny:1b"
    assert again["notice"].startswith("as answered on ")
