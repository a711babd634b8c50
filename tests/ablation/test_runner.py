"""Running rows: the ranks they get, the indexes they build, what they leave alone."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from ragmachine import RagPipeline
from ragmachine.ablation import LabelledFolder, Row, select_rows
from ragmachine.ablation.runner import run_rows
from ragmachine.errors import DatasetError, UsageError
from ragmachine.evaluation.measures import Span
from ragmachine.settings import load_settings
from ragmachine.wiring import dense
from toy_encoder import ToyEncoder
from workspace import Workspace


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The chunker of every index that is built, in order."""
    seen: list[str] = []
    real = RagPipeline.index

    def index(self: RagPipeline, *args: Any, **kwargs: Any) -> Any:
        seen.append(f"{self.settings.chunker} {self.settings.k1}")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(RagPipeline, "index", index)
    return seen


def settings_of(project: Workspace, **more: Any) -> Any:
    """Settings of the project, as a command loads them."""
    return load_settings({"project_root": str(project.root), "workers": 1, **more})


def test_a_question_gets_the_rank_of_its_span(pumps: Workspace, folder: LabelledFolder) -> None:
    """Named questions are found first; a paraphrase that shares no word is not found."""
    ranks = run_rows([folder], select_rows("default"), settings_of(pumps), 10)
    assert ranks["default"][:3] == [(1,), (1,), (1,)]
    assert ranks["default"][4] == (None,)


def test_each_true_span_has_its_own_rank(pumps: Workspace, folder: LabelledFolder) -> None:
    """Of two spans one is found and the other, in a file that is not there, is not."""
    case = folder.cases[0]
    double = replace(case, truth=(*case.truth, Span("corpus/gone.md", 0, 9)))
    ranks = run_rows([replace(folder, cases=(double,))], select_rows("default"),
                     settings_of(pumps), 10)  # fmt: skip
    assert ranks == {"default": [(1, None)]}


def test_the_baseline_ranks_slices(pumps: Workspace, folder: LabelledFolder) -> None:
    """Each file is one slice here, and the one that holds the words comes first."""
    ranks = run_rows([folder], select_rows("naive bm25s"), settings_of(pumps), 10)
    assert ranks["naive bm25s"][:2] == [(1,), (1,)]


def test_the_baseline_takes_fewer_files_than_hits_and_empty_questions(project: Workspace) -> None:
    """One slice for ten hits is no error, nor are a lost file and a question without words."""
    from ragmachine.ablation.baseline import naive_search
    from ragmachine.corpus.discover import discover

    project.write("a.txt", "alpha")
    project.write("b.txt", b"alpha\0\1")
    gone = project.write("c.txt", "alpha")
    files = discover(str(project.corpus), max_file_bytes=1000).files
    gone.unlink()
    assert len(files) == 3
    search = naive_search(files, "corpus", 10)
    assert search("alpha") == [Span("corpus/a.txt", 0, 5)]
    for question in ("", "the of", "omega"):
        assert len(search(question)) <= 1
    assert naive_search([], "corpus", 10)("alpha") == []


def test_an_index_is_built_once_for_all_rows_of_its_shape(
    pumps: Workspace, folder: LabelledFolder, builds: list[str]
) -> None:
    """Rows that differ in search alone share it, wherever they stand."""
    rows = select_rows("default, k1 0.9, no passage score, fixed chunks of 2000, b 0.5")
    run_rows([folder], rows, settings_of(pumps), 5)
    assert sorted(builds) == ["fixed 1.5", "structure 0.9", "structure 1.5", "structure 1.5"]


def test_every_folder_is_counted(pumps: Workspace, folder: LabelledFolder) -> None:
    """Ranks follow the order of the folders; progress counts a row over a folder."""
    seen: list[tuple[int, int]] = []
    halves = [replace(folder, cases=folder.cases[:2]), replace(folder, cases=folder.cases[2:])]
    rows = select_rows("default, variety (MMR 0.8)")
    ranks = run_rows(
        halves, rows, settings_of(pumps), 10, lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert ranks == run_rows([folder], rows, settings_of(pumps), 10)


def test_neither_the_users_index_nor_the_users_settings_matter(
    pumps: Workspace, folder: LabelledFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are named after the shipped defaults; the index folder is neither made nor changed."""
    rows = select_rows("default")
    expected = run_rows([folder], rows, settings_of(pumps), 10)
    monkeypatch.setenv("RAG_CORRECT", "false")
    monkeypatch.setenv("RAG_MAX_CHUNK_SIZE", "9")
    settings = settings_of(pumps, index_dir="index")
    assert settings.max_chunk_size == 9
    assert run_rows([folder], rows, settings, 10) == expected
    assert not os.path.exists(pumps.folder)


def test_questions_about_another_folder_are_refused(
    pumps: Workspace, folder: LabelledFolder, builds: list[str]
) -> None:
    """All zeros would look like a result; nothing is built first."""
    (pumps.root / "other").mkdir()
    (pumps.root / "other" / "limpet.md").write_text("# Limpet\n")
    other = replace(folder, target_dir="other")
    with pytest.raises(DatasetError, match=r"cite no file of other, but corpus/lib/valve\.py"):
        run_rows([other], select_rows("default"), settings_of(pumps), 10)
    assert builds == []


def test_a_row_with_a_wrong_value_is_refused(pumps: Workspace, folder: LabelledFolder) -> None:
    """Rows may be made by hand, too."""
    with pytest.raises(UsageError, match="bm25 must be one of"):
        run_rows([folder], [Row("x", "mine", {"bm25": "tfidf"})], settings_of(pumps), 10)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> ToyEncoder:
    """An encoder without a model in place of the one that the settings name."""
    encoder = ToyEncoder({"guarantee": "warranty", "when": "years", "does": "two", "end": "is"})
    monkeypatch.setattr(dense, "make_encoder", lambda *_: encoder)
    return encoder


def test_rows_of_vectors_find_what_words_do_not(
    pumps: Workspace, folder: LabelledFolder, toy: ToyEncoder
) -> None:
    """The vectors are made for those rows; the row that ranks by words alone stays as it is."""
    rows = select_rows("default, vectors alone, vectors and words by evidence")
    ranks = run_rows([folder], rows, settings_of(pumps), 10)
    assert ranks["default"][3] == (None,)
    assert ranks["vectors alone"][3] == (1,)
    assert ranks["vectors and words by evidence"][3] == (1,)


def test_vectors_that_the_users_index_has_are_not_made_again(
    pumps: Workspace, folder: LabelledFolder, toy: ToyEncoder
) -> None:
    """They are found by content, and the index itself is left as it was."""
    pumps.index()
    pumps.pipeline().embed()
    before, made = sorted(pumps.folder.rglob("*")), len(toy.encoded)
    assert made
    placed = replace(folder, index_dir=str(pumps.folder))
    run_rows([placed], select_rows("vectors alone"), settings_of(pumps), 10)
    assert len(toy.encoded) == made
    assert sorted(pumps.folder.rglob("*")) == before
