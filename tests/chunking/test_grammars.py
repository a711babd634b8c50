"""The installed grammars decide chunks, so they are part of what an index was made by."""

from __future__ import annotations

import pytest

from ragmachine.chunking.languages import GRAMMAR_PACKAGES, LANGUAGES
from ragmachine.file_types import CODE_TYPES
from ragmachine.index import provenance


def test_every_code_type_has_a_language() -> None:
    """A type that is announced as code is looked up under its own name."""
    assert set(LANGUAGES) >= CODE_TYPES


def test_versions_of_the_grammars_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version, or one that is no longer there, means a new build."""
    before = provenance.versions()
    assert before.keys() >= set(GRAMMAR_PACKAGES)
    real = provenance._version_or_none
    monkeypatch.setattr(
        provenance,
        "_version_or_none",
        lambda name: None if name == "tree-sitter-rust" else real(name),
    )
    after = provenance.versions()
    assert before.keys() - after.keys() == {"tree-sitter-rust"}
