"""Restricting a search: ``path:docs/** lang:python symbol:Sampler* source:handbook type:pdf``.

Rows of tables are also restricted by their short columns: ``status=open year>=2020`` (`columns`).
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragmachine.errors import UsageError
from ragmachine.retrieval.columns import ColumnCondition, column_condition, rows_meeting

if TYPE_CHECKING:
    from ragmachine.index.rows import RowFacts

KEYS = ("path", "lang", "type", "symbol", "section", "source")
_ALIASES = {"file": "path", "language": "lang", "in": "path", "name": "symbol"}


@dataclass(frozen=True, slots=True)
class Condition:
    """One ``key:pattern`` of a filter; `is_negated` for ``-key:pattern``."""

    key: str
    pattern: str
    is_negated: bool = False


def parse_filter(text: str) -> tuple[Condition | ColumnCondition, ...]:
    """Read a filter: conditions separated by blanks; the same key twice means either.

    Raises: UsageError: neither ``key:pattern`` with a key that exists nor ``column=value``.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"the filter {text!r} cannot be read: {str(error).lower()}",
            remedy='put a condition with blanks or an apostrophe in quotes: "name=O\'Hara"',
        ) from None
    return tuple(map(_condition, words))


def _condition(word: str) -> Condition | ColumnCondition:
    name, colon, pattern = word.partition(":")
    key = _ALIASES.get(name.lstrip("-").lower(), name.lstrip("-").lower())
    if colon and pattern and key in KEYS:
        return Condition(key, pattern, name.startswith("-"))
    of_column = column_condition(word)
    if of_column is None:
        raise UsageError(
            f"{word!r} is no filter",
            remedy=f"write key:pattern, with a key among {', '.join(KEYS)};"
            " or column=value, for rows of tables",
        )
    return of_column


def path_pattern(pattern: str) -> re.Pattern[str]:
    """A glob on paths: ``*`` stays in a folder, ``**`` crosses folders, no ``/`` matches any level.

    A pattern without wildcards also matches everything below the folder of that name.
    """
    text = pattern.strip("/")
    body = ""
    position = 0
    while position < len(text):
        if text.startswith("**/", position):
            body += "(?:.*/)?"
            position += 3
        elif text.startswith("**", position):
            body += ".*"
            position += 2
        elif text[position] == "*":
            body += "[^/]*"
            position += 1
        elif text[position] == "?":
            body += "[^/]"
            position += 1
        else:
            body += re.escape(text[position])
            position += 1
    prefix = "(?:.*/)?" if not pattern.startswith("/") else ""
    return re.compile(f"{prefix}{body}(?:/.*)?", re.IGNORECASE)


def chunk_mask(
    conditions: Sequence[Condition | ColumnCondition],
    *,
    files: Sequence[str],
    file_types: Sequence[str],
    labels: Sequence[str],
    file_of_chunk: npt.NDArray[np.int32],
    sources: Sequence[str],
    row_facts: Callable[[], RowFacts],
) -> npt.NDArray[np.bool_]:
    """Which chunks meet a filter: for each key, any of its patterns; no negated pattern.

    A condition on a column is met by the chunks of the rows that meet it.

    Args:
        conditions: as `parse_filter` gives them.
        files: (files,) paths relative to the corpus root.
        file_types: (files,) short types.
        labels: (chunks,) symbols or sections.
        file_of_chunk: (chunks,) position in `files`.
        sources: (files,) tag of the folder that was indexed, or its name, for ``source:``.
        row_facts: gives the columns of all rows, asked only where a condition needs them.
    Raises: UsageError: no row has a column that is asked for, or it cannot be ordered.
    """
    mask = np.ones(len(labels), dtype=bool)
    by_key: dict[tuple[str, bool], list[str]] = {}
    of_columns = [one for one in conditions if isinstance(one, ColumnCondition)]
    for condition in conditions:
        if isinstance(condition, ColumnCondition):
            continue
        by_key.setdefault((condition.key, condition.is_negated), []).append(condition.pattern)
    for (key, is_negated), patterns in by_key.items():
        if key in ("symbol", "section"):
            met = np.array([_label_meets(label, patterns) for label in labels], dtype=bool)
        else:
            values = {"path": files, "source": sources}.get(key, file_types)
            tests = [
                path_pattern(p)
                if key == "path"
                else re.compile(fnmatch.translate(p), re.IGNORECASE)
                for p in patterns
            ]
            by_file = np.array([any(t.fullmatch(v) for t in tests) for v in values], dtype=bool)
            met = by_file[file_of_chunk] if by_file.size else np.zeros(0, dtype=bool)
        mask &= ~met if is_negated else met
    if of_columns:
        facts = row_facts()
        for is_negated, rows in rows_meeting(of_columns, facts.rows):
            met = np.zeros(len(mask), dtype=bool)
            met[facts.chunks[rows[facts.numbers]]] = True
            mask &= ~met if is_negated else met
    return mask


_LABEL_NAME = re.compile(r"[\w.]+")


def _label_meets(label: str, patterns: Sequence[str]) -> bool:
    """Whether a name in the label, whole or its last part, matches a pattern."""
    names = {part for name in _LABEL_NAME.findall(label) for part in (name, *name.split("."))}
    return any(fnmatch.fnmatch(name.lower(), p.lower()) for name in names for p in patterns)
