"""Whatever the README shows is run or compared with what was measured."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ragmachine.commands.table import COMMANDS
from ragmachine.settings import load_settings

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("snippet", blocks("python"))
def test_python_snippets_run(snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library example indexes the sample, finds the warranty and cites its lines."""
    monkeypatch.chdir(ROOT)
    code = snippet.replace("/tmp/ragmachine-readme", str(tmp_path / "index"))  # noqa: S108
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102  (our own example)
    assert "data/sample/" in printed.getvalue()
    assert "months" in printed.getvalue()
    assert "[1]" in printed.getvalue()


def test_console_commands_run(tmp_path: Path) -> None:
    """Every `$` line of a console block ends well."""
    env = {**os.environ, "RAG_INDEX_DIR": str(tmp_path / "index")}
    lines = [line for block in blocks("console") for line in block.splitlines()]
    commands = [line[2:] for line in lines if line.startswith("$ ")]
    assert commands
    for command in commands:
        words = [sys.executable if word == "python" else word for word in shlex.split(command)]
        done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_every_command_of_the_table_exists() -> None:
    """The command table names commands that can be run."""
    named = re.findall(r"^\| `(\w+)", TEXT, re.MULTILINE)
    known = {command.name for command in COMMANDS}
    assert named
    assert set(named) <= known | {"search"}


def test_the_settings_example_is_valid(tmp_path: Path) -> None:
    """The TOML block holds names and values that are accepted."""
    (example,) = blocks("toml")
    path = tmp_path / "ragmachine.toml"
    path.write_text(example, encoding="utf-8")
    settings = load_settings({"project_root": str(tmp_path)}, {})
    assert (settings.k, settings.model) == (5, "qwen3:1.7b")


def test_make_targets_exist() -> None:
    """Each `make target` the README mentions is in the Makefile."""
    targets = set(re.findall(r"^([a-z_]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    mentioned = set(re.findall(r"\bmake ([a-z_]+)", TEXT))
    assert mentioned <= targets


def test_tables_are_the_measurements() -> None:
    """The tables say what the saved results say."""
    done = subprocess.run(
        [sys.executable, "benchmarks/readme_tables.py", "--check"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere() -> None:
    """Relative links of the README and docs point at files that exist."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
