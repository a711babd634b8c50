"""The report: its tables, its words, its files."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from ragmachine.ablation import markdown, report, save
from ragmachine.ablation.report import aside_table, conclusions, json_text, ladder_table
from ragmachine.errors import StorageError

MISSING = "no plot: matplotlib is not installed; `pip install 'ragmachine[plots]'` brings it"


def test_the_ladder_is_a_table(document: dict[str, Any]) -> None:
    """Recall in percent, the change in points, p in brackets; the first row has no change."""
    assert ladder_table(document) == [
        "| row | named recall@1/3/5/10 | change at 5 (p)"
        " | paraphrased recall@1/3/5/10 | change at 5 (p) |",
        "|---|---|---|---|---|",
        "| naive bm25s | 0/33/33/67 |  | 0/0/0/0 |  |",
        "| + same text shown once = default | 67/67/100/100 | +66.7 (0.50)"
        " | 0/0/0/0 | +0.0 (1.00) |",
    ]


def test_rows_aside_have_a_table_of_their_own(document: dict[str, Any]) -> None:
    """Without such rows there is none."""
    assert aside_table(document)[2:] == [
        "| no passage score | 33/67/67/100 | -33.3 (1.00) | 0/0/0/0 | +0.0 (1.00) |"
    ]
    document["rows"] = document["rows"][:2]
    assert aside_table(document) == []
    assert "One change" not in markdown(document)


def test_only_cutoffs_that_were_measured_are_shown(document: dict[str, Any]) -> None:
    """With k = 4: at 1, 3 and 4."""
    document["k"] = 4
    assert "named recall@1/3/4 |" in ladder_table(document)[0]


def changed(document: dict[str, Any], name: str, **numbers: float) -> dict[str, Any]:
    """The document with other numbers for the named questions of a row."""
    other = deepcopy(document)
    (row,) = (row for row in other["rows"] if row["name"] == name)
    row["styles"]["named"] |= numbers
    return other


def with_step(document: dict[str, Any], name: str, **numbers: float) -> dict[str, Any]:
    """The document with one more step on its ladder, equal to the last but for some numbers."""
    other = deepcopy(document)
    step = deepcopy(other["rows"][1]) | {"name": f"+ {name}", "title": f"+ {name}"}
    step["styles"]["named"] |= numbers
    other["rows"].insert(1, step)
    return other


def test_a_gain_that_may_be_chance_is_not_called_one(document: dict[str, Any]) -> None:
    """Chance does as much every other time for the only step; paraphrases gained nothing."""
    assert conclusions(document) == [
        "Named questions: no step gained more recall@5 than chance would; most of all"
        " *same text shown once*, +66.7 points (p = 0.50).",
        "Named questions: by MRR@10 no step gained more than chance would.",
        "Named questions: none of 1 single changes can be told from the default.",
        "Paraphrased questions: no step gained any recall@5.",
        "Paraphrased questions: by MRR@10 no step gained more than chance would.",
        "Paraphrased questions: none of 1 single changes can be told from the default.",
    ]


def test_the_best_step_the_next_and_the_idle_ones_are_named(document: dict[str, Any]) -> None:
    """By their gain, equal gains by p; a large gain that may be chance is idle."""
    sure = changed(document, "default", p=0.0004, mrr_p=0.02)
    sure = with_step(sure, "next", difference=0.6667, p=0.003)
    sure = with_step(sure, "lucky", difference=0.9, p=0.06, mrr_difference=-0.1)
    assert conclusions(sure)[:2] == [
        "Named questions: the step that gained most is *same text shown once*, +66.7 points of"
        " recall@5 (p < 0.001); next *next* +66.7 (p = 0.003). These gained nothing, or no more"
        " than chance: *lucky*.",
        "Named questions: by MRR@10, which counts every rank, *next* +0.591 (p = 0.020) and"
        " *same text shown once* +0.591 (p = 0.020) gained.",
    ]


def test_nothing_is_idle_where_every_step_gained(document: dict[str, Any]) -> None:
    """One step, and it is no chance."""
    (first, *_) = conclusions(changed(document, "default", p=0.01))
    assert first.endswith("(p = 0.010). Every step gained.")


def test_single_changes_are_better_worse_or_alike(document: dict[str, Any]) -> None:
    """A difference that chance would rarely make counts by its sign, for either measure."""
    worse = changed(document, "no passage score", p=0.012)
    assert conclusions(worse)[2] == (
        "Named questions: of 1 single changes, worse by recall@5: *no passage score*."
        " Others are within chance."
    )
    mixed = changed(worse, "no passage score", difference=0.2, mrr_p=0.01)
    assert "better by recall@5: *no passage score*; worse by MRR@10: *no" in conclusions(mixed)[2]


def test_one_style_without_a_name_is_not_named(document: dict[str, Any]) -> None:
    """Datasets of others may not tell styles apart."""
    document["styles"] = {"": 3}
    for row in document["rows"]:
        row["styles"] = {"": row["styles"]["named"]}
    assert ladder_table(document)[0] == "| row | recall@1/3/5/10 | change at 5 (p) |"
    assert conclusions(document)[0].startswith("No step gained more recall@5")
    assert "3 questions." in markdown(document)


def test_the_report_says_which_half_it_is_about(document: dict[str, Any]) -> None:
    """And nothing of halves where all questions were taken."""
    assert "3 named and 2 paraphrased questions. Recall" in markdown(document)
    document["half"] = "report"
    assert "questions, the report half of all there are." in markdown(document)


def test_the_report_says_what_was_measured(document: dict[str, Any]) -> None:
    """The commit where it is known, else the version."""
    assert "Measured" not in markdown(document)
    document |= {"version": "1.2", "date": "2026-01-02"}
    assert " Measured with version 1.2 on 2026-01-02." in markdown(document)
    document["commit"] = "abc+"
    assert " Measured at commit abc+ on 2026-01-02." in markdown(document)


def test_json_has_a_line_for_each_row(document: dict[str, Any]) -> None:
    """It reads back as what it was, and a changed rank changes one line."""
    text = json_text(document)
    assert json.loads(text) == document
    other = deepcopy(document)
    other["rows"][1]["ranks"][0] = [2]
    lines, changed = text.splitlines(), json_text(other).splitlines()
    assert sum(a != b for a, b in zip(lines, changed, strict=True)) == 1


def test_three_files_are_written(document: dict[str, Any], tmp_path: Path) -> None:
    """Numbers, table and plot, into a folder that is made."""
    paths, notice = save(document, tmp_path / "new", "mine")
    assert [path.name for path in paths] == ["mine.json", "mine.md", "mine.svg"]
    assert json.loads(paths[0].read_text(encoding="utf-8")) == document
    assert paths[1].read_text(encoding="utf-8") == markdown(document)
    assert notice == ""


def test_without_matplotlib_the_rest_is_written(
    document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line says what to install."""
    monkeypatch.setattr(report, "can_plot", lambda: False)
    paths, notice = save(document, tmp_path)
    assert [path.name for path in paths] == ["ablation.json", "ablation.md"]
    assert notice == MISSING


def test_a_folder_that_cannot_be_made_is_a_storage_error(
    document: dict[str, Any], tmp_path: Path
) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        save(document, tmp_path / "taken")
