"""The library's face: paths, exact offsets, results and notices, generations noticed."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

import ragmachine
from ragmachine import RagPipeline, Settings
from ragmachine.errors import CorpusError, IndexMissingError, ModelError, UsageError
from ragmachine.models import Answer, SearchResult
from workspace import Workspace


def paths(result: SearchResult) -> list[str]:
    """Files of the hits, best first."""
    return [hit.chunk.file_path for hit in result.hits]


# --- how files are named


@pytest.mark.parametrize("where", [".", "corpus", "corpus/sub"], ids=["root", "corpus", "deeper"])
@pytest.mark.parametrize(
    "target", ["{root}/corpus", "{root}/corpus/", None], ids=["absolute", "slash", "relative"]
)
def test_paths_do_not_depend_on_where_it_is_run(
    project: Workspace, monkeypatch: pytest.MonkeyPatch, where: str, target: str | None
) -> None:
    """From any folder, however the corpus is named: relative to the project root, with slashes."""
    project.write("sub/a.md", "alpha\n")
    monkeypatch.chdir(project.root / where)
    given = target.format(root=project.root) if target else os.path.relpath(project.corpus)
    pipeline = project.pipeline()
    report = pipeline.index(given)
    assert report.corpus_root == "corpus"
    assert paths(pipeline.search("alpha")) == ["corpus/sub/a.md"]


def test_the_corpus_is_found_from_the_project_root_too(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative folder that is not here is looked for in the project."""
    project.write("a.md", "alpha\n")
    monkeypatch.chdir("/")
    pipeline = project.pipeline(target_dir="corpus")
    pipeline.index()
    assert paths(pipeline.search("alpha")) == ["corpus/a.md"]


@pytest.mark.parametrize("name", ["with space", "naïve 中文", "a'b\"c"], ids=repr)
def test_odd_letters_in_a_folder_are_kept(project: Workspace, name: str) -> None:
    """Spaces, quotes and letters beyond ASCII are part of the path."""
    project.write(f"{name}/a b.md", "alpha\n")
    pipeline = project.pipeline()
    pipeline.index(f"corpus/{name}")
    assert paths(pipeline.search("alpha")) == [f"corpus/{name}/a b.md"]


def test_a_corpus_reached_through_a_link(project: Workspace, tmp_path: Path) -> None:
    """A folder linked into the project is named as in the project."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.md").write_text("alpha\n")
    (project.root / "linked").symlink_to(elsewhere)
    pipeline = project.pipeline()
    pipeline.index("linked")
    assert paths(pipeline.search("alpha")) == ["linked/a.md"]


def test_a_corpus_outside_the_project_has_absolute_paths(
    project: Workspace, tmp_path: Path
) -> None:
    """There is no other way to name its files."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("alpha\n")
    pipeline = project.pipeline()
    pipeline.index(outside)
    assert paths(pipeline.search("alpha")) == [f"{outside}/a.md"]


def test_the_project_root_as_the_corpus(project: Workspace) -> None:
    """Paths then begin with the first folder below the root, or are bare names."""
    project.write("a.md", "alpha\n")
    (project.root / "top.md").write_text("alpha\n")
    pipeline = project.pipeline()
    pipeline.index(project.root)
    assert sorted(paths(pipeline.search("alpha"))) == ["corpus/a.md", "top.md"]


def test_a_single_file_as_the_corpus(project: Workspace) -> None:
    """Its path is the file's own, not a folder of the same name."""
    project.write("sub/a.md", "alpha\n")
    project.write("sub/b.md", "alpha\n")
    pipeline = project.pipeline()
    pipeline.index("corpus/sub/a.md")
    assert paths(pipeline.search("alpha")) == ["corpus/sub/a.md"]


# --- where a hit is


