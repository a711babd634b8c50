"""What of a folder, or of several, is indexed: globs, hidden names, tags; and what stays so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmachine.corpus.discover import Choice, discover
from ragmachine.errors import CorpusError, UsageError
from ragmachine.index.request import locate_all
from workspace import Workspace


def plant(root: Path, *paths: str) -> None:
    """Write files, each of its own."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"words of {path}\n", encoding="utf-8")


def chosen(root: Path, **choice: Any) -> tuple[list[str], dict[str, int]]:
    """(paths found, what was left out) with a choice."""
    found = discover(str(root), max_file_bytes=1000, choice=Choice(**choice))
    return [file.path for file in found.files], dict(found.skipped)


@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        (("*.md",), ["a.md", "docs/b.md"]),
        (("docs/",), ["docs/b.md", "docs/deep/c.txt"]),
        (("./docs/**",), ["docs/b.md", "docs/deep/c.txt"]),
        (("docs/*.txt",), []),
        (("docs", "!docs/deep"), ["docs/b.md"]),
        (("*.py", "a.md"), ["a.md", "src/d.py"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_include_keeps_what_it_names(tmp_path: Path, globs: Any, expected: list[str]) -> None:
    """Files by glob, and all files of a folder by its name; what it negates is not meant."""
    plant(tmp_path, "a.md", "docs/b.md", "docs/deep/c.txt", "src/d.py")
    paths, skipped = chosen(tmp_path, include=globs)
    assert paths == expected
    assert skipped.get("not included", 0) == 4 - len(expected)


def test_exclude_leaves_out_files_and_whole_folders(tmp_path: Path) -> None:
    """It wins over include, and an excluded folder counts once."""
    plant(tmp_path, "a.md", "docs/b.md", "docs/c.txt", "old/d.md", "old/e.md")
    assert chosen(tmp_path, include=("*.md",), exclude=("old/", "a.*")) == (
        ["docs/b.md"], {"excluded": 2, "not included": 1},
    )  # fmt: skip


def test_hidden_names_are_taken_when_asked_for(tmp_path: Path) -> None:
    """But never what git and other tools keep in dot folders."""
    plant(tmp_path, ".notes/a.md", ".b.md", ".git/config", ".venv/lib/c.py", "d.md")
    assert chosen(tmp_path)[0] == ["d.md"]
    assert chosen(tmp_path, has_hidden=True)[0] == [".b.md", ".notes/a.md", "d.md"]


def test_another_choice_takes_over_what_stays(project: Workspace) -> None:
    """Excluding a file reads no other file again; the choice is on record."""
    plant(project.corpus, "a.md", "b.md")
    project.index()
    report = project.index(exclude="b.*")
    assert (report.files, report.reused, report.is_unchanged) == (1, 1, False)
    assert project.open().manifest["settings"]["exclude"] == ["b.*"]
    assert project.index(exclude="b.*").is_unchanged
    assert project.index().files == 2


def test_several_folders_share_an_index(project: Workspace) -> None:
    """Paths stay relative to the project root; what lies beside the folders is not indexed."""
    plant(project.root, "docs/a.md", "src/b.py", "other/c.md", "src/deep/d.py")
    report = project.pipeline().index(["docs", "src"])
    assert (report.files, report.corpus_root) == (3, "")
    assert sorted(project.open().files) == ["docs/a.md", "src/b.py", "src/deep/d.py"]
    assert project.pipeline().index(["src", "docs", "src/deep"]).is_unchanged


def test_folders_below_one_folder_have_their_paths_below_the_root(project: Workspace) -> None:
    """The common folder is the root of the index, and part of every path."""
    plant(project.root, "lib/one/a.md", "lib/two/b.md", "lib/three/c.md")
    project.pipeline().index(["lib/one", "lib/two"])
    hits = project.pipeline(use_cache=False).search("words").hits
    assert {hit.chunk.file_path for hit in hits} == {"lib/one/a.md", "lib/two/b.md"}


def test_tags_are_what_source_filters_by(project: Workspace) -> None:
    """One tag each; a folder without its own is called by the root's name, as before."""
    plant(project.root, "docs/a.md", "src/b.py")
    pipeline = project.pipeline(use_cache=False)
    pipeline.index(["docs", "src"], source_tag="handbook, code")
    found = pipeline.search("words", filter="source:handbook").hits
    assert [hit.chunk.file_path for hit in found] == ["docs/a.md"]
    pipeline.index("docs")
    assert len(pipeline.search("words", filter="source:docs").hits) == 1
    pipeline.index("docs", source_tag="manual")
    assert len(pipeline.search("words", filter="source:manual").hits) == 1
    assert pipeline.search("words", filter="source:docs").hits == ()


def test_an_update_builds_as_before(project: Workspace) -> None:
    """Whatever the settings say now: the folders, globs and chunks are those of the build."""
    plant(project.root, "docs/a.md", "src/b.py", "src/c.md")
    project.pipeline(max_chunk_size=500, exclude="*.md").index(["src", "docs"], source_tag="x")
    plant(project.root, "src/d.py", "src/e.md")
    report = project.pipeline().update()
    assert report.files == 2
    assert project.open().manifest["settings"]["max_chunk_size"] == 500
    assert project.open().sources == ["x", "x"]


def test_folders_that_cannot_share_are_refused(tmp_path: Path) -> None:
    """A file among folders, a folder that is not there, tags that do not fit."""
    plant(tmp_path, "docs/a.md", "src/b.py")
    root = str(tmp_path)
    for paths in (["docs", "docs/a.md"], ["docs", "nowhere"]):
        with pytest.raises(CorpusError):
            locate_all(paths, [], root)
    with pytest.raises(UsageError, match="3 source tags for 2 folders"):
        locate_all(["docs", "src"], ["a", "b", "c"], root)
