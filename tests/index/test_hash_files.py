"""Every file of an index is guarded by SHA-256, and damage is named."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ragmachine.errors import IndexCorruptError
from ragmachine.index.hashes import verify, write_hash
from ragmachine.index.store import ARTIFACTS
from workspace import Workspace

# All files of a generation; a test compares this list with what a build writes.
FILES = [
    "manifest.json",
    "chunks.json",
    "documents.bin",
    *(
        f"{folder}/{name}"
        for folder in ("bm25", "bm25_files")
        for name in (
            "data.csc.index.npy",
            "indices.csc.index.npy",
            "indptr.csc.index.npy",
            "params.index.json",
        )
    ),
    "bm25/vocab.index.json",
    *(f"postings/{kind}.{name}.npy" for kind in ("body", "fields")
      for name in ("indptr", "items", "counts")),
    "postings/carried.npy",
    "postings/passage_chunk.npy",
    "postings/passage_length.npy",
]  # fmt: skip


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def truncate(path: Path) -> None:
    """Cut a file to half of its length."""
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    """Cut a file to nothing."""
    os.truncate(path, 0)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generation that tests copy before they damage it."""
    project = Workspace(tmp_path_factory.mktemp("pristine"))
    project.write("guide.md", "# Cache\n\nThe cache evicts the oldest block.\n")
    project.write("engine.py", "def evict(block):\n    return block\n")
    project.index()
    return project.folder


@pytest.fixture
def indexed(project: Workspace, pristine: Path) -> Workspace:
    """A project with an intact index."""
    shutil.copytree(pristine, project.folder)
    return project


def test_the_list_of_files_is_complete(indexed: Workspace) -> None:
    """A build writes the files named above and one hash file per artifact, nothing else."""
    generation = indexed.generation
    written = [str(p.relative_to(generation)) for p in generation.rglob("*") if p.is_file()]
    assert sorted(written) == sorted([*FILES, *(f"{name}.hash" for name in ARTIFACTS)])


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="needs coreutils")
@pytest.mark.parametrize("artifact", ARTIFACTS)
def test_sha256sum_accepts_the_hash_files(indexed: Workspace, artifact: str) -> None:
    """`sha256sum -c` in the generation's folder finds every file and confirms it."""
    checked = subprocess.run(
        ["sha256sum", "--strict", "-c", f"{artifact}.hash"],  # noqa: S607  (found on PATH above)
        cwd=indexed.generation,
        capture_output=True,
        text=True,
        check=True,
    )
    expected = [name for name in FILES if name == artifact or name.startswith(f"{artifact}/")]
    assert sorted(checked.stdout.split()) == sorted(
        word for name in expected for word in (f"{name}:", "OK")
    )


@pytest.mark.parametrize("damage", [flip, truncate, empty, os.remove], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named(
    indexed: Workspace, name: str, damage: Callable[[Path], None]
) -> None:
    """One flipped bit, a cut or a missing file stops the search with the file's name."""
    path = indexed.generation / name
    damage(path)
    with pytest.raises(IndexCorruptError) as caught:
        indexed.found("cache")
    assert str(path) in caught.value.message
    assert "make index" in caught.value.remedy


@pytest.mark.parametrize("damage", [flip, truncate, empty, os.remove], ids=lambda f: f.__name__)
@pytest.mark.parametrize("artifact", ARTIFACTS)
def test_a_damaged_hash_file_is_named(
    indexed: Workspace, artifact: str, damage: Callable[[Path], None]
) -> None:
    """A hash file that is altered, cut short, empty or gone vouches for nothing."""
    path = indexed.generation / f"{artifact}.hash"
    damage(path)
    with pytest.raises(IndexCorruptError, match="make index") as caught:
        indexed.found("cache")
    assert path.name in caught.value.message or str(path.with_suffix("")) in caught.value.message


@pytest.mark.parametrize("kept_lines", range(1, 4))
def test_a_hash_file_cut_at_a_line_end_is_damaged(indexed: Workspace, kept_lines: int) -> None:
    """Files that lost their line in the hash file are not taken for intact."""
    path = indexed.generation / "bm25_files.hash"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:kept_lines]))
    with pytest.raises(IndexCorruptError, match=r"bm25_files\.hash does not list bm25_files/"):
        indexed.open()


def test_a_missing_folder_is_named(indexed: Workspace) -> None:
    """A whole artifact folder that is gone is reported by its first file."""
    shutil.rmtree(indexed.generation / "postings")
    with pytest.raises(IndexCorruptError, match=r"postings/body\.counts\.npy is missing"):
        indexed.open()


def test_a_file_managers_dot_file_does_no_harm(indexed: Workspace) -> None:
    """An index still opens after somebody looked at its folder on a desktop."""
    (indexed.generation / "bm25" / ".DS_Store").write_bytes(b"\0\0")
    assert indexed.found("cache") == ["guide.md"]


def test_nothing_is_ever_unpickled(indexed: Workspace, tmp_path: Path) -> None:
    """A pickle with a hash that matches is refused, and what it would run does not run."""
    bait = tmp_path / "bait"

    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (bait,))

    for folder, name in [("bm25", "data.csc.index.npy"), ("postings", "body.items.npy")]:
        path = indexed.generation / folder / name
        kept = path.read_bytes()
        for content in ("array", "plain"):
            with path.open("wb") as stream:
                if content == "array":
                    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
                else:
                    pickle.dump(Trap(), stream)
            write_hash(str(indexed.generation / folder))
            with pytest.raises(IndexCorruptError, match=folder):
                indexed.open()
            assert not bait.exists()
        path.write_bytes(kept)
        write_hash(str(indexed.generation / folder))


def test_a_chunk_map_of_another_shape_is_named(indexed: Workspace) -> None:
    """JSON whose hash matches but which is no chunk map is refused by name."""
    path = indexed.generation / "chunks.json"
    path.write_text('{"files": 3}')
    write_hash(str(path))
    with pytest.raises(IndexCorruptError, match=r"chunks\.json is missing or is not"):
        indexed.open()


def test_hashes_cover_one_file_or_a_folder(tmp_path: Path) -> None:
    """The SHA-256 of the three bytes `abc`, as its standard gives it, and of no bytes at all."""
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "abc").write_text("abc")
    (folder / "nothing").write_text("")
    write_hash(str(folder))
    assert (tmp_path / "folder.hash").read_text() == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  folder/deep/abc\n"
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  folder/nothing\n"
    )
    verify([str(folder)])


def test_an_unreadable_hash_file_is_damage(tmp_path: Path) -> None:
    """Bytes that are no text in a hash file are reported, not raised as a decoding error."""
    path = tmp_path / "data"
    path.write_text("x")
    (tmp_path / "data.hash").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(IndexCorruptError, match=r"data\.hash is missing or unreadable"):
        verify([str(path)])
