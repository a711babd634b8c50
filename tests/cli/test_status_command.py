"""``status`` and ``stats`` as the user meets them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from house import Program


@pytest.fixture
def corpus(program: Program, tmp_path: Path) -> Path:
    """A small corpus, indexed into a folder of this test's own."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("a.md", "b.md", "c.py"):
        (corpus / name).write_text(f"word_of_{name[0]} = 1\n")
        os.utime(corpus / name, (time.time() - 3600,) * 2)
    (corpus / "picture.png").write_bytes(b"\0")
    (corpus / "latin.txt").write_bytes(b"caf\xe9 noir\n")
    outcome = program.run("index", "--target_dir", str(corpus), *place(tmp_path), "--quiet")
    assert outcome.code == 0
    return corpus


def place(tmp_path: Path) -> list[str]:
    """Words that name this test's index."""
    return ["--index_dir", str(tmp_path / "index")]


def status(program: Program, tmp_path: Path) -> dict[str, Any]:
    """The status as a document."""
    outcome = program.run("status", "--json", *place(tmp_path))
    assert (outcome.code, outcome.err) == (0, "")
    document: dict[str, Any] = outcome.document()
    return document


def test_a_fresh_index_says_so(program: Program, tmp_path: Path, corpus: Path) -> None:
    """What, how much, what was left out and why, and sizes that add up."""
    document = status(program, tmp_path)
    assert document["fresh"] is True
    assert document["update"] == ""
    assert document["counts"]["files"] == 4
    assert document["absolute_root"] == str(corpus)
    assert document["skipped"] == {"binary": 1}
    assert document["problems"] == [
        {"file_path": "latin.txt", "reason": "byte 3 is not UTF-8: read as Latin-1"}
    ]
    sizes = document["bytes"]
    on_disk = sum(p.stat().st_size for p in (tmp_path / "index").rglob("*") if p.is_file())
    assert sizes["total"] == on_disk == sum(sizes.values()) - sizes["total"]
    assert document["vectors"] is None


def test_changes_since_are_counted_by_kind(program: Program, tmp_path: Path, corpus: Path) -> None:
    """Changed, new and removed files by name; a touched one is none of them."""
    (corpus / "a.md").write_text("other words\n")
    (corpus / "b.md").unlink()
    (corpus / "d.md").write_text("new words\n")
    (corpus / "c.py").touch()
    document = status(program, tmp_path)
    kinds = (document["changed"], document["new"], document["removed"])
    assert kinds == (["a.md"], ["d.md"], ["b.md"])
    assert document["fresh"] is False
    text = program.run("status", *place(tmp_path)).out
    assert "fresh      no: 1 changed, 1 new, 1 removed; `ragmachine index --target_dir" in text
    assert "changed: a.md" in text


def test_the_command_told_brings_it_up_to_date(
    program: Program, tmp_path: Path, corpus: Path
) -> None:
    """With the settings of the build, whatever the defaults are."""
    words = ["--max_chunk_size", "500", "--exclude", "*.txt", "--source_tag", "two words"]
    program.run("index", "--target_dir", str(corpus), *place(tmp_path), "--quiet", *words)
    before = status(program, tmp_path)
    (corpus / "e.md").write_text("more\n")
    import shlex

    command = status(program, tmp_path)["update"]
    assert program.run(*shlex.split(command)[1:], *place(tmp_path), "--quiet").code == 0
    after = status(program, tmp_path)
    assert after["fresh"] is True
    assert after["settings"] == before["settings"]
    assert after["folders"] == before["folders"] == [{"path": "", "tag": "two words"}]


