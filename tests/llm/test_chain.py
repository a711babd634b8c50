"""Several generators as one."""

from __future__ import annotations

import pytest

from fake_chat import FakeChat
from ragmachine.errors import ModelError
from ragmachine.llm import ChatChain, Message, ModelUnavailableError, PromptTooLongError

QUESTION = [Message("user", "Which port?")]


def failing(error: Exception) -> FakeChat:
    """A client that always fails so."""

    def fail(_):
        raise error

    return FakeChat(fail)


def absent() -> FakeChat:
    """A client of a server that is not there."""
    return failing(ModelUnavailableError("no server", remedy="start it"))


def test_the_first_that_can_answers():
    """Without a notice, and nobody else is asked."""
    first, second = FakeChat("8000", name="one"), FakeChat("9000", name="two")
    reply = ChatChain([("a", first), ("b", second)]).chat(QUESTION, max_tokens=5)
    assert (reply.text, reply.model, reply.notice) == ("8000", "one", "")
    assert second.asked == []


def test_who_failed_is_told_in_one_line():
    """Each with its reason, and who answered instead."""
    broken = failing(ModelError("it broke", remedy="mend it"))
    chain = ChatChain([("a", absent()), ("b", broken), ("c", FakeChat("8000", name="three"))])
    reply = chain.chat(QUESTION, max_tokens=5)
    assert reply.notice == "a: no server; b: it broke; c: answered by three"


def test_all_failed():
    """One error that names each; its remedy is the first one's."""
    chain = ChatChain([("a", absent()), ("b", failing(ModelError("it broke")))])
    with pytest.raises(ModelUnavailableError) as caught:
        chain.chat(QUESTION, max_tokens=5)
    assert str(caught.value) == "a: no server; b: it broke; start it"


def test_an_absent_one_is_left_alone_for_a_while():
    """One that only broke is asked again at once; the absent one after a minute."""
    now = [0.0]
    gone, broken = absent(), failing(ModelError("it broke"))
    chain = ChatChain([("a", gone), ("b", broken), ("c", FakeChat("x"))], clock=lambda: now[0])
    for now[0] in (0.0, 59.9):
        notice = chain.chat(QUESTION, max_tokens=5).notice
        assert notice == "a: no server; b: it broke; c: answered by tiny:1b"
    assert (len(gone.asked), len(broken.asked)) == (1, 2)
    now[0] = 60.0
    chain.chat(QUESTION, max_tokens=5)
    assert len(gone.asked) == 2


def test_one_that_fails_after_it_was_heard_has_no_successor():
    """A second answer after half of the first would be read as one."""

    class Breaking(FakeChat):
        def chat(self, messages, *, on_token=None, **options):
            on_token("Half")
            raise ModelError("it broke off")

    second = FakeChat("8000")
    with pytest.raises(ModelError, match="it broke off"):
        ChatChain([("a", Breaking("")), ("b", second)]).chat(
            QUESTION, max_tokens=5, on_token=lambda _: None
        )
    assert second.asked == []


def test_a_prompt_too_long_is_for_the_asker():
    """It is to be shortened, not handed on."""
    second = FakeChat("8000")
    too_long = failing(PromptTooLongError("one", needed_tokens=9, limit_tokens=4))
    with pytest.raises(PromptTooLongError):
        ChatChain([("a", too_long), ("b", second)]).chat(QUESTION, max_tokens=5)
    assert second.asked == []


def test_the_one_that_was_asked_counts():
    """A shortened prompt is meant for it."""

    class Counting(FakeChat):
        def count_tokens(self, text):
            return 7

    chain = ChatChain([("a", absent()), ("b", Counting("x"))])
    assert chain.count_tokens("four") == 1
    chain.chat(QUESTION, max_tokens=5)
    assert chain.count_tokens("four") == 7


def test_names_and_emptiness():
    """A chain is named by its links, and has one."""
    chain = ChatChain([("a", FakeChat("", name="one")), ("b", FakeChat("", name="two"))])
    assert chain.name == "one,two"
    with pytest.raises(ValueError, match="at least one"):
        ChatChain([])
