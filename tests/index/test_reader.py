"""The opened index: texts, spans and where they may come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmachine.models import Chunk
from workspace import Workspace

GUIDE = "# Cache\n\nnaïve eviction\nof blocks\n"


@pytest.fixture
def indexed(project: Workspace) -> Workspace:
    """An index of one file, and a file beside the corpus that is in no index."""
    project.write("guide.md", GUIDE)
    project.index()
    (project.root / "aside.py").write_text("one\ntwo\nthree\n")
    return project


def span(project: Workspace, path: str, start: int, end: int) -> Chunk | None:
    """A range of a file as the product gives it."""
    return project.open().span(path, start, end, project_root=str(project.root))


def test_a_file_is_kept_as_it_was_indexed(indexed: Workspace) -> None:
    """The text behind a hit is that of the index, also when the file has changed since."""
    indexed.write("guide.md", "something else\n")
    assert indexed.open().file_text("corpus/guide.md") == GUIDE
    assert indexed.open().file_text("corpus/other.md") is None


def test_a_span_has_its_lines_and_type(indexed: Workspace) -> None:
    """Characters 15 to 26 of the guide are the end of line 3 and the start of line 4."""
    found = span(indexed, "corpus/guide.md", 15, 26)
    assert found is not None
    assert found.text == GUIDE[15:26] == "eviction\nof"
    assert (found.first_line, found.last_line) == (3, 4)
    assert (found.file_type, found.file_path) == ("markdown", "corpus/guide.md")


def test_a_span_beyond_the_end_is_cut(indexed: Workspace) -> None:
    """An end beyond the file is the file's end; a start beyond it is no span."""
    found = span(indexed, "corpus/guide.md", 24, 10_000)
    assert found is not None
    assert (found.text, found.end) == (GUIDE[24:], len(GUIDE))
    assert span(indexed, "corpus/guide.md", 10_000, 10_001) is None
    assert span(indexed, "corpus/guide.md", 5, 5) is None


def test_a_span_of_a_file_outside_the_index_is_read_from_disk(indexed: Workspace) -> None:
    """Results of another index are still good for files of the project."""
    found = span(indexed, "aside.py", 4, 7)
    assert found is not None
    assert (found.text, found.first_line, found.file_type) == ("two", 2, "python")


@pytest.mark.parametrize(
    "path",
    ["../outside.md", "{outside}", "corpus/../../outside.md", "link.md", "corpus", "no\0name", ""],
    ids=["climbing", "absolute", "winding", "link", "folder", "NUL", "empty"],
)
def test_a_span_is_never_read_from_outside_the_project(
    indexed: Workspace, tmp_path: Path, path: str
) -> None:
    """A results file from elsewhere cannot make the product show other files of the machine."""
    outside = tmp_path / "outside.md"
    outside.write_text("a secret")
    (indexed.root / "link.md").symlink_to(outside)
    assert span(indexed, path.format(outside=outside), 0, 8) is None


def test_chunks_name_their_file_from_the_project_root(indexed: Workspace) -> None:
    """The contract's form of `file_path`."""
    chunk = indexed.open().chunk(0)
    assert chunk.file_path == "corpus/guide.md"
    assert chunk.location == "corpus/guide.md:1-4"
    assert chunk.label == "Section: Cache"


def test_equal_content_has_an_equal_id(indexed: Workspace) -> None:
    """The id of the content survives a rebuild and changes with a file."""
    before = indexed.open()
    indexed.index(force=True)
    rebuilt = indexed.open()
    assert rebuilt.content_id == before.content_id
    assert rebuilt.generation != before.generation
    indexed.write("guide.md", "other\n")
    indexed.index()
    assert indexed.open().content_id != before.content_id
