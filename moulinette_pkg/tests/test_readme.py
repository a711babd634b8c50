"""The README's examples, executed."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

from .builders import PACKAGE_FOLDER, Completed

_FILE = re.compile(r"^`(\w+\.json)`.*?\n\n```json\n(.*?)```", re.DOTALL | re.MULTILINE)
_CONSOLE = re.compile(r"```console\n\$ python3 -m moulinette (.*?)\n(.*?)```", re.DOTALL)


def test_readme_examples(moulinette: Callable[..., Completed], tmp_path: Path) -> None:
    """Each console example prints what the README shows, on the files it shows."""
    text = (PACKAGE_FOLDER / "README.md").read_text(encoding="utf-8")
    for name, content in _FILE.findall(text):
        (tmp_path / name).write_text(content, encoding="utf-8")
    examples = _CONSOLE.findall(text)
    assert len(examples) == 3
    for line, output in examples:
        assert moulinette(*shlex.split(line)).stdout == output
