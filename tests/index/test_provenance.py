"""An index made by other code is built anew."""

from __future__ import annotations

import pytest

from ragmachine.index.provenance import code_digest
from workspace import Workspace


def test_the_digest_names_the_code() -> None:
    """Other modules have another digest, the same ones the same."""
    assert code_digest(["chunking"]) == code_digest(["chunking"])
    assert code_digest(["chunking"]) != code_digest(["corpus"])


def test_an_index_of_other_code_is_not_up_to_date(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed tokenizer or chunker leads to a build from nothing, without being asked for."""
    project.write("a.md", "alpha\n")
    project.index()
    assert project.index().is_unchanged
    monkeypatch.setattr("ragmachine.index.provenance.code_digest", lambda: "other code")
    report = project.index()
    assert (report.is_unchanged, report.reused) == (False, 0)
