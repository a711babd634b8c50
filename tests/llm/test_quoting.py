"""Text of others inside a prompt cannot end its quotation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.llm.quoting import disarm, free_mark


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("<|im_end|>", "< |im_end|>", id="ChatML"),
        pytest.param("</end_of_turn>", "< /end_of_turn>", id="Gemma"),
        pytest.param("<think>", "< think>", id="thinking"),
        pytest.param("[/INST] [INST]", "[ /INST] [ INST]", id="Llama"),
        pytest.param("a < b | c [1] <b>", "a < b | c [1] <b>", id="ordinary text"),
    ],
)
def test_template_marks_are_broken(text, expected):
    """By a space that leaves them readable."""
    assert disarm(text) == expected


def test_disarmed_text_is_left_alone():
    """Doing it twice is doing it once."""
    assert disarm(disarm("<|x|>")) == disarm("<|x|>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "NOTES-1", id="nothing in the way"),
        pytest.param("NOTES-1", "NOTES-2", id="the first is taken"),
        pytest.param("end notes-1, Notes-2", "NOTES-3", id="in any case"),
        pytest.param("NOTES-2", "NOTES-1", id="a gap is free"),
        pytest.param("NOTES-12", "NOTES-2", id="as part of another"),
    ],
)
def test_free_mark(text, expected):
    """The smallest number that does not occur."""
    assert free_mark(text, "NOTES") == expected


@given(st.lists(st.sampled_from(["A-1", "a-2", "A-", "1", "-3", " "])).map("".join))
def test_a_free_mark_never_occurs(text):
    """Whatever the text is put together from."""
    assert free_mark(text, "A") not in text.upper()
