"""The stages of a search, each switched on over a small corpus."""

from __future__ import annotations

import pytest

from ragmachine.errors import UsageError
from workspace import Workspace


def names(project: Workspace, query: str, *, filter: str = "", **settings: object) -> list[str]:
    """Files found, best first."""
    result = project.pipeline(**settings).search(query, 10, filter=filter)
    return [hit.chunk.file_path.removeprefix("corpus/") for hit in result.hits]


def test_the_same_text_is_shown_once(project: Workspace) -> None:
    """Two files that say the same give one hit, the better ranked; unlike texts stay."""
    for name, text in (("a.md", "alpha beta\n"), ("b.md", "alpha   beta\n"), ("c.md", "alpha\n")):
        project.write(name, text)
    project.index()
    assert sorted(names(project, "alpha", distinct=True)) == ["a.md", "c.md"]
    assert len(names(project, "alpha", distinct=False)) == 3


def test_a_filter_narrows_before_the_ranking(project: Workspace) -> None:
    """With k = 10 and twenty better files elsewhere, the one file that qualifies is found."""
    for number in range(20):
        project.write(f"src/f{number}.py", f"alpha = {number}  # alpha alpha alpha\n")
    project.write("docs/guide.md", "# Guide\n\nOnly here alpha is explained at some length.\n")
    project.index()
    assert names(project, "alpha", filter="path:docs/**") == ["docs/guide.md"]
    assert names(project, "alpha", filter="lang:python -path:src/**") == []


def test_a_filter_that_nothing_meets_says_so(project: Workspace) -> None:
    """No hit and the reason, rather than hits from elsewhere."""
    project.write("a.md", "alpha\n")
    project.index()
    result = project.pipeline().search("alpha", filter="lang:rust")
    assert (result.hits, result.notice) == ((), "nothing meets the filter")


def test_a_filter_that_cannot_be_read_is_refused(project: Workspace) -> None:
    """The keys that exist are named."""
    project.write("a.md", "alpha\n")
    project.index()
    with pytest.raises(UsageError, match="colour"):
        project.pipeline().search("alpha", filter="colour:red")


def test_filtered_and_unfiltered_results_are_cached_apart(project: Workspace) -> None:
    """The filter is part of the key."""
    project.write("a.md", "alpha\n")
    project.write("b.py", "alpha = 1\n")
    project.index()
    pipeline = project.pipeline()
    assert len(pipeline.search("alpha").hits) == 2
    assert len(pipeline.search("alpha", filter="lang:python").hits) == 1
    assert len(pipeline.search("alpha").hits) == 2


def test_a_slip_is_mended_and_said(project: Workspace) -> None:
    """What was meant is found, and the notice names it."""
    project.write("a.md", "the scheduler runs\n")
    project.index()
    result = project.pipeline().search("shceduler")
    assert [hit.chunk.file_path for hit in result.hits] == ["corpus/a.md"]
    assert "'schedul' for 'shcedul'" in result.notice
    assert names(project, "shceduler", correct=False) == []


def test_the_users_synonyms_widen_a_search(project: Workspace) -> None:
    """`ram: memory` finds the file that says memory, below one that says ram."""
    project.write("a.md", "ram ram\n")
    project.write("b.md", "memory\n")
    (project.root / "words.txt").write_text("ram: memory\n")
    project.index()
    assert names(project, "ram") == ["a.md"]
    assert names(project, "ram", synonyms_file="words.txt") == ["a.md", "b.md"]


def test_feedback_adds_words_of_the_best_hits(project: Workspace) -> None:
    """The only hit also says `pump`; with feedback, the other file that says so is found."""
    project.write("a.md", "warranty pump pump pump\n")
    project.write("b.md", "pump\n")
    project.write("c.md", "unrelated\n")
    project.index()
    assert names(project, "warranty") == ["a.md"]
    assert names(project, "warranty", expand="prf") == ["a.md", "b.md"]


def test_both_halves_of_a_comparison_are_found(project: Workspace) -> None:
    """Six files repeat the first half; cut in two, the other half's file is in the first two."""
    for number in range(6):
        project.write(f"delta{number}.md", f"warranty of the delta sensor, part {number}, delta\n")
    project.write("cobalt.md", "cobalt pump: warranty is one year and many other words besides\n")
    project.index()
    query = "Compare the warranty of the delta sensor and the cobalt pump"
    assert "cobalt.md" in names(project, query, decompose=True)[:2]


def test_variety_lets_another_file_rise(project: Workspace) -> None:
    """Two near twins lead; with variety, the unlike third comes second."""
    project.write("a.md", "alpha beta gamma delta one\n")
    project.write("b.md", "alpha beta gamma delta two\n")
    project.write("c.md", "alpha epsilon zeta eta theta iota kappa\n")
    project.index()
    assert names(project, "alpha")[:2] == ["a.md", "b.md"]
    assert names(project, "alpha", variety=0.5)[:2] == ["a.md", "c.md"]


