"""From a query to a question."""

from __future__ import annotations

from typing import Any

from ragmachine.retrieval.options import SearchOptions
from ragmachine.retrieval.query import AnalysisOptions
from ragmachine.retrieval.ranking import Question
from ragmachine.retrieval.reading import QuestionReader
from ragmachine.settings import Settings
from ragmachine.wiring.searching import search_options
from workspace import Workspace


def read(project: Workspace, query: str, words: tuple[str, ...] = (), **options: Any) -> Question:
    """A query read with some options; `words` are what a model would offer."""
    reader = QuestionReader(project.open(), SearchOptions(**options), lambda _: words)
    return reader.read(query, 5, None)


def corpus(project: Workspace) -> None:
    """Two files."""
    project.write("src/engine.py", "limit = 1\n")
    project.write("src/other.py", "limit = 2\n")
    project.index()


def test_synonyms_are_added_below_the_words_of_the_query(project: Workspace) -> None:
    """At their own weight, and never in place of a word that was asked."""
    corpus(project)
    question = read(project, "limit", ("limit", "bound"), expand="llm", expand_weight=0.3)
    assert question.added == {"bound": 0.3}
    assert question.terms == {"bound": 0.3, "limit": 1.0}


def test_nobody_is_asked_for_synonyms_unasked(project: Workspace) -> None:
    """Without `expand`, a model is left alone."""
    corpus(project)
    assert read(project, "limit", ("bound",)).added == {}


def test_a_file_that_is_named_narrows(project: Workspace) -> None:
    """Unless that is switched off."""
    corpus(project)
    assert read(project, "limit in engine.py").narrowing.named == ("engine.py (1 file)",)
    assert not read(project, "limit in engine.py", does_narrow=False).narrowing.files


def test_parts_are_cut_on_request(project: Workspace) -> None:
    """And read within the frame of the whole question."""
    corpus(project)
    query = "What is the limit? Where is the engine?"
    assert read(project, query).parts == ()
    question = read(project, query, does_decompose=True)
    assert question.parts == ("What is the limit", "Where is the engine")
    reader = QuestionReader(project.open(), SearchOptions(), None)
    part = reader.read_part(question, question.parts[1])
    assert list(part.terms) == ["engin"]
    assert part.k == question.k


def test_more_is_ranked_than_is_wanted() -> None:
    """Three times as many up to 60, and never fewer than wanted."""
    assert [Question({}, k=k).pool for k in (1, 10, 30, 100)] == [3, 30, 60, 100]


def test_the_defaults_are_those_of_the_settings() -> None:
    """Options made without settings are the shipped ones."""
    assert search_options(Settings()) == SearchOptions()


def test_the_name_of_the_language_says_nothing(project: Workspace) -> None:
    """Where every chunk is Python, "python" is ignored though one file alone writes it."""
    for number in range(60):
        project.write(f"part{number}.py", f"value_{number} = {number}\n")
    project.write("snake.py", "python = 1\n")
    project.index()
    question = read(project, "value_7 in python")
    assert "python" in question.analysis.ignored
    assert (
        "python"
        in read(project, "value_7 in python", analysis=AnalysisOptions(common_share=1)).terms
    )
