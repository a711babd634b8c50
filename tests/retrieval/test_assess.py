"""How much of a question its best hits hold."""

from __future__ import annotations

import math

import pytest

from ragmachine.retrieval.assess import coverage, inverse_frequencies, mass_of
from ragmachine.retrieval.query import QueryAnalysis
from ragmachine.retrieval.ranking import Question
from workspace import Workspace

MASS = {"rare": 6.0, "common": 1.0, "unknown": 3.0}


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ([("rare", "common")], 0.7),
        ([("common",), ("rare",)], 0.6),
        ([("common",), (), ("rare",)], 0.6),
        ([("common",), (), (), ("rare",)], 0.1),
        ([()], 0.0),
        ([], 0.0),
    ],
    ids=["one hit", "the better of two", "the third", "the fourth is not looked at", "no term",
         "no hit"],
)  # fmt: skip
def test_the_best_of_three_hits_counts(held: list[tuple[str, ...]], expected: float) -> None:
    """The share of the whole mass that one hit holds; hits are not added up."""
    assert coverage(MASS, held) == pytest.approx(expected)


def test_a_question_without_mass_misses_nothing() -> None:
    """Nothing was asked that could be missing."""
    assert coverage({}, []) == coverage({"the": 0.0}, [()]) == 1.0


def test_an_unknown_word_weighs_as_the_rarest(project: Workspace) -> None:
    """Three chunks: ln(1 + 2.5/1.5) for one that one holds, and for one that none does."""
    for name, text in (("a", "alpha beta"), ("b", "alpha"), ("c", "alpha")):
        project.write(f"{name}.md", f"{text}\n")
    project.index()
    found = inverse_frequencies(project.open(), ["beta", "nobody", "alpha"])
    rarest = math.log(1 + 2.5 / 1.5)
    assert found == pytest.approx([rarest, rarest, math.log(1 + 0.5 / 3.5)])


def test_a_weight_of_the_query_is_a_weight_of_the_assessment(project: Workspace) -> None:
    """A part at half weight has half the mass; a term that is no evidence has none."""
    project.write("a.md", "alpha beta\n")
    project.index()
    index = project.open()
    analysis = QueryAnalysis("", {"alpha": 1.0, "beta": 0.5, "gamma": 1.0}, ("alpha", "beta"))
    mass = mass_of(Question(analysis.terms, analysis=analysis), index)
    assert list(mass) == ["alpha", "beta"]
    assert mass["beta"] == pytest.approx(mass["alpha"] / 2)