def test_the_command_told_names_every_folder(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the one that is indexed by default: without it the index would lose its files."""
    folders = [str(tmp_path / name) for name in ("docs", "src")]
    for folder in folders:
        os.mkdir(folder)
        (Path(folder) / "a.md").write_text("words\n")
    words = [word for folder in folders for word in ("--target_dir", folder)]
    assert program.run("index", *words, *place(tmp_path), "--quiet").code == 0
    (tmp_path / "src" / "b.md").write_text("more\n")
    monkeypatch.setenv("RAG_TARGET_DIR", folders[0])
    assert status(program, tmp_path)["update"] == " ".join(["ragmachine", "index", *words])


def test_the_command_told_leaves_out_a_default_folder(
    program: Program, tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is indexed by default is not named, tagged or not."""
    words = ["--target_dir", str(corpus), "--source_tag", "mine"]
    program.run("index", *words, *place(tmp_path), "--quiet")
    (corpus / "e.md").write_text("more\n")
    monkeypatch.setenv("RAG_TARGET_DIR", str(corpus))
    assert status(program, tmp_path)["update"] == "ragmachine index --source_tag mine"


def test_vectors_that_are_missing_are_told(program: Program, tmp_path: Path, corpus: Path) -> None:
    """In chunks, which may have several; those of another generation are none of this one's."""
    folder = tmp_path / "index" / "dense-vectors"
    folder.mkdir()
    generation = status(program, tmp_path)["generation"]
    state = (
        '{"generation": "%s", "encoder": "toy", "known": 7, "chunks": 3, "dimensions": 4,'
        ' "name": "x"}'
    )
    (folder / "current.json").write_text(state % generation)
    assert status(program, tmp_path)["vectors"] == {"encoder": "toy", "chunks": 3, "missing": 1}
    assert "1 lack one" in program.run("status", *place(tmp_path)).out
    (folder / "current.json").write_text(state % "gen-000000000000")
    assert status(program, tmp_path)["vectors"] == {"encoder": "toy", "chunks": 0, "missing": 4}


def test_a_folder_that_is_gone_is_no_failure(
    program: Program, tmp_path: Path, corpus: Path
) -> None:
    """The index still answers; how fresh it is cannot be told."""
    corpus.rename(tmp_path / "elsewhere")
    document = status(program, tmp_path)
    assert document["fresh"] is False
    assert "there is no folder" in document["notice"]


def test_without_an_index_there_is_one_line(program: Program, tmp_path: Path) -> None:
    """An error with its remedy, and nothing on stdout."""
    for command in ("status", "stats"):
        outcome = program.run(command, "--index_dir", str(tmp_path / "none"))
        assert outcome.code == 1
        outcome.assert_tidy()


def test_an_altered_manifest_is_not_believed(
    program: Program, tmp_path: Path, corpus: Path
) -> None:
    """The hash guards the status as it guards a search."""
    (manifest,) = (tmp_path / "index").glob("gen-*/manifest.json")
    manifest.write_bytes(manifest.read_bytes().replace(b'"files":4', b'"files":5'))
    outcome = program.run("status", *place(tmp_path))
    assert outcome.code == 1
    assert "does not match its SHA-256" in outcome.err


def test_an_index_of_another_version_is_not_fresh(
    program: Program, tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run builds it anew, although no file has changed."""
    monkeypatch.setattr("ragmachine.health.status.versions", lambda: {"ragmachine": "0"})
    document = status(program, tmp_path)
    assert (document["fresh"], document["same_version"]) == (False, False)
    assert document["update"].startswith("ragmachine index")


def test_stats_count_by_type_and_folder(program: Program, tmp_path: Path, corpus: Path) -> None:
    """Files, chunks and characters, most chunks first."""
    document = program.run("stats", "--json", *place(tmp_path)).document()
    types = {row["name"]: row["files"] for row in document["types"]}
    assert types == {"markdown": 2, "python": 1, "text": 1}
    assert document["folders"] == [{"name": ".", "files": 4, "chunks": 4, "characters": 48}]
    assert document["chunk_characters"]["largest"] == 13
    assert "markdown" in program.run("stats", *place(tmp_path)).out


def test_a_stale_hit_says_so(program: Program, tmp_path: Path, corpus: Path) -> None:
    """A word for people, fields for machines."""
    (corpus / "a.md").write_text("\n\nword_of_a = 1\n")
    outcome = program.run("search", "word_of_a", "--k", "1", *place(tmp_path))
    assert "[file changed, now lines 3-3]" in outcome.out
    row = program.run("search", "word_of_a", "--json", *place(tmp_path)).document()
    assert row["retrieved_chunks"][0]["stale"] is True
    assert row["retrieved_chunks"][0]["first_line_now"] == 3
