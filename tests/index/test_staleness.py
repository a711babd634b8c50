"""A hit whose file has changed since it was indexed says so, and where its lines are now."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from ragmachine.models import Hit
from workspace import Workspace

TEXT = "# One\n\nalpha words\n\n# Two\n\nbeta words\n"


def hit(project: Workspace, query: str) -> Hit:
    """The first hit of a search with a pipeline that opened the index before."""
    return project.pipeline(use_cache=False, max_chunk_size=20).search(query).hits[0]


@pytest.fixture
def indexed(project: Workspace) -> Workspace:
    """One file of two short sections, a chunk each."""
    project.write("a.md", TEXT)
    project.index(max_chunk_size=20)
    return project


def test_what_has_not_changed_is_not_stale(indexed: Workspace) -> None:
    """The field is there and false, and no lines of now."""
    row = hit(indexed, "beta").to_json()
    assert row["stale"] is False
    assert "first_line_now" not in row
    assert "state" not in row


def test_a_touch_is_no_change(indexed: Workspace) -> None:
    """Other times on the same bytes."""
    (indexed.corpus / "a.md").touch()
    assert hit(indexed, "beta").staleness is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("new\n\nlines\n\n" + TEXT, {"state": "moved", "first_line_now": 9, "last_line_now": 11}),
        (TEXT + "more\n", {"state": "unmoved", "first_line_now": 5, "last_line_now": 7}),
        (TEXT.replace("beta", "gamma"), {"state": "changed"}),
        ("\0" * 50, {"state": "changed"}),
        (TEXT + TEXT, {"state": "unmoved", "first_line_now": 5, "last_line_now": 7}),
        (TEXT[7:] + "more\n" * 30 + TEXT, {"state": "moved", "first_line_now": 3,
                                           "last_line_now": 5}),
    ],
    ids=["moved", "longer", "other words", "binary", "twice", "nearest"],
)  # fmt: skip
def test_lines_are_found_again(indexed: Workspace, text: str, expected: dict[str, Any]) -> None:
    """Where the text stands unchanged, its lines are told; where it does not, that it changed."""
    indexed.write("a.md", text, age_s=60)
    found = hit(indexed, "beta")
    assert found.staleness is not None
    assert found.staleness.to_json() == expected
    row = found.to_json()
    assert row["stale"] is True
    # offsets and lines stay those of the index, which results files are scored by
    assert (row["first_line"], row["last_line"]) == (5, 7)
    assert TEXT[row["first_character_index"] : row["last_character_index"]] == row["text"]


def test_a_file_that_is_gone_is_stale(indexed: Workspace) -> None:
    """It still answers, and says that nobody will find it."""
    (indexed.corpus / "a.md").unlink()
    assert str(hit(indexed, "beta").staleness) == "file is gone"


def test_a_change_behind_the_time_is_seen(indexed: Workspace) -> None:
    """Size and time of modification as they were: the time of the change gives it away."""
    path = indexed.corpus / "a.md"
    info = path.stat()
    time.sleep(0.02)
    path.write_text(TEXT.replace("beta", "atbe"))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert hit(indexed, "beta").staleness is not None


def test_only_files_that_are_shown_are_looked_at(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One look a file, however many of its chunks are hits, and none at other files."""
    project.write("a.md", "alpha one\n\n" * 30)
    project.write("b.md", "beta\n")
    project.index(max_chunk_size=50)
    pipeline = project.pipeline(use_cache=False)
    pipeline.opened_index()
    looked, real = [], os.stat

    def counting(path: Any, *rest: Any, **more: Any) -> os.stat_result:
        if str(path).endswith(".md"):
            looked.append(path)
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "stat", counting)
    assert len(pipeline.search("alpha", 5).hits) == 5
    assert [os.path.basename(path) for path in looked] == ["a.md"]


def test_a_single_file_is_found_again(project: Workspace) -> None:
    """A corpus that is one file has its place in the root itself."""
    path = project.write("only.md", "alpha\n")
    project.pipeline().index(path)
    found = project.pipeline(use_cache=False).search("alpha").hits[0]
    assert found.staleness is None
    path.write_text("x\nalpha\n")
    found = project.pipeline(use_cache=False).search("alpha").hits[0]
    assert found.staleness is not None
    assert (found.staleness.state, found.staleness.first_line) == ("moved", 2)


def test_chunk_ids_outlive_a_build(project: Workspace) -> None:
    """The same path and text have the same id at another position; another path another one."""
    project.write("b.md", "alpha\n")
    project.index()
    before = project.pipeline(use_cache=False).search("alpha").hits[0]
    project.write("a.md", "alpha\n")
    project.index()
    ids = {
        hit.chunk.file_path: (hit.chunk.id, hit.to_json()["chunk_id"])
        for hit in project.pipeline(use_cache=False).search("alpha").hits
    }
    assert ids["corpus/b.md"] == (1, before.to_json()["chunk_id"])
    assert ids["corpus/a.md"][1] != ids["corpus/b.md"][1]
