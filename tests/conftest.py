"""Fixtures that several rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workspace import Workspace


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An empty project, out of reach of this machine's settings."""
    for name in [name for name in os.environ if name.startswith("RAG_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project" / "corpus").mkdir(parents=True)
    return Workspace(tmp_path / "project")
