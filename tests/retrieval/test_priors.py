"""The role of a file, by the names that projects in general use."""

from __future__ import annotations

import numpy as np
import pytest

from ragmachine.retrieval.priors import Role, learn_priors, role_of


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
        ("rpc/engine_pb2.py", "python", Role.SUPPORT),
        ("rpc/engine_pb2_grpc.py", "python", Role.SUPPORT),
        ("web/app.min.js", "javascript", Role.SUPPORT),
        ("src/tables_generated.h", "c", Role.SUPPORT),
        ("src/generated/tables.h", "c", Role.SUPPORT),
        ("uv.lock", "text", Role.SUPPORT),
        ("clock.py", "python", Role.CODE),
        ("degenerated/engine.py", "python", Role.CODE),
        ("vendored-parser/parser/docs/use.md", "markdown", Role.SUPPORT),
        ("node_modules/left/index.js", "javascript", Role.SUPPORT),
        ("pkg/vendors.py", "python", Role.CODE),
        ("LICENSE", "text", Role.DOCUMENTATION),
        ("notes.txt", "text", Role.DOCUMENTATION),
        ("pkg/rules.build", "text", Role.CODE),
        ("pkg/.editorconfig", "text", Role.CODE),
    ],
)
def test_a_role_is_told_by_folder_or_name(path: str, file_type: str, role: Role) -> None:
    """Tests, examples, tools and the like; a name that only contains such a word is none."""
    assert role_of(path, file_type) is role


def factors(chunks: list[int], *, documentation: float = 1.2) -> list[float]:
    """Factors of a source file, a guide and a test, with so many chunks each."""
    found = learn_priors(
        ["a.py", "b.md", "tests/c.py"],
        ["python", "markdown", "python"],
        np.array(chunks),
        support=0.9,
        documentation=documentation,
    )
    return found.factors.tolist()


def test_rare_documentation_is_raised() -> None:
    """One chunk in ten of both is documentation: 1 + 0.2 * (1 - 2/10)."""
    assert factors([9, 1, 30]) == pytest.approx([1.0, 1.16, 0.9])


def test_rare_code_is_raised() -> None:
    """One chunk in ten of both is code: the same, the other way round."""
    assert factors([1, 9, 30]) == pytest.approx([1.16, 1.0, 0.9])


@pytest.mark.parametrize("chunks", [[5, 5, 0], [0, 0, 3]], ids=["as common", "neither"])
def test_nothing_is_raised_where_nothing_is_rare(chunks: list[int]) -> None:
    """At half of both, and without either, both factors are 1."""
    assert factors(chunks) == pytest.approx([1.0, 1.0, 0.9])


def test_the_factors_are_shown_by_role() -> None:
    """What `--explain` prints."""
    found = learn_priors(["a.py"], ["python"], np.array([3]), support=0.9, documentation=1.2)
    assert found.by_role == {"code": 1.0, "documentation": 1.2, "support": 0.9}


def test_an_empty_corpus_has_no_factors() -> None:
    """No files, no division by their number."""
    nothing = np.array([], dtype=np.int64)
    assert learn_priors([], [], nothing, support=0.9, documentation=1.2).factors.tolist() == []
