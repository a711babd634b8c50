"""Named indexes side by side: ``--collection``, ``list``, ``remove``; several folders in one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from house import Program

from ragmachine.collection_names import check_collection
from ragmachine.errors import UsageError


@pytest.fixture
def shelf(program: Program, tmp_path: Path) -> Path:
    """Two folders of a project, one of them indexed without a name."""
    for name, text in (("docs/a.md", "alpha\n"), ("src/b.py", "beta = 1\n"), ("src/c.md", "c\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert run(program, tmp_path, "index", "--target_dir", "docs").code == 0
    return tmp_path


def run(program: Program, shelf: Path, *words: str) -> Any:
    """Run a command on the shelf's indexes."""
    return program.run(*words, "--index_dir", str(shelf / "index"), "--quiet")


def found(program: Program, shelf: Path, query: str, *words: str) -> list[str]:
    """Names of the files that a search finds."""
    document = run(program, shelf, "search", query, "--json", *words).document()
    return [Path(row["file_path"]).name for row in document["retrieved_chunks"]]


def test_collections_do_not_see_each_other(program: Program, shelf: Path) -> None:
    """Each has its own index and its own settings."""
    words = ["--collection", "code", "--max_chunk_size", "100"]
    assert run(program, shelf, "index", "--target_dir", "src", *words).code == 0
    assert found(program, shelf, "beta", "--collection", "code") == ["b.py"]
    assert found(program, shelf, "beta") == []
    assert found(program, shelf, "alpha") == ["a.md"]
    listed = run(program, shelf, "list", "--json").document()["collections"]
    assert [(one["collection"], one["files"]) for one in listed] == [("", 1), ("code", 2)]
    assert run(program, shelf, "list", "--collection", "code", "--json").document() == {
        "collections": listed
    }


def test_a_collection_remembers_its_folders(program: Program, shelf: Path) -> None:
    """Indexing it again needs no folder."""
    run(program, shelf, "index", "--target_dir", "src", "--collection", "code")
    (shelf / "src" / "d.md").write_text("delta\n")
    outcome = run(program, shelf, "index", "--collection", "code", "--json")
    assert outcome.document()["files"] == 3
    assert found(program, shelf, "delta", "--collection", "code") == ["d.md"]


def test_collections_inside_the_corpus_are_not_indexed(program: Program, shelf: Path) -> None:
    """An index folder in the folder that it is of is no document, nor are the indexes in it."""
    run(program, shelf, "index", "--target_dir", "src", "--collection", "code")
    outcome = run(program, shelf, "index", "--target_dir", str(shelf), "--json")
    assert outcome.document()["files"] == 3
    outcome = program.run(
        "index", "--target_dir", str(shelf / "index"), "--index_dir", str(shelf / "index"), "--json"
    )
    assert outcome.document()["files"] == 0


def test_a_collection_leaves_out_the_indexes_beside_it(program: Program, shelf: Path) -> None:
    """Those, and the one without a name, are no documents; what else lies there is one."""
    run(program, shelf, "index", "--target_dir", "src", "--collection", "code")
    (shelf / "index" / "mine.md").write_text("gamma\n")
    words = ["--target_dir", str(shelf), "--collection", "all", "--json"]
    assert run(program, shelf, "index", *words).document()["files"] == 4
    assert run(program, shelf, "index", *words).document()["unchanged"]
    assert found(program, shelf, "gamma", "--collection", "all") == ["mine.md"]


def test_remove_asks_first(program: Program, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal to ask on it refuses; on one, anything but yes keeps the index."""
    outcome = run(program, shelf, "remove")
    assert outcome.code == 2
    assert "add --yes" in outcome.err

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stderr", Terminal())
    for typed, code in (("\n", 2), ("n\n", 2), ("", 2), ("Y\n", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(typed))
        assert run(program, shelf, "remove").code == code
    assert run(program, shelf, "search", "alpha").code == 1


def test_remove_takes_the_index_and_nothing_else(program: Program, shelf: Path) -> None:
    """The others answer; what somebody put beside an index stays."""
    run(program, shelf, "index", "--target_dir", "src", "--collection", "code")
    (shelf / "index" / "notes.txt").write_text("mine")
    outcome = program.run("remove", "--yes", "--index_dir", str(shelf / "index"))
    assert outcome.code == 0
    assert outcome.out.startswith("removed the index in ")
    left = {path.name for path in (shelf / "index").iterdir()}
    assert left == {"notes.txt", "collections", "index.lock"}
    assert found(program, shelf, "beta", "--collection", "code") == ["b.py"]
    assert run(program, shelf, "remove", "code", "--yes").code == 0
    assert run(program, shelf, "list", "--json").document() == {"collections": []}
    assert "no indexes yet" in run(program, shelf, "list").out


def test_what_is_not_there_cannot_be_removed(program: Program, shelf: Path) -> None:
    """A name that was misspelt is an error, not a success."""
    outcome = run(program, shelf, "remove", "cdoe", "--yes")
    assert outcome.code == 1
    outcome.assert_tidy()


def test_a_damaged_collection_is_listed_with_its_fault(program: Program, shelf: Path) -> None:
    """The others are listed as ever."""
    run(program, shelf, "index", "--target_dir", "src", "--collection", "code")
    (manifest,) = (shelf / "index" / "collections" / "code").glob("gen-*/manifest.json")
    manifest.write_text("{")
    first, second = run(program, shelf, "list", "--json").document()["collections"]
    assert (first["problem"], first["files"]) == ("", 1)
    assert "manifest.json" in second["problem"]


@pytest.mark.parametrize(
    "name", ["../up", "a/b", ".hidden", "a b", "ä", "-x", "x" * 65, "a\0", "a\n", "a.b", "CON:"],
    ids=ascii,
)  # fmt: skip
def test_a_name_that_is_no_folder_is_refused(name: str) -> None:
    """It must not lead out of its place, on any system."""
    with pytest.raises(UsageError):
        check_collection(name)


def test_folders_can_be_given_one_after_another(program: Program, shelf: Path) -> None:
    """By position, after the chunk size or without it, or each by name; `y` stays what it was."""
    for words in (
        ["docs", "src"],
        ["2000", "docs", "src"],
        ["--target_dir", "docs", "--target_dir", "src"],
        ["docs", "--target_dir", "src", "--source_tag", "both"],
    ):
        outcome = run(program, shelf, "index", *words, "--json")
        assert outcome.code == 0, outcome.err
        assert outcome.document()["files"] == 3
    outcome = run(program, shelf, "index", "2000", "docs", "n", "--json")
    assert outcome.document()["files"] == 1


def test_what_is_neither_number_nor_folder_is_refused(program: Program, shelf: Path) -> None:
    """A first word that is no folder is a chunk size that cannot be meant."""
    outcome = run(program, shelf, "index", "nowhere")
    assert outcome.code == 2
    assert "max_chunk_size must be a whole number" in outcome.err
