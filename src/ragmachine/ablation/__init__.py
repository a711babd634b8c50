"""What each step is worth: named configurations over labelled questions, measured and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragmachine.ablation.configurations import ROWS, Row, select_rows
from ragmachine.ablation.provenance import provenance
from ragmachine.ablation.questions import HALVES, Case, find_datasets, read_cases
from ragmachine.ablation.report import markdown, save
from ragmachine.ablation.runner import LabelledFolder, Progress, run_rows
from ragmachine.ablation.summary import summarise
from ragmachine.settings import Settings

__all__ = [
    "HALVES",
    "ROWS",
    "Case",
    "LabelledFolder",
    "Row",
    "ablate",
    "find_datasets",
    "markdown",
    "read_cases",
    "save",
    "select_rows",
]


def ablate(
    folders: Sequence[LabelledFolder],
    settings: Settings,
    rows: Sequence[Row] = ROWS,
    *,
    k: int = 10,
    half: str = "report",
    made_with: Mapping[str, Any] | None = None,
    on_row: Progress | None = None,
) -> dict[str, Any]:
    """Run configurations over labelled folders; the document that `save` writes.

    Args:
        folders: folders with their questions, those of `half` only.
        settings: where the project lies, the workers, which files are too large. Everything that
            decides a result comes from the shipped defaults and the rows.
        rows: as `select_rows` gives them.
        k: hits looked at per question.
        half: which half of the questions was read, for the record.
        made_with: what to record of the program and the machine; by default `provenance`.
        on_row: called with (done, total).
    Returns: what `summarise` makes of the ranks, after what it was `made_with`.
    Raises: as `run_rows`.
    """
    cases = [case for folder in folders for case in folder.cases]
    ranks = run_rows(folders, rows, settings, k, on_row)
    recorded = provenance() if made_with is None else made_with
    return {**recorded, **summarise(rows, cases, ranks, k=k, half=half)}
