"""Shared settings and fixtures."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from .builders import Completed, run_moulinette

# No deadline: a slow machine is no failure.
settings.register_profile("moulinette", deadline=None)
settings.load_profile("moulinette")


@pytest.fixture
def moulinette(tmp_path: Path) -> Callable[..., Completed]:
    """Run the evaluator as a process inside the test's own folder."""

    def run(*arguments: str) -> Completed:
        return run_moulinette(*arguments, folder=tmp_path)

    return run