def test_the_plan_says_what_was_made_of_a_query(project: Workspace) -> None:
    """Weights, corrections, names and parts, and what each stage gave each hit."""
    project.write("a.py", "max_tokens = 5\n")
    project.index()
    pipeline = project.pipeline(decompose=True)
    result = pipeline.search("What is max_tokens? Where is foo.py?", explain=True)
    document = result.to_json(is_explained=True)
    assert document["plan"]["terms"]["max_tokens"] == 1
    assert document["plan"]["terms"]["max"] == pytest.approx(0.5)
    assert document["plan"]["files"] == ["foo.py"]
    assert document["plan"]["parts"] == ["What is max_tokens", "Where is foo.py"]
    assert "chunk" in document["retrieved_chunks"][0]["stages"]


def test_the_definition_of_a_name_rises(project: Workspace) -> None:
    """A file that repeats a class's name leads; asked for the class, its definition does."""
    project.write("use.py", "x = Cache(Cache(Cache(1)))\n")
    project.write("own.py", "class Cache:\n    size = 1\n    age = 2\n    kind = 'plain'\n")
    project.index()
    assert names(project, "class Cache", symbol_factor=3.0)[0] == "own.py"
    result = project.pipeline(symbol_factor=3.0).search("class Cache")
    assert result.hits[0].stages["symbol"] > 0


def test_a_query_without_a_name_favours_no_definition(project: Workspace) -> None:
    """Plain words ask for no symbol."""
    project.write("own.py", "def cache():\n    return 'a cache of plain words'\n")
    project.index()
    stages = project.pipeline().search("the cache of words").hits[0].stages
    assert "symbol" not in stages


def test_near_duplicates_are_left_out_on_request(project: Workspace) -> None:
    """Nine words of ten are shared: left out from a likeness of 0.8 on, and kept by default."""
    shared = "alpha beta gamma delta epsilon zeta eta theta iota"
    project.write("a.md", f"{shared} one\n")
    project.write("b.md", f"{shared} two\n")
    project.write("c.md", "alpha kappa\n")
    project.index()
    assert sorted(names(project, "alpha")) == ["a.md", "b.md", "c.md"]
    assert sorted(names(project, "alpha", near_duplicates=0.8)) == ["a.md", "c.md"]
    result = project.pipeline(near_duplicates=0.8).search("alpha", explain=True)
    assert result.plan["near-duplicates"] == "1 of 3 left out"


def test_the_file_that_is_named_comes_first(project: Workspace) -> None:
    """Its rival says more, yet the question asks for this file; the rival stays among the hits."""
    project.write("rival.py", "asked limit asked limit\n")
    project.write("asked.py", "limit = 1  # asked by all, and many more words\n")
    project.index()
    query = "In asked.py, what is the limit?"
    assert names(project, query, narrow=False) == ["rival.py", "asked.py"]
    assert names(project, query) == ["asked.py", "rival.py"]
    plan = project.pipeline().search(query, explain=True).plan
    assert plan["narrowed to"] == ["asked.py (1 file)"]


def test_the_assignment_of_a_name_rises(project: Workspace) -> None:
    """A file that repeats a constant leads; asked for it, the one that sets it does."""
    project.write("use.py", "run(MAX_ROWS, MAX_ROWS, MAX_ROWS)\n")
    project.write("own.py", "MAX_ROWS = 5\nage = 2\nkind = 'plain'\nother = 'more words'\n")
    project.index()
    assert names(project, "MAX_ROWS", symbol_factor=1.0)[0] == "use.py"
    assert names(project, "MAX_ROWS", symbol_factor=3.0)[0] == "own.py"


def test_an_explained_search_runs_its_stages_again(project: Workspace) -> None:
    """What the cache knows is a ranking without the notes on how it came about."""
    project.write("a.md", "alpha\n")
    project.index()
    pipeline = project.pipeline()
    plain = pipeline.search("alpha")
    explained = pipeline.search("alpha", explain=True)
    assert not explained.is_cached
    assert explained.hits == plain.hits
    assert "coverage" in explained.plan
    assert "priors" in explained.plan
    assert pipeline.search("alpha").is_cached


def test_ever_new_filters_fill_no_memory(project: Workspace) -> None:
    """A server may be asked with any number of them; each still does what it says."""
    project.write("a.md", "alpha\n")
    project.index()
    searcher = project.pipeline().opened_searcher()
    for number in range(200):
        assert searcher.search("alpha", 1, f"path:f{number}/**").hits == ()
    assert len(searcher.search("alpha", 1, "path:a.md").hits) == 1
    assert len(searcher._masks) < 100


def test_either_side_of_a_comparison_is_searched_for_itself(project: Workspace) -> None:
    """Ten pages say more of one thing than of the other; the other's page still comes second."""
    for number in range(10):
        project.write(f"first{number}.md", f"# First {number}\n\nThe warranty of the Tarvel 3.\n")
    project.write(
        "second.md", "# Ostrin\n\n" + "Filler about rain. " * 30 + "Warranty: Ostrin 5.\n"
    )
    project.index()
    asked = "Which has the longer warranty, the Tarvel 3 or the Ostrin 5?"
    assert "second.md" in names(project, asked)[:2]
    plan = project.pipeline().search(asked, explain=True).plan
    assert plan["parts"] == ["warranty of Tarvel 3", "warranty of Ostrin 5"]
    assert "parts" not in project.pipeline(compare=False).search(asked, explain=True).plan
