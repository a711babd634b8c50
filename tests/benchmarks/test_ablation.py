"""The paired permutation test of the ablation."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def ablation(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, its neighbours importable."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("ablation", BENCHMARKS / "ablation.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "ablation", module)
    spec.loader.exec_module(module)
    return module


def test_no_difference_is_certain_chance(ablation: ModuleType) -> None:
    """Equal columns have p = 1."""
    assert ablation.permutation_p([1, 0, 1], [1, 0, 1]) == 1.0


def test_one_changed_question_proves_nothing(ablation: ModuleType) -> None:
    """Either sign of a single difference is as extreme: p = 1."""
    assert ablation.permutation_p([1, 0, 0], [0, 0, 0]) == 1.0


def test_many_changes_the_same_way_are_no_chance(ablation: ModuleType) -> None:
    """Ten of ten in one direction: 2 of 2**10 sign patterns are as extreme, about 0.002."""
    p = ablation.permutation_p([1] * 10, [0] * 10)
    assert p == pytest.approx(2 / 2**10, abs=0.002)


def test_every_row_names_settings_that_exist(ablation: ModuleType) -> None:
    """A row whose setting was renamed would fail only after a minute."""
    from ragmachine.settings import load_settings

    for settings in ablation.ROWS.values():
        load_settings(settings, {})
