"""Thinking is removed and truncated texts end with a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.llm.chat import ThinkFilter, strip_thinking, trim_to_sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("<think>hm</think>\n\nYes.", "Yes.", id="closed"),
        pytest.param("<think>\n</think>Yes.", "Yes.", id="empty"),
        pytest.param("Yes. <think>or no", "Yes.", id="unclosed"),
        pytest.param("<think>a</think>Yes<think>b</think>.", "Yes.", id="twice"),
        pytest.param("<Thinking>a</THINKING>Yes.", "Yes.", id="other spelling and case"),
        pytest.param("it is six\n</think>\nYes.", "Yes.", id="close tag alone"),
        pytest.param("The `<think>` token.", "The `<think>` token.", id="quoted word stays"),
        pytest.param('<think>say "x"</think>Yes.', "Yes.", id="quote before the close tag"),
        pytest.param("<think>`</think>` ends it</think>Yes.", "Yes.", id="quoted close tag within"),
        pytest.param("a < b and <thin> c", "a < b and <thin> c", id="not a tag"),
        pytest.param("Use <th", "Use <th", id="ends in half a tag"),
    ],
)
def test_strip_thinking(text, expected):
    """Only what the model meant to say is left."""
    assert strip_thinking(text) == expected


def filtered(pieces):
    think_filter = ThinkFilter()
    return "".join([*map(think_filter.feed, pieces), think_filter.flush()])


@given(
    st.lists(
        st.sampled_from(["<think>", "</think>", "<th", "ink>", "`", '"', "a", " ", "\n", "<", "/"]),
        max_size=12,
    ),
    st.integers(1, 4),
)
def test_streamed_equals_whole(words, size):
    """However a text is cut into pieces, the filter shows the same."""
    text = "".join(words)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    assert filtered(pieces) == filtered([text])


def test_nothing_of_a_thought_is_shown_early():
    """Pieces that may become a tag wait; a finished thought never appears."""
    think_filter = ThinkFilter()
    shown = [think_filter.feed(piece) for piece in ["Yes <", "thi", "nk>secret", "</think>", " no"]]
    assert shown == ["Yes ", "", "", "", " no"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("It is so. And th", "It is so.", id="sentence"),
        pytest.param("It is so [1]. And th", "It is so [1].", id="citation before the stop"),
        pytest.param("It is so. [1][2] And th", "It is so. [1][2]", id="citations after the stop"),
        pytest.param('He said "no!" And th', 'He said "no!"', id="closing quote"),
        pytest.param("是的。 然后", "是的。", id="CJK stop"),
        pytest.param("Since 0.10.1 it is fa", "Since 0.10.1 it is fa", id="a version ends nothing"),
        pytest.param("Use a backend, e.g. this o", "Use a backend, e.g. this o", id="abbreviation"),
        pytest.param("So:\n1. first\n2. sec", "So:\n1. first", id="list number ends nothing"),
        pytest.param("- first one\n- second o", "- first one", id="list item"),
        pytest.param("A title\n\nAnd th", "A title", id="paragraph"),
        pytest.param("no end at all", "no end at all", id="no end"),
        pytest.param("", "", id="empty"),
        pytest.param("Run it.\n```sh\nls\ncd fo", "Run it.\n```sh\nls\n```", id="open fence"),
    ],
)
def test_trim_to_sentence(text, expected):
    """The unfinished tail goes; what has no end stays."""
    assert trim_to_sentence(text) == expected
