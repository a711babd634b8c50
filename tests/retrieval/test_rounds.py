"""A second round where the first one's best hits hold too little of the question."""

from __future__ import annotations

from typing import Any

import pytest

from ragmachine.models import SearchResult
from ragmachine.retrieval.query import QueryAnalysis
from ragmachine.retrieval.ranking import Question, Scored
from ragmachine.retrieval.rounds import RetryStage
from workspace import Workspace


def ask(project: Workspace, query: str, **settings: Any) -> SearchResult:
    """An explained search; the second round is on for anything short of everything."""
    given = {"retry_coverage": 1.0, **settings}
    return project.pipeline(use_cache=False, **given).search(query, explain=True)


def names(result: SearchResult) -> list[str]:
    """Files found, best first."""
    return [hit.chunk.file_path.removeprefix("corpus/") for hit in result.hits]


@pytest.fixture
def pumps(project: Workspace) -> Workspace:
    """The first hit for `warranty leak` names the pump; another file speaks of pumps only."""
    project.write("a.md", "warranty pump pump pump\n")
    project.write("b.md", "pump\n")
    for number in range(6):
        project.write(f"c{number}.md", "unrelated words\n")
    project.index()
    return project


def test_a_weak_ranking_is_widened_by_words_of_its_hits(pumps: Workspace) -> None:
    """`leak` is nowhere, so half of the question is missing; the hit's `pump` leads on."""
    result = ask(pumps, "warranty leak")
    assert names(result) == ["a.md", "b.md"]
    assert "pump" in result.plan["widened by"]
    assert set(result.plan["coverage"]) == {"first round", "wider round"}


@pytest.mark.parametrize("threshold", [0.0, 0.3], ids=["switched off", "covered well enough"])
def test_a_good_ranking_stands(pumps: Workspace, threshold: float) -> None:
    """Half of the question is more than the threshold."""
    result = ask(pumps, "warranty leak", retry_coverage=threshold)
    assert names(result) == ["a.md"]
    assert "widened by" not in result.plan


def test_hits_of_the_first_round_are_kept(pumps: Workspace) -> None:
    """Whatever the second round prefers."""
    first = names(ask(pumps, "warranty leak", retry_coverage=0.0))
    assert set(first) <= set(names(ask(pumps, "warranty leak")))


def test_a_word_that_nobody_wrote_is_looked_for_by_its_relatives(project: Workspace) -> None:
    """`auth` begins `authentication`, which two of eight files hold."""
    project.write("a.md", "authentication by token\n")
    for number in range(7):
        project.write(f"c{number}.md", "unrelated words\n")
    project.index()
    result = ask(project, "auth")
    assert names(result) == ["a.md"]
    assert result.plan["widened by"]["authent"] == pytest.approx(0.5)
    assert names(ask(project, "auth", retry_coverage=0.0)) == []


def test_nothing_is_made_of_words_without_relatives(pumps: Workspace) -> None:
    """No evidence stays no evidence."""
    result = ask(pumps, "zzzzzz qqqqqq")
    assert result.hits == ()
    assert "no evidence" in result.notice


class Fixed:
    """A retriever that always gives the same ranking."""

    decided_by = None

    def __init__(self, *chunks: int) -> None:
        self.ranking = [Scored(chunk, 1.0, {}) for chunk in chunks]

    def search(self, question: Question, count: int) -> list[Scored]:
        """The ranking."""
        return self.ranking[:count]


@pytest.mark.parametrize(
    ("again", "expected"),
    [([1], [0]), ([2, 0], [0, 2]), ([2], [2, 0]), ([], [0])],
    ids=["less", "as much, with the first's hit", "as much, without it", "nothing"],
)
def test_a_wider_round_is_taken_where_it_holds_no_less(
    project: Workspace, again: list[int], expected: list[int]
) -> None:
    """Chunks 0 and 2 hold both words, 1 holds one; `again` is what the wider round ranks."""
    for name, text in (("a", "warranty seal pump"), ("b", "warranty"), ("c", "warranty seal")):
        project.write(f"{name}.md", f"{text}\n")
    project.index()
    index = project.open()
    terms = dict.fromkeys(index.tokenizer.query_terms("warranty seal nobody"), 1.0)
    question = Question(terms, analysis=QueryAnalysis("", terms, tuple(terms)))
    stage = RetryStage(index, Fixed(*again), 1.0, does_correct=True)
    assert [hit.chunk for hit in stage.apply(question, Fixed(0).ranking)] == expected


def test_the_filter_holds_in_the_second_round_too(pumps: Workspace) -> None:
    """What the filter hides is not brought up."""
    pipeline = pumps.pipeline(use_cache=False, retry_coverage=1.0)
    found = pipeline.search("warranty leak", filter="-path:b.md")
    assert names(found) == ["a.md"]
