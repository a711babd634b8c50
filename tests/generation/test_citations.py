"""Reading citations in a model's answer."""

from __future__ import annotations

import pytest

from ragmachine.generation.citations import (
    cite,
    last_number,
    numbers_in,
    read_citations,
    without_citations,
)


@pytest.mark.parametrize(
    ("text", "expected", "cited"),
    [
        pytest.param("So [1].", "So [1].", (1,), id="one"),
        pytest.param("So [2][1].", "So [2][1].", (1, 2), id="side by side"),
        pytest.param("So [1, 2].", "So [1, 2].", (1, 2), id="comma"),
        pytest.param("So [1;2].", "So [1, 2].", (1, 2), id="semicolon"),
        pytest.param("So [1-3].", "So [1, 2, 3].", (1, 2, 3), id="range"),
        pytest.param("So [Passage 2].", "So [2].", (2,), id="word before the number"),
        pytest.param("So[1].", "So[1].", (1,), id="glued"),
        pytest.param("So [9].", "So.", (), id="unknown goes with its blank"),
        pytest.param("So [1, 9].", "So [1].", (1,), id="unknown beside a known one"),
        pytest.param("So [1][9].", "So [1].", (1,), id="unknown after a known one"),
        pytest.param("So [0].", "So.", (), id="zero"),
        pytest.param("So.", "So.", (), id="none"),
        pytest.param("[9]", "", (), id="nothing but an unknown number"),
        pytest.param("Use `a[1]` [2].", "Use `a[1]` [2].", (2,), id="code span"),
        pytest.param("```\na[1]\nb [9]\n```", "```\na[1]\nb [9]\n```", (), id="code fence"),
        pytest.param("shape[7] is", "shape[7] is", (), id="index of a name"),
        pytest.param("See [1](a.md).", "See [1](a.md).", (), id="link"),
        pytest.param("[1]: a.md", "[1]: a.md", (), id="footnote"),
        pytest.param("So [10-4200].", "So.", (), id="line numbers are no passages"),
        pytest.param("So 【1】【2】.", "So [1][2].", (1, 2), id="wide brackets"),
        pytest.param("So 【3†L1-L5】.", "So [3].", (3,), id="wide brackets with lines"),
        pytest.param("So [1 and 3].", "So [1, 3].", (1, 3), id="and"),
        pytest.param("So [1][3].", "So [1][3].", (1, 3), id="side by side, a gap"),
        pytest.param("So 【9】.", "So.", (), id="unknown in wide brackets"),
        pytest.param("So [1】.", "So [1】.", (), id="brackets that do not match"),
    ],
)
def test_read_citations(text, expected, cited):
    """Known numbers stay and are listed, unknown ones go, code and links are left alone."""
    assert read_citations(text, [1, 2, 3]) == (expected, cited)


def test_citation_has_the_passage_span(make_passage):
    """A number becomes the exact path, characters and lines of its passage."""
    passages = [
        make_passage("one\n", 1),
        make_passage("two\nthree\n", 2, path="b.md", start=40, first_line=9),
    ]
    (citation,) = cite(passages, [2])
    assert citation.to_json() == {
        "number": 2,
        "file_path": "b.md",
        "first_character_index": 40,
        "last_character_index": 50,
        "first_line": 9,
        "last_line": 10,
    }


def test_citing_what_is_not_there_is_a_mistake(make_passage):
    """An unknown number cannot be cited."""
    with pytest.raises(ValueError, match="7"):
        cite([make_passage("one\n", 1)], [7])


@pytest.mark.parametrize(
    ("text", "numbers", "rest"),
    [
        pytest.param("So [2][1] or [2].", (2, 1), "So or.", id="in their order, each once"),
        pytest.param("So[1].", (1,), "So.", id="glued"),
        pytest.param("`a[1]` and x[7]", (), "`a[1]` and x[7]", id="code"),
        pytest.param("So [1, 9].", (1,), "So.", id="an unknown one beside it"),
    ],
)
def test_numbers_and_what_is_left(text, numbers, rest):
    """A sentence's citations, and its text without them."""
    assert numbers_in(text, {1, 2}) == numbers
    assert without_citations(text, {1, 2}) == rest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = [1] [2]\n", ("x = [1]", 2)),
        ("x[1]", ("x[1]", None)),
        ("[3]", ("", 3)),
        ("so [1].", ("so [1].", None)),
    ],
    ids=["behind a list", "an index", "alone", "before a full stop"],
)
def test_last_number(text, expected):
    """The number that a quotation ends with, after a blank."""
    assert last_number(text) == expected


def test_a_citation_names_its_lines(make_passage):
    """As editors take them."""
    (citation,) = cite([make_passage("two\nthree\n", 1, path="b.md", first_line=9)], [1])
    assert citation.location == "b.md:9-10"
