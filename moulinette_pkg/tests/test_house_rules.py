"""Rules of the source that a grader or a reader relies on."""

import ast
import re
import sys
from pathlib import Path

import pytest

from .builders import PACKAGE_FOLDER

SOURCES = sorted(PACKAGE_FOLDER.rglob("*.py"))
PROGRAM = [path for path in SOURCES if path.is_relative_to(PACKAGE_FOLDER / "moulinette")]


def name_of(path: Path) -> str:
    """The path as test id."""
    return str(path.relative_to(PACKAGE_FOLDER))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_line_imports_the_evaluator_by_name(path: Path) -> None:
    """Graders refuse a file with a line that begins with an import of the evaluator."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"^(?:import|from)\s+moulinette", text, re.MULTILINE)


@pytest.mark.parametrize("path", PROGRAM, ids=name_of)
def test_only_the_standard_library_is_imported(path: Path) -> None:
    """The program imports itself relatively and the standard library, nothing else."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            roots = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            roots = {(node.module or "").partition(".")[0]}
        else:
            continue
        assert roots <= sys.stdlib_module_names
