"""Words of a question that no answer has to hold."""

from __future__ import annotations

import pytest

from ragmachine.retrieval.asking import asking_words, same_bounds


@pytest.mark.parametrize(
    ("question", "words"),
    [
        pytest.param("How long does it last?", "long", id="degree"),
        pytest.param("Is a long line slow?", "", id="degrees that are meant"),
        pytest.param("What is the difference in mass between a and b?", "difference",
                     id="difference"),
        pytest.param("Compare the mass of a and b", "Compare", id="compare"),
        pytest.param("Which manual lists part 7?", "manual lists", id="document and verb"),
        pytest.param("On which page is it?", "page", id="page"),
        pytest.param("Which tables are locked?", "", id="tables that are meant"),
        pytest.param("What is it and where is it listed?", "listed", id="where listed"),
        pytest.param("Who listed it?", "", id="who listed"),
        pytest.param("I need part 7: show me the price, please", "need show please", id="wishes"),
        pytest.param("Does it need oil?", "", id="what it needs"),
        pytest.param("", "", id="empty"),
    ],
)  # fmt: skip
def test_words_that_only_ask(question: str, words: str) -> None:
    """Degrees, comparing, where it is written, and wishes; not the same words elsewhere."""
    assert asking_words(question, has_names=False) == words


def test_kinds_of_things_only_ask_beside_a_name() -> None:
    """The constructor of `Pool` is one, whether anybody says so or not."""
    question = "What does the constructor of Pool_a take?"
    assert asking_words(question, has_names=True) == "constructor"
    assert asking_words(question, has_names=False) == ""


def test_bounds_say_the_same() -> None:
    """Each word for the most stands for those of the question, and none for the least does."""
    same = same_bounds({"highest", "mass"}, str.split)
    assert same["max"] == same["maximum"] == same["highest"] == {"highest"}
    assert "min" not in same
    assert same_bounds({"mass"}, str.split) == {}
