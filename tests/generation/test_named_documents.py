"""Quotations where a question names a document by its title, which stands in labels only."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragmachine.generation.extractive import extract_answers
from ragmachine.generation.stitch import Passage

COVER = "# {0}\n\nThank you for buying the {0}. Use this fine heater for a long time.\n"
DATA = "## Data\n\n| Property | Value |\n|---|---|\n| Mass | {0} kg |\n| Power | {1} W |\n"
WARRANTY = (
    "## Warranty\n\nWe mend the product free of charge for {0} months.\n\n"
    "The time of a repair does not extend the warranty.\n"
)


@pytest.fixture
def manual(make_passage: Callable[..., Passage]) -> Callable[..., list[Passage]]:
    """Builds the passages of manuals, numbered in the order of their texts."""

    def make(*parts: tuple[str, str, str]) -> list[Passage]:
        return [
            make_passage(text, number, path=f"m-{product.lower()}.md".replace(" ", ""),
                         label=f"Section: {product} > {section}")
            for number, (product, section, text) in enumerate(parts, 1)
        ]  # fmt: skip

    return make


def test_the_value_is_quoted_and_not_the_page_with_the_name(manual):
    """A sentence below "Warranty" that says neither that word nor the product's name."""
    passages = manual(
        ("Tarn 2", "Heater", COVER.format("Tarn 2")),
        ("Tarn 2", "Data", DATA.format(8, 900)),
        ("Tarn 2", "Warranty", WARRANTY.format(24)),
    )
    answer = extract_answers(["How long is the warranty of the Tarn 2?"], passages)
    assert "24 months" in answer.text
    assert answer.cited == (3,)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("What is the mass of the Tarn 2 S?", id="name"),
        pytest.param("What is the mass of the tarn 2 s?", id="small letters"),
        pytest.param("Which mass does the Tarn 2 S heater have?", id="name and kind"),
        pytest.param("Tarn 2 S mass", id="words"),
    ],
)
def test_another_document_is_not_quoted(manual, question):
    """However well it is ranked: what it says of another product is no answer."""
    passages = manual(
        ("Tarn 2", "Data", DATA.format(8, 900)),
        ("Tarn 2 S", "Heater", COVER.format("Tarn 2 S")),
        ("Tarn 2 S", "Data", DATA.format(9, 950)),
        ("Tarn 3", "Data", DATA.format(11, 990)),
    )
    answer = extract_answers([question], passages)
    assert answer.text == "| Property | Value |\n| Mass | 9 kg | [3]"


def test_nothing_is_quoted_where_the_document_does_not_say_it(manual):
    """Neither another product's value nor a page that only has the name."""
    passages = manual(
        ("Tarn 3", "Data", DATA.format(11, 990)), ("Tarn 2", "Heater", COVER.format("Tarn 2"))
    )
    assert extract_answers(["What is the mass of the Tarn 2?"], passages).text == ""


def test_a_document_is_quoted_where_only_its_name_is_asked(manual):
    """There is nothing else to go by."""
    passages = manual(("Tarn 2", "Heater", COVER.format("Tarn 2")))
    assert "Thank you" in extract_answers(["What is the Tarn 2?"], passages).text


def test_code_is_quoted_beside_a_named_document(manual, make_passage):
    """Code has no title that could be another's."""
    code = make_passage("MASS_KG = 9\n", 2, path="src/tarn.py")
    passages = [*manual(("Tarn 2", "Heater", COVER.format("Tarn 2"))), code]
    assert "MASS_KG = 9" in extract_answers(["What is the mass kg of the Tarn 2?"], passages).text


@pytest.mark.parametrize(
    "question",
    [
        "Which has more power, the Tarn 2 or the Ulva Mini?",
        "Compare the power of the Tarn 2 and the Ulva Mini",
        "What is the difference in power between Ulva Mini and Tarn 2?",
        "power of the Ulva Mini vs the Tarn 2",
    ],
)
def test_a_comparison_quotes_either_side(manual, question):
    """Its value of each, and of nothing else, although one of them holds all words asked for."""
    passages = manual(
        ("Tarn 2", "Data", DATA.format(8, 900)),
        ("Ulva Mini", "Data", DATA.format(2, 300)),
        ("Tarn 3", "Data", DATA.format(11, 990)),
    )
    answer = extract_answers([question], passages)
    assert "| Power | 900 W | [1]" in answer.text
    assert "| Power | 300 W | [2]" in answer.text
    assert answer.cited == (1, 2)


def test_a_comparison_stays_short(manual):
    """Two sides share the quotes of one answer, and one quote is of one side."""
    lines = "".join(f"Warranty {word}: lasts {{0}} months.\n\n" for word in ("a", "b", "c", "d"))
    passages = manual(
        ("Tarn 2", "Warranty", lines.format(24)), ("Tarn 3", "Warranty", lines.format(60))
    )
    question = "Which has the longer warranty, the Tarn 2 or the Tarn 3?"
    text = extract_answers([question], passages, max_sentences=4).text
    assert (text.count("[1]"), text.count("[2]")) == (2, 2)
    assert extract_answers([question], passages, max_sentences=1).text.count("[") == 1


@pytest.mark.parametrize("number", ["7105.310.22", "AB-1201-33", "AB 1201 33", "K120133"])
def test_a_number_is_quoted_with_what_it_is(manual, number):
    """Its row below the header."""
    table = f"| Part | Number |\n|---|---|\n| Coil | {number} |\n| Seal | 99-1 |\n"
    passages = manual(("Tarn 2", "Spare parts", table))
    answer = extract_answers([f"I need part {number}: what is it?"], passages)
    assert f"| Part | Number |\n| Coil | {number} |" in answer.text


def test_a_heading_admits_only_what_stands_right_below_it(make_passage):
    """Numbers of other sections are no answer, whatever the whole passage is called."""
    text = "# Guide\n\n## Care\n\nRinse for 5 hours.\n\n## Warranty\n\nIt lasts 24 months.\n"
    passage = make_passage(text, label="Section: Guide > Care; Section: Guide > Warranty")
    assert (
        extract_answers(["How long is the warranty?"], [passage]).text == "It lasts 24 months. [1]"
    )
