"""Cutting answers into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.generation.sentences import split_sentences


def pieces(text):
    """The texts of the sentences."""
    return [sentence.text for sentence in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("It is so. Then go.", ["It is so.", "Then go."], id="two"),
        pytest.param("It is so", ["It is so"], id="no full stop"),
        pytest.param("Really?! No... Yes!", ["Really?!", "No...", "Yes!"], id="other marks"),
        pytest.param('He said "Stop." Then left.', ['He said "Stop."', "Then left."], id="quotes"),
        pytest.param("设置为8000。默认是。", ["设置为8000。", "默认是。"], id="no blanks"),
        pytest.param("", [], id="nothing"),
        pytest.param(" \n\n ", [], id="blank"),
        # a full stop that ends nothing
        pytest.param("Use 3.5 s. Or 4.", ["Use 3.5 s.", "Or 4."], id="decimals"),
        pytest.param("Version 2.0.1 is out.", ["Version 2.0.1 is out."], id="version"),
        pytest.param(
            "Edit a.py or b.toml. Run it.", ["Edit a.py or b.toml.", "Run it."], id="files"
        ),
        pytest.param("See https://a.b/c?d=e. Go.", ["See https://a.b/c?d=e.", "Go."], id="address"),
        pytest.param("Many, e.g. Two of them.", ["Many, e.g. Two of them."], id="e.g."),
        pytest.param(
            "As in Fig. 3. By J. Doe.", ["As in Fig. 3.", "By J. Doe."], id="abbreviations"
        ),
        pytest.param(
            "It has etc. files. No.", ["It has etc. files.", "No."], id="small letter next"
        ),
        pytest.param("No. They are not.", ["No.", "They are not."], id="the word no"),
        pytest.param("Use `a. B` now. Go.", ["Use `a. B` now.", "Go."], id="inline code"),
        # a small letter that begins a sentence all the same
        pytest.param("It is 8. max_len is 9.", ["It is 8.", "max_len is 9."], id="name next"),
        pytest.param("It is 8. vLLM is fast.", ["It is 8.", "vLLM is fast."], id="brand next"),
        pytest.param("It is 8. run() does it.", ["It is 8.", "run() does it."], id="call next"),
        # citations
        pytest.param("So [1]. Or so [2].", ["So [1].", "Or so [2]."], id="before the stop"),
        pytest.param("So. [1] Or so. [2][3]", ["So. [1]", "Or so. [2][3]"], id="behind the stop"),
        pytest.param("So. [1] says more.", ["So.", "[1] says more."], id="as a subject"),
        pytest.param("So.\n\n[1]", ["So.\n\n[1]"], id="in a line of their own"),
        # lines
        pytest.param("It goes\non here. Yes.", ["It goes\non here.", "Yes."], id="wrapped"),
        pytest.param("Head\n\nText", ["Head", "Text"], id="paragraphs"),
        pytest.param("# Head\nText", ["# Head", "Text"], id="heading"),
        pytest.param("Steps:\nGo on", ["Steps:", "Go on"], id="after a colon"),
        pytest.param("one [1]\ntwo [2]", ["one [1]", "two [2]"], id="after a citation"),
        pytest.param(
            "1. Open. Close.\n2. Go\n- x", ["1. Open.", "Close.", "2. Go", "- x"], id="items"
        ),
        pytest.param(
            "| a | b |\n|---|---|\n| 1 | 2 | [1]\nSo",
            ["| a | b |", "| 1 | 2 | [1]", "So"],
            id="table",
        ),
        pytest.param(
            "Run:\n```sh\na. B\n\nC. D\n```\n[1]\nThen.",
            ["Run:", "```sh\na. B\n\nC. D\n```\n[1]", "Then."],
            id="fence with its citation",
        ),
        pytest.param("```\nopen. End", ["```\nopen. End"], id="fence left open"),
    ],
)
def test_splitting(text, expected):
    """Sentences, items, rows and fences, each once."""
    assert pieces(text) == expected


@pytest.mark.parametrize(
    ("text", "body"),
    [
        pytest.param("- **x** is y", "**x** is y", id="bullet"),
        pytest.param("12) go", "go", id="number"),
        pytest.param("## 2. Head", "Head", id="numbered heading"),
        pytest.param("> quoted", "quoted", id="quotation"),
        pytest.param("3.5 is it", "3.5 is it", id="decimal"),
        pytest.param("-5 is it", "-5 is it", id="negative number"),
        pytest.param("```sh\nrun\n```", "run", id="fence"),
    ],
)
def test_body(text, body):
    """List marker, heading mark and fence say nothing."""
    assert [sentence.body for sentence in split_sentences(text)] == [body]


@pytest.mark.parametrize(
    ("text", "is_lead"),
    [("# Limits", True), ("For example:", True), ("**Steps:**", True), ("It is 5.", False)],
)
def test_leads(text, is_lead):
    """Headings, and what ends with a colon."""
    assert [sentence.is_lead for sentence in split_sentences(text)] == [is_lead]


PARTS = [
    "a. ",
    "B? ",
    "`c. D` ",
    "\n",
    "\n\n",
    "- x",
    "1. y",
    "```\n",
    "| z |",
    "|--|",
    "[1]",
    "。",
    "e.g. ",
]


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_nothing_is_lost(text):
    """Sentences stand in order, apart, at their places, and only rules and blanks lie between."""
    done, between = 0, ""
    for sentence in split_sentences(text):
        assert done <= sentence.start < sentence.end
        assert text[sentence.start : sentence.end] == sentence.text == sentence.text.strip()
        between += text[done : sentence.start]
        done = sentence.end
    assert not set(between + text[done:]) - set(" \n|-")