@pytest.mark.parametrize(
    ("codec", "mark"),
    [
        ("utf-8", ""),
        ("utf-8", "\ufeff"),
        ("utf-16-le", "\ufeff"),
        ("utf-16-be", "\ufeff"),
        ("latin-1", ""),
    ],
    ids=["UTF-8", "UTF-8 with a mark", "UTF-16 LE", "UTF-16 BE", "Latin-1"],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CR LF"])
def test_a_hit_is_the_text_between_its_offsets(
    project: Workspace, codec: str, mark: str, newline: str
) -> None:
    """Offsets count characters of the untranslated file, a mark being one; lines count from 1."""
    lines = ["# Guide", "", "caf\xe9 filler text.", "", "## Part", "", "alpha \xfc is here."]
    text = mark + newline.join(lines) + newline
    project.write("guide.md", text.encode(codec))
    pipeline = project.pipeline(max_chunk_size=40)
    pipeline.index("corpus")
    chunk = pipeline.search("alpha").hits[0].chunk
    assert chunk.text == text[chunk.start : chunk.end]
    assert chunk.text.endswith("alpha \xfc is here.")
    assert (chunk.first_line, chunk.last_line) == (5, 7)
    assert chunk.end == len(text) - len(newline)


# --- what a search gives


def test_hits_are_ranked_and_explained(project: Workspace) -> None:
    """Ranks from 1, falling scores, the words found, the stages that add up."""
    project.write("a.md", "# Cache\n\nThe cache evicts blocks.\n")
    project.write("b.md", "# Other\n\nOnly a cache.\n")
    project.index()
    result = project.pipeline().search("evict the cache")
    assert [hit.rank for hit in result.hits] == [1, 2]
    assert result.hits[0].score > result.hits[1].score > 0
    assert [hit.terms for hit in result.hits] == [("cach", "evict"), ("cach",)]
    assert sum(result.hits[0].stages.values()) == pytest.approx(result.hits[0].score, rel=1e-5)
    assert (result.query, result.strategy, result.total_chunks) == ("evict the cache", "lexical", 2)
    assert result.notice == ""
    assert result.search_time_ms > 0


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("", "the query is empty"),
        (" \t\n", "the query is empty"),
        ("the and of", "no word that could tell one file"),
        ("?!…", "no word that could tell one file"),
        ("asdfghjkl zxcvbnm", "no evidence"),
    ],
    ids=["empty", "blank", "stopwords", "punctuation", "unknown words"],
)
def test_without_evidence_there_is_a_notice(project: Workspace, query: str, notice: str) -> None:
    """No hit, no error, and one line on why."""
    project.write("a.md", "alpha\n")
    project.index()
    result = project.pipeline().search(query)
    assert result.hits == ()
    assert notice in result.notice


@pytest.mark.parametrize("k", [3, 50, 10**9], ids=str)
def test_more_than_there_is_gives_all_that_bears_on_the_query(project: Workspace, k: int) -> None:
    """K beyond the corpus is no error; files without the word are no hits."""
    for name in "abc":
        project.write(f"{name}.md", "alpha\n")
    project.write("d.md", "beta\n")
    project.index()
    assert paths(project.pipeline().search("alpha", k)) == [f"corpus/{n}.md" for n in "abc"]


@pytest.mark.parametrize("k", [0, -3, True, 2.5, "5"], ids=repr)
def test_a_k_that_cannot_be_meant_is_refused(project: Workspace, k: Any) -> None:
    """Refused before anything is opened: there is no index here."""
    with pytest.raises(UsageError, match="k must be"):
        project.pipeline().search("alpha", k)


def test_k_is_ten_unless_set(project: Workspace) -> None:
    """The setting gives the number of hits where the caller gives none."""
    for number in range(12):
        project.write(f"f{number}.md", "alpha\n")
    project.index()
    assert len(project.pipeline().search("alpha").hits) == 10
    assert len(project.pipeline(k=4).search("alpha").hits) == 4


def test_any_query_text_is_text(project: Workspace) -> None:
    """Queries that look like something else are searched for as they are."""
    project.write("a.md", "None 3.12 True {a} C++ --k 1,2\n")
    project.index()
    for query in ("None", "3.12", "True", "{a} None", "C++", "--k", "1,2", "\ud800 None", "\0None"):
        assert paths(project.pipeline().search(query)) == ["corpus/a.md"], query


# --- generations


def test_an_instance_notices_a_new_generation(project: Workspace) -> None:
    """What another process indexed is found by the next search."""
    project.write("a.md", "alpha\n")
    project.index()
    living = project.pipeline()
    assert paths(living.search("alpha")) == ["corpus/a.md"]
    project.write("b.md", "alpha\n")
    project.index()
    assert paths(living.search("alpha")) == ["corpus/a.md", "corpus/b.md"]


