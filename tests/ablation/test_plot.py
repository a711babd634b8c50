"""The plot, read as the text it is."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from ragmachine.ablation.plot import can_plot, plot

pytest.importorskip("matplotlib")


def test_a_panel_per_style_and_a_line_per_step(document: dict[str, Any]) -> None:
    """Titles count the questions, the legend names the ladder and nothing beside it."""
    text = plot(document).decode()
    for words in (
        "3 named questions",
        "2 paraphrased questions",
        "hits looked at",
        ">naive bm25s<",
    ):
        assert words in text
    assert "+ same text shown once = default" in text
    assert "no passage score" not in text
    assert text.count('id="FillBetweenPolyCollection') == 4  # a band for two rows in two panels


def test_the_same_numbers_make_the_same_file(document: dict[str, Any]) -> None:
    """A plot that is committed changes only with what it shows."""
    assert plot(document) == plot(document)


def test_without_a_ladder_the_rows_at_hand_are_drawn(document: dict[str, Any]) -> None:
    """Somebody may measure two rows aside."""
    document["rows"] = [row for row in document["rows"] if row["group"] != "ladder"]
    assert ">no passage score<" in plot(document).decode()


def test_one_unnamed_style_has_a_plain_title(document: dict[str, Any]) -> None:
    """No gap where the style's name would be."""
    document["styles"] = {"": 3}
    for row in document["rows"]:
        row["styles"] = {"": row["styles"]["named"]}
    assert ">3 questions<" in plot(document).decode()


def test_matplotlib_is_imported_only_to_draw() -> None:
    """The package, and asking whether a plot is possible, go without it."""
    code = (
        "import sys; from ragmachine.ablation.plot import can_plot; import ragmachine.ablation;"
        "print(can_plot(), 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
    assert can_plot()
