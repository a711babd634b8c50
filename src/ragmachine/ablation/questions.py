"""Labelled questions: read from answered datasets, and parted into two halves by their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ragmachine.errors import DatasetError
from ragmachine.evaluation.measures import Span
from ragmachine.exchange import read_dataset

TUNE, REPORT, BOTH = HALVES = ("tune", "report", "all")


@dataclass(frozen=True, slots=True)
class Case:
    """A question whose answer is known to stand somewhere.

    Attributes:
        set: name of its dataset.
        question_id: as in the dataset; may repeat.
        question: its text.
        style: the dataset's word for the kind of question, else "".
        truth: the true spans, at least one.
    """

    set: str
    question_id: str
    question: str
    style: str
    truth: tuple[Span, ...]

    @property
    def half(self) -> str:
        """``tune`` or ``report``: settings are chosen on one, numbers reported on the other."""
        return half_of(self.question_id)


def half_of(question_id: str) -> str:
    """The half that a question is in: whether the SHA-256 of its id is even.

    Neither its place in the file nor the questions beside it matter, so that a growing dataset
    keeps its halves.
    """
    digest = hashlib.sha256(question_id.encode("utf-8", "surrogatepass")).digest()
    return REPORT if digest[-1] % 2 else TUNE


def find_datasets(text: str) -> list[Path]:
    """The dataset files that a path means: itself, a folder's JSON files, several with commas.

    Raises: DatasetError: a folder holds none.
    """
    paths = [Path(text)]
    if not paths[0].exists() and "," in text:
        paths = [Path(part.strip()) for part in text.split(",") if part.strip()]
    found = []
    for path in paths:
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise DatasetError(f"{path} holds no JSON file", remedy="name an answered dataset")
        found += files
    return found


def read_cases(paths: Iterable[Path], half: str = BOTH) -> tuple[Case, ...]:
    """The answerable questions of some datasets, in file order.

    Args:
        paths: answered datasets in JSON.
        half: ``tune``, ``report`` or ``all``.
    Raises: DatasetError: a file that cannot be used, or no question with a source is left.
    """
    cases = [
        Case(
            set=path.stem,
            question_id=question.question_id,
            question=question.question,
            style=str((question.model_extra or {}).get("style") or ""),
            truth=tuple(
                Span(
                    source.file_path, source.first_character_index, source.last_character_index
                )
                for source in question.sources
            ),
        )
        for path in paths
        for question in read_dataset(path).rag_questions
        if question.sources
    ]  # fmt: skip
    if not cases:
        raise DatasetError("no question has a source", remedy="name an answered dataset")
    chosen = tuple(case for case in cases if half in (BOTH, case.half))
    if not chosen:
        raise DatasetError(
            f"none of the {len(cases)} questions is in the half {half!r}",
            remedy="take them all with --half all",
        )
    return chosen
