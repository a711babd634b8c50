"""An index that is not what was written: one line that names the file and the remedy."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from house import Program

REMEDY = "build the index again"


def generation(folder: Path) -> Path:
    """The folder of the generation that answers."""
    return folder / (folder / "CURRENT").read_text().strip()


def largest(folder: Path) -> Path:
    """The largest file of the generation."""
    files = [path for path in generation(folder).rglob("*") if path.is_file()]
    return max(files, key=lambda path: (path.stat().st_size, path))


def flip(folder: Path) -> str:
    """Change one bit in the middle of a file."""
    path = largest(folder)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    return path.name


def truncate(folder: Path) -> str:
    """Cut a file in half, as a full disk does."""
    path = largest(folder)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return path.name


def remove(folder: Path) -> str:
    """Delete a file."""
    path = largest(folder)
    path.unlink()
    return path.name


def lose_generation(folder: Path) -> str:
    """Delete the generation that the pointer names."""
    name = generation(folder).name
    shutil.rmtree(folder / name)
    return name


def scribble(folder: Path) -> str:
    """Let the pointer name nothing that could be a generation."""
    (folder / "CURRENT").write_text("../elsewhere\n")
    return "CURRENT"


def zero(folder: Path) -> str:
    """Fill the pointer with zeros, as a power failure does."""
    (folder / "CURRENT").write_bytes(bytes(17))
    return "CURRENT"


def empty(folder: Path) -> str:
    """Empty the pointer."""
    (folder / "CURRENT").write_bytes(b"")
    return "CURRENT"


@pytest.fixture
def copied(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the index, which the program uses from here on."""
    folder = tmp_path / "index"
    shutil.copytree(program.house.index_dir, folder)
    monkeypatch.setenv("RAG_INDEX_DIR", str(folder))
    return folder


@pytest.mark.parametrize(
    "damage",
    [flip, truncate, remove, lose_generation, scribble, zero, empty],
    ids=lambda damage: damage.__name__,
)
@pytest.mark.parametrize("command", ["search", "search_dataset", "answer"])
def test_a_damaged_index_is_refused(
    program: Program, copied: Path, command: str, damage: Callable[[Path], str], tmp_path: Path
) -> None:
    """Exit code 1, the damaged file by name, what to do; nothing is written."""
    name = damage(copied)
    words = {
        "search": ["cache"],
        "answer": ["cache"],
        "search_dataset": [f"{program.house.root}/sets/docs.json", "--save_directory", "out"],
    }
    outcome = program.run(command, *words[command])
    assert outcome.code == 1
    assert name in outcome.err
    assert REMEDY in outcome.err
    outcome.assert_tidy()
    assert not (program.house.root / "out").exists()


@pytest.mark.parametrize("damage", [flip, lose_generation, scribble], ids=lambda f: f.__name__)
def test_indexing_again_mends_a_damaged_index(
    program: Program, copied: Path, damage: Callable[[Path], str]
) -> None:
    """The remedy that the message names is one."""
    damage(copied)
    assert program.run("index", "--target_dir", f"{program.house.root}/corpus").code == 0
    assert "[cache]" in program.run("search", "cache").out
