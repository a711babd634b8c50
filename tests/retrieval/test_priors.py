"""The role of a file, by the names that projects in general use."""

from __future__ import annotations

import numpy as np
import pytest

from ragmachine.retrieval.priors import Role, role_factors, role_of


@pytest.mark.parametrize(
    ("path", "file_type", "role"),
    [
        ("src/engine.py", "python", Role.CODE),
        ("README.md", "markdown", Role.DOCUMENTATION),
        ("docs/guide.rst", "rst", Role.DOCUMENTATION),
        ("tests/engine.py", "python", Role.SUPPORT),
        ("pkg/Tests/engine.py", "python", Role.SUPPORT),
        ("pkg/test_engine.py", "python", Role.SUPPORT),
        ("pkg/Test_Engine.py", "python", Role.SUPPORT),
        ("pkg/engine_test.go", "go", Role.SUPPORT),
        ("pkg/conftest.py", "python", Role.SUPPORT),
        ("examples/README.md", "markdown", Role.SUPPORT),
        (".github/workflows/ci.yml", "yaml", Role.SUPPORT),
        ("latest/engine.py", "python", Role.CODE),
        ("contest.py", "python", Role.CODE),
        ("testing.md", "markdown", Role.DOCUMENTATION),
        ("attest_key.py", "python", Role.CODE),
    ],
)
def test_a_role_is_told_by_folder_or_name(path: str, file_type: str, role: Role) -> None:
    """Tests, examples, tools and the like; a name that only contains such a word is none."""
    assert role_of(path, file_type) is role


def factors(chunks: list[int]) -> list[float]:
    """Factors of a source file, a guide and a test, with so many chunks each."""
    found = role_factors(
        ["a.py", "b.md", "tests/c.py"],
        ["python", "markdown", "python"],
        np.array(chunks),
        support=0.9,
        documentation=1.2,
    )
    return found.tolist()


def test_rare_documentation_is_raised() -> None:
    """One chunk in ten is documentation: 1 + 0.2 * 0.9."""
    assert factors([8, 1, 1]) == pytest.approx([1.0, 1.18, 0.9])


def test_documentation_that_is_everything_is_not_raised() -> None:
    """Among nothing but documentation the factor is 1."""
    assert factors([0, 5, 0]) == pytest.approx([1.0, 1.0, 0.9])


def test_an_empty_corpus_has_no_factors() -> None:
    """No files, no division by their number."""
    nothing = np.array([], dtype=np.int64)
    assert role_factors([], [], nothing, support=0.9, documentation=1.2).tolist() == []
