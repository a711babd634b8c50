"""The user's own synonyms."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmachine.errors import UsageError
from ragmachine.retrieval.synonyms import read_synonyms


def test_words_are_read_a_line_each(tmp_path: Path) -> None:
    """Case, blanks and comments do not matter; a word named twice keeps all."""
    (tmp_path / "s.txt").write_text("# ours\nRAM: memory, heap\n\nram: store\n", encoding="utf-8")
    assert read_synonyms("s.txt", str(tmp_path)) == {"ram": ("memory", "heap", "store")}


def test_no_file_is_no_synonyms(tmp_path: Path) -> None:
    """An empty setting reads nothing."""
    assert read_synonyms("", str(tmp_path)) == {}


@pytest.mark.parametrize("line", ["ram memory", "ram:", ": memory"])
def test_a_line_that_is_no_synonym_is_named(line: str, tmp_path: Path) -> None:
    """The message holds the line's number."""
    (tmp_path / "s.txt").write_text(f"a: b\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 2"):
        read_synonyms("s.txt", str(tmp_path))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """A setting that names nothing is not silently ignored."""
    with pytest.raises(UsageError, match=r"none\.txt"):
        read_synonyms("none.txt", str(tmp_path))