def test_an_unchanged_index_is_opened_once(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second search checks no hashes and reads no vocabulary."""
    project.write("a.md", "alpha\n")
    project.index()
    living = project.pipeline()
    opened = living.opened_index()
    living.search("alpha")
    assert living.opened_index() is opened


def test_no_index_is_an_error_with_a_remedy(project: Workspace) -> None:
    """Searching before indexing says what to type."""
    with pytest.raises(IndexMissingError, match="make index"):
        project.pipeline().search("alpha")


def test_nothing_is_made_by_looking(project: Workspace) -> None:
    """A pipeline that only fails to search leaves no folder behind."""
    pipeline = project.pipeline()
    with pytest.raises(IndexMissingError):
        pipeline.search("alpha")
    pipeline.flush()
    assert not project.folder.exists()


def test_a_missing_corpus_is_named(project: Workspace) -> None:
    """The error has the path that was looked for, and how to get a corpus."""
    with pytest.raises(CorpusError, match=r"there is no folder .*nowhere.*--target_dir"):
        project.pipeline().index("nowhere")


def test_progress_counts_every_file(project: Workspace) -> None:
    """The counts handed to `on_file` add up to the files of the run."""
    for name in "abc":
        project.write(f"{name}.md", "alpha\n")
    counts: list[int] = []
    project.pipeline().index("corpus", on_file=counts.append)
    assert sum(counts) == 3


# --- settings


def test_settings_or_overrides_not_both(project: Workspace) -> None:
    """Two sources of settings at once are a programmer's mistake."""
    with pytest.raises(ValueError, match="not both"):
        RagPipeline(Settings(), k=3)


def test_a_setting_that_does_not_exist_is_refused(project: Workspace) -> None:
    """A misspelt override is an error, not silence."""
    with pytest.raises(UsageError, match="max_chunk_szie"):
        project.pipeline(max_chunk_szie=500)


def test_complete_settings_are_used_as_they_are(project: Workspace) -> None:
    """An instance made from another one's settings works on the same index."""
    project.write("a.md", "alpha\n")
    project.index()
    settings = dataclasses.replace(project.pipeline().settings, k=1)
    assert paths(RagPipeline(settings).search("alpha")) == ["corpus/a.md"]


# --- synonyms and answers


def test_synonyms_widen_a_search(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `expand`, a file that holds a synonym alone is found, below those with the word."""
    project.write("a.md", "automobile\n")
    project.write("b.md", "car\n")
    project.index()
    monkeypatch.setattr(RagPipeline, "_ask", lambda self, prompt: "automobile, vehicle")
    assert paths(project.pipeline().search("car")) == ["corpus/b.md"]
    result = project.pipeline(expand="llm").search("car")
    assert paths(result) == ["corpus/b.md", "corpus/a.md"]
    assert result.hits[1].terms == ()


def test_a_model_that_fails_leaves_the_query_as_it_is(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expansion is a help, never a condition."""
    project.write("b.md", "car\n")
    project.index()

    def fail(self: RagPipeline, prompt: str) -> str:
        raise ModelError("nobody there")

    monkeypatch.setattr(RagPipeline, "_ask", fail)
    result = project.pipeline(expand="llm").search("car")
    assert paths(result) == ["corpus/b.md"]
    assert result.notice == "no synonyms: nobody there"


def test_an_answer_is_made_from_the_search(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`answer` hands its hits and the token callback to the answerer, once."""
    project.write("a.md", "alpha\n")
    project.index()
    seen: list[tuple[SearchResult, object]] = []

    class Fake:
        def answer(self, result: SearchResult, *, on_token: object = None) -> Answer:
            seen.append((result, on_token))
            return Answer("so it is", "fake", result)

    monkeypatch.setattr(RagPipeline, "_answers", lambda self: Fake())
    answer = project.pipeline().answer("alpha", 1, on_token=print)
    assert answer.text == "so it is"
    assert [(paths(result), token) for result, token in seen] == [(["corpus/a.md"], print)]


def test_an_extractive_answer_needs_no_model(project: Workspace) -> None:
    """With `llm` set to extractive, an answer quotes the file and cites its lines."""
    project.write("a.md", "# Cache\n\nThe cache evicts the oldest block first.\n")
    project.index()
    answer = project.pipeline(llm="extractive").answer("what does the cache evict?")
    assert "oldest block" in answer.text
    assert answer.mode == "extractive"
    assert answer.citations[0].file_path == "corpus/a.md"


def test_the_public_names_are_there() -> None:
    """What the package promises to export can be imported from it."""
    assert all(hasattr(ragmachine, name) for name in ragmachine.__all__)
