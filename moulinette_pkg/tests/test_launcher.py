"""The shell launcher `moulinette-ubuntu`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .builders import PACKAGE_FOLDER, entry, question, source, write_pair

LAUNCHER = PACKAGE_FOLDER / "moulinette-ubuntu"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a POSIX shell script")


def launch(
    launcher: Path | str, *arguments: str, folder: Path, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run the launcher from a folder, without an inherited import path."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHON")}
    return subprocess.run(
        [str(launcher), *arguments],
        cwd=folder,
        env={**inherited, **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A caller's folder with a space in its name and a pair of files."""
    place = tmp_path / "my folder"
    place.mkdir()
    hit = source("a.md", 0, 100)
    write_pair(place, [question("q", hit)], [entry("q", hit)])
    return place


def test_relative_paths_are_the_callers(folder: Path) -> None:
    """Files are looked up from where the launcher is called."""
    done = launch(
        LAUNCHER, "list_valid_questions", "r.json", "./d.json", folder=folder, PYTHON=sys.executable
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Summary: 1/1 questions valid" in done.stdout


def test_symbolic_link_to_the_launcher(folder: Path) -> None:
    """A link elsewhere finds the package beside the real script."""
    link = folder / "link"
    link.symlink_to(LAUNCHER)
    done = launch("./link", "--version", folder=folder, PYTHON=sys.executable)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("moulinette ")


def test_modules_of_the_caller_are_not_imported(folder: Path) -> None:
    """A `json.py` or `moulinette` folder where the caller stands changes nothing."""
    (folder / "json.py").write_text("raise SystemExit('wrong module')\n", encoding="utf-8")
    (folder / "moulinette").mkdir()
    done = launch(
        LAUNCHER, "list_valid_questions", "r.json", "d.json", folder=folder, PYTHON=sys.executable
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_exit_code_is_handed_on(folder: Path) -> None:
    """The launcher ends with the code of the program."""
    assert launch(LAUNCHER, "nonsense", folder=folder, PYTHON=sys.executable).returncode == 2
    missing = ["list_valid_questions", "r.json", "none.json"]
    assert launch(LAUNCHER, *missing, folder=folder, PYTHON=sys.executable).returncode == 1


def test_wrong_python_variable(folder: Path) -> None:
    """A $PYTHON that is no command is named."""
    done = launch(LAUNCHER, "--version", folder=folder, PYTHON="no-such-python")
    assert done.returncode == 1
    assert "PYTHON=no-such-python is not a command" in done.stderr


def test_no_python(folder: Path, tmp_path: Path) -> None:
    """Without any python3 the message says what to install or set."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "dirname", "readlink"):
        found = next(
            Path(part) / name for part in ("/bin", "/usr/bin") if Path(part, name).exists()
        )
        (tools / name).symlink_to(found)
    done = launch(LAUNCHER, "--version", folder=folder, PATH=str(tools))
    assert done.returncode == 1
    assert "no python3 of version 3.11 or newer" in done.stderr
    assert done.stderr.count("\n") == 1
