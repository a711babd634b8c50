"""One line per question, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import QuestionRow

_QUESTION_CHARS = 60
_ID_CHARS = 36


def table(rows: Sequence[QuestionRow]) -> list[str]:
    """A heading and a line per question; ids and questions come last, since they vary in width."""
    cutoffs = list(rows[0].recall)
    names = [*(f"R@{cutoff}" for cutoff in cutoffs), "first", "RR", "nDCG"]
    lines = [f"{' '.join(f'{name:>5}' for name in names)}  {'id':<{_ID_CHARS}}  question"]
    for row in rows:
        cells = [f"{row.recall[cutoff]:.2f}" for cutoff in cutoffs]
        cells += ["-" if row.first_rank is None else str(row.first_rank)]
        cells += [f"{row.reciprocal_rank:.2f}", f"{row.ndcg:.2f}"]
        numbers = " ".join(f"{cell:>5}" for cell in cells)
        name = _one_line(row.question_id, _ID_CHARS)
        text = _one_line(row.question, _QUESTION_CHARS)
        lines.append(f"{numbers}  {name:<{_ID_CHARS}}  {text}".rstrip())
    return lines


def _one_line(text: str, chars: int) -> str:
    """Text for a table cell: one line, without control characters a terminal would obey."""
    line = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(line.split())
    return line if len(line) <= chars else f"{line[: chars - 1]}…"
