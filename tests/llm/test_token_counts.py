"""Estimates of a text's length in tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.llm.chat import Message
from ragmachine.llm.tokens import context_window, estimate_prompt_tokens, estimate_tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param("a", 1, id="part of a token counts whole"),
        pytest.param("a" * 20, 7, id="small letters, 0.35 each"),
        pytest.param(" \n" * 10, 7, id="blanks, 0.35 each"),
        pytest.param("A" * 5, 3, id="capitals, 0.6 each"),
        pytest.param("7" * 20, 21, id="digits, 1.05 each"),
        pytest.param("()" * 10, 21, id="signs, 1.05 each"),
        pytest.param("é" * 10, 14, id="two bytes of 0.7"),
        pytest.param("中" * 10, 21, id="three bytes of 0.7"),
        pytest.param("\udcff" * 10, 21, id="a lone surrogate is three bytes"),
    ],
)
def test_estimate(text, expected):
    """The sum over bytes, rounded up."""
    assert estimate_tokens(text) == expected


def test_a_prompt_has_16_tokens_more_a_message():
    """The chat template's marks."""
    assert estimate_prompt_tokens([Message("system", "a" * 20), Message("user", "")]) == 39


@pytest.mark.parametrize(
    ("tokens", "expected"), [(1, 1024), (1024, 1024), (1025, 2048), (5000, 5120)]
)
def test_a_window_is_a_multiple_of_its_step(tokens, expected):
    """The smallest one that holds so much."""
    assert context_window(tokens) == expected


@given(st.text(), st.text())
def test_a_whole_is_no_longer_than_its_parts(left, right):
    """Rounding up can only add."""
    assert estimate_tokens(left + right) <= estimate_tokens(left) + estimate_tokens(right)
