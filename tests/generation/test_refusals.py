"""Saying that nothing is known, and noticing that a model says so."""

from __future__ import annotations

import pytest

from ragmachine.generation.refusals import is_refusal, no_line, nowhere, refuse
from ragmachine.models import SearchResult


def test_a_refusal_says_why_and_what_was_searched_for():
    """Reason, number of chunks, the question's words; a notice goes with it."""
    result = SearchResult("How hot is the sun?", "lexical", (), 1234, 0.5)
    answer = refuse(result, "it is dark", notice="look up")
    assert answer.text == "I don't know: it is dark.\nSearched 1,234 chunks for: hot, sun."
    assert (answer.mode, answer.is_refusal, answer.notice) == ("none", True, "look up")
    assert (answer.result, answer.citations, answer.sentences) == (result, (), ())


def test_a_long_question_is_not_repeated_whole():
    """Twenty words are enough to recognise it."""
    query = " ".join(f"word{number}" for number in range(50))
    text = refuse(SearchResult(query, "lexical", (), 1, 0.5), "so").text
    assert "word19." in text
    assert "word20" not in text


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["a_b"], "no passage found mentions a_b"),
        (["a_b", "C-3"], "no passage found mentions a_b or C-3"),
        (["a", "b", "c"], "no passage found mentions a, b or c"),
    ],
    ids=["one", "two", "three"],
)
def test_missing_names_are_named(names, reason):
    """As a sentence goes on."""
    assert nowhere(names) == reason


@pytest.mark.parametrize(
    ("hits", "passages"), [(1, "the passage found"), (3, "the 3 passages found")]
)
def test_one_passage_or_several(hits, passages):
    """Singular and plural."""
    assert no_line(hits) == f"no line of {passages} bears on the question"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("I don't know.", True, id="as it was told to"),
        pytest.param("I don’t know [1].", True, id="curly, with a citation"),
        pytest.param("I do not know. The passages do not mention it.", True, id="at length"),
        pytest.param("The provided context doesn't explicitly say so.", True, id="context"),
        pytest.param("There is no information about it in the documents.", True, id="information"),
        pytest.param("I don't know the port. It is 80 [1].", False, id="and yet"),
        pytest.param("The context length does not exceed 4096.", False, id="a context of its own"),
        pytest.param("Documents are not kept.", False, id="documents of its own"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_a_models_refusal_is_noticed(text, expected):
    """Only where every sentence is one."""
    assert is_refusal(text) == expected
