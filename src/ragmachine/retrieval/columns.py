"""Conditions on the short columns of records: ``status=open year>=2020 price<9.5``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmachine.errors import UsageError

Values = Mapping[str, str | list[str]]

_CONDITION = re.compile(r"([^=<>!]+)(==?|!=|[<>]=?)(.+)", re.S)
_BOUND = re.compile(r"\d{4}(-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d)?)?)?)?)?")
_DATE = re.compile(r"\d{4}(-\d\d\b.*)?", re.S)
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class ColumnCondition:
    """One ``column=value`` of a filter; `is_negated` for ``-column=value``.

    Attributes:
        column: name of a column; case does not matter.
        relation: ``=``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``.
        value: a pattern with ``*`` and ``?`` for the first two, else a number or a date.
    """

    column: str
    relation: str
    value: str
    is_negated: bool = False


def column_condition(word: str) -> ColumnCondition | None:
    """Read one word of a filter; None where it is no condition on a column.

    Raises: UsageError: an order is asked for by what is neither number nor date, or written ``=<``.
    """
    match = _CONDITION.fullmatch(word.removeprefix("-"))
    if not match:
        return None
    column, relation, value = match[1].strip(), match[2].replace("==", "="), match[3].strip()
    if relation == "=" and value[:1] in ("<", ">"):
        raise UsageError(
            f"{word!r} is no filter",
            remedy=f"write {column}{value[0]}={value[1:]}, or {column}=*{value} for such text",
        )
    if not column or not value:
        return None
    if relation in _ORDERS and _number(value) is None and not _BOUND.fullmatch(value):
        raise UsageError(
            f"{word!r} is no filter: {value!r} is neither a number nor a date",
            remedy="write numbers like 9.5 and dates like 2024-05-31",
        )
    return ColumnCondition(column, relation, value, word.startswith("-"))


def rows_meeting(
    conditions: Iterable[ColumnCondition], rows: Sequence[Values]
) -> list[tuple[bool, npt.NDArray[np.bool_]]]:
    """For each condition, whether it is negated and (rows,) which rows meet it before that.

    Of one column any of the values given with ``=`` will do; all else is a condition of its own.

    Raises: UsageError: no row has the column, or it cannot be ordered.
    """
    alike: dict[tuple[str, str, bool, str], list[ColumnCondition]] = {}
    for one in conditions:
        own = "" if one.relation == "=" else one.value
        key = (one.column.casefold(), one.relation, one.is_negated, own)
        alike.setdefault(key, []).append(one)
    known: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        known.setdefault(name.casefold(), []).append(name)
    return [
        (group[0].is_negated, _met(group, known.get(column, ()), rows, known))
        for (column, *_), group in alike.items()
    ]


def _met(
    group: Sequence[ColumnCondition],
    names: Sequence[str],
    rows: Sequence[Values],
    known: Mapping[str, Sequence[str]],
) -> npt.NDArray[np.bool_]:
    """(rows,) which of them meet any of the conditions, alike in column and relation."""
    asked = group[0]
    if not names:
        raise _no_such_column(asked, [several[0] for several in known.values()])
    held = [[value for name in names for value in _several(row.get(name, ()))] for row in rows]
    if asked.relation in _ORDERS:
        order = _ORDERS[asked.relation]
        if all(_compared(value, asked.value) is None for values in held for value in values):
            raise UsageError(
                f"{asked.column!r} holds nothing that {asked.value!r} can be compared with",
                remedy=f"compare numbers, or dates like 2024-05-31, or write {asked.column}=value",
            )
        meets = cache(lambda value: (pair := _compared(value, asked.value)) and order(*pair))
    else:
        patterns = [_pattern(one.value) for one in group]
        meets = cache(lambda value: any(pattern.fullmatch(value) for pattern in patterns))
    if asked.relation == "!=":
        return np.array([bool(v) and not any(map(meets, v)) for v in held], dtype=bool)
    return np.array([any(map(meets, values)) for values in held], dtype=bool)


def _pattern(text: str) -> re.Pattern[str]:
    """Only ``*`` and ``?`` mean more than themselves: values may begin with ``[``."""
    body = re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(body, re.IGNORECASE | re.DOTALL)


def _several(value: str | Sequence[str]) -> Sequence[str]:
    return [value] if isinstance(value, str) else value


def _compared(value: str, bound: str) -> tuple[Any, Any] | None:
    """Both as numbers, or a date to the precision of the other; None where they do not compare."""
    numbers = _number(value), _number(bound)
    if None not in numbers:
        return numbers
    if _BOUND.fullmatch(bound) and _DATE.fullmatch(value):
        return value[: len(bound)].replace("T", " "), bound.replace("T", " ")
    return None


def _number(text: str) -> float | None:
    try:
        number = float(text) if "_" not in text else math.nan  # 2_0 is a number to Python alone
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _no_such_column(asked: ColumnCondition, known: Sequence[str]) -> UsageError:
    if not known:
        return UsageError(
            f"no table of records is indexed, so there is no column {asked.column!r}",
            remedy="tables (CSV, TSV, JSON, JSONL) have columns from 100 rows with prose on, or"
            " where text_columns names the columns of prose",
        )
    near = get_close_matches(asked.column.casefold(), [name.casefold() for name in known])
    first = [name for name in known if name.casefold() in near]
    shown = list(dict.fromkeys([*first, *known]))
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return UsageError(
        f"no record has a column {asked.column!r} to filter by",
        remedy=f"known columns: {', '.join(shown[:_MOST_NAMED])}{more}",
    )
