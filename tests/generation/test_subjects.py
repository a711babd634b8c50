"""The names of documents in questions."""

from __future__ import annotations

import time

import pytest

from ragmachine.generation.subjects import coordinated, named_subjects, titles_of, words_beside

TITLES = [("tarn", "2"), ("tarn", "2", "s"), ("tarn", "3", "heater"), ("ulva", "mini", "pump"),
          ("deployment",)]  # fmt: skip


def named(question: str) -> list[tuple[str, list[str]]]:
    """Each name as written, with the titles that it stands for."""
    return [
        (question[one.start : one.end], sorted(map(" ".join, one.titles)))
        for one in named_subjects(question, TITLES)
    ]


@pytest.mark.parametrize(
    ("label", "path", "titles"),
    [
        pytest.param("Section: Tarn 2 > Warranty", "a/m-001.pdf", ["m 001", "tarn 2"], id="root"),
        pytest.param("Section: Tarn 2; Section: Tarn 2 > Care", "001.pdf", ["tarn 2"], id="twice"),
        pytest.param(
            "Section: User manual for the Tarn 2", "001.pdf", ["tarn 2"], id="kind before"
        ),
        pytest.param("Section: Tarn 2 reference manual", "001.pdf", ["tarn 2"], id="kind after"),
        pytest.param("Section: Operating manual", "docs/tarn_2.md", ["tarn 2"], id="by its file"),
        pytest.param("Class: Tarn - Method: step", "src/1.py", [], id="code"),
        pytest.param("", "2.5.md", [], id="a number alone"),
    ],
)
def test_titles(label: str, path: str, titles: list[str]) -> None:
    """The root of the headings and the file's name, without what kind of document it is."""
    assert [" ".join(title) for title in titles_of(label, path)] == titles


@pytest.mark.parametrize(
    ("question", "found"),
    [
        pytest.param("How heavy is the Tarn 2?", [("Tarn 2", ["tarn 2"])], id="whole title"),
        pytest.param("how heavy is the tarn 2", [("tarn 2", ["tarn 2"])], id="small letters"),
        pytest.param("Is the Tarn 2 S heavy?", [("Tarn 2 S", ["tarn 2 s"])], id="longer name"),
        pytest.param("Is the Tarn 3 heavy?", [("Tarn 3", ["tarn 3 heater"])], id="part, number"),
        pytest.param("Is the Ulva Mini heavy?", [("Ulva Mini", ["ulva mini pump"])],
                     id="part, capitals"),
        pytest.param("Is the mini pump heavy?", [], id="part, no name by its form"),
        pytest.param("Is the Wex 2 S heavy?", [], id="end of another name"),
        pytest.param("Which deployment is it?", [("deployment", ["deployment"])], id="one word"),
        pytest.param("Tarn 2 or Tarn 2 S?", [("Tarn 2", ["tarn 2"]), ("Tarn 2 S", ["tarn 2 s"])],
                     id="both"),
        pytest.param("What is heavy?", [], id="none"),
        pytest.param("", [], id="empty"),
    ],
)  # fmt: skip
def test_names_in_a_question(question: str, found: list[tuple[str, list[str]]]) -> None:
    """Whole titles, and parts that are names by their form; never a name within another."""
    assert named(question) == found


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        pytest.param("Is the Tarn 2 or the Tarn 3 heavier?", ["Tarn 2", "Tarn 3"], id="or"),
        pytest.param("the weight of Tarn 2, Tarn 3 and the Ulva Mini",
                     ["Tarn 2", "Tarn 3", "Ulva Mini"], id="three"),
        pytest.param("Does the Tarn 2 heat like the Tarn 3?", [], id="apart"),
        pytest.param("Is the Tarn 2 as heavy as a Tarn 2?", [], id="the same twice"),
        pytest.param("Is it Tarn 2 or Tarn 3 or Tarn 2?", ["Tarn 2", "Tarn 3"], id="each once"),
        pytest.param("Is the Tarn 2 heavy?", [], id="one"),
    ],
)  # fmt: skip
def test_side_by_side(question: str, sides: list[str]) -> None:
    """Different documents with nothing but a joining word between their names."""
    found = coordinated(question, named_subjects(question, TITLES))
    assert [question[one.start : one.end] for one in found] == sides


@pytest.mark.parametrize(
    ("question", "words"),
    [
        pytest.param("Which power does the new Tarn 2 heater have?", ["new", "heater"],
                     id="around"),
        pytest.param("Power of the boiler, Tarn 2: heater", [], id="behind punctuation"),
        pytest.param("difference in power between Tarn 2 and 3", [], id="behind a preposition"),
        pytest.param("Which deployment scripts exist?", [], id="no proper name"),
    ],
)  # fmt: skip
def test_words_beside_a_name(question: str, words: list[str]) -> None:
    """Up to the next function word or mark on either side of a proper name."""
    assert list(words_beside(question, named_subjects(question, TITLES))) == words


def test_a_pasted_question_takes_no_time() -> None:
    """A hundred thousand words with thousands of names are read within seconds."""
    question = "Tarn 2 S or Tarn 2 and more words of the question " * 9_000
    started = time.perf_counter()
    found = named_subjects(question, TITLES)
    assert len(list(coordinated(question, found))) == 2
    assert len(list(words_beside(question, found))) > 8_000
    assert time.perf_counter() - started < 10
