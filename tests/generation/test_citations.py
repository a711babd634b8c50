"""Reading citations in a model's answer."""

from __future__ import annotations

import pytest

from ragmachine.generation.citations import cite, read_citations


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
