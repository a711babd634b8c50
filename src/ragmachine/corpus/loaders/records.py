"""JSON, and JSON line by line: a list of records with a field of prose becomes one text each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ragmachine.corpus.decode import decode, is_binary
from ragmachine.corpus.loaders.columns import MIN_RECORDS, Record, text_columns, write_records
from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, LoadError

_MAX_NAME_CHARS = 200


class RecordsLoader:
    """Reads lists of records; anything else is left as it is."""

    def __init__(self, limits: Limits, columns: Sequence[str]) -> None:
        self._limits = limits
        self._columns = columns

    def load(self, path: str, data: bytes) -> Loaded | None:
        """See `registry.Loader`; a place is the record's number, or its line."""
        if is_binary(data):
            return None
        decoded = decode(data)
        text = decoded.text.removeprefix("\ufeff")
        is_lines = not path.lower().endswith(".json")
        try:
            found = list(self._lines(text) if is_lines else _records_of(text))
        except (ValueError, RecursionError):
            return None  # no JSON, or nested too deeply: its text is what there is
        if len(found) < (1 if self._columns else MIN_RECORDS):
            return None
        records = [record for _, record in found]
        prose = text_columns(records, self._columns)
        if not prose or not (self._columns or is_lines or _is_mostly(prose, records)):
            return None
        unit = "line" if is_lines else "record"
        rows = ((f"{unit} {number}", record) for number, record in found)
        return write_records(rows, prose, "json", self._limits.max_chars, decoded.problem)

    def _lines(self, text: str) -> Iterator[tuple[int, Record]]:
        for number, line in enumerate(text.split("\n"), start=1):
            if len(line) > self._limits.max_line_chars:
                raise LoadError(
                    f"refused: line {number} has more than"
                    f" {self._limits.max_line_chars:,} characters"
                )
            if line.strip():
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError("a line that is no record")
                yield number, flat(record)


def _records_of(text: str) -> Iterator[tuple[int, Record]]:
    """The records of a list, or of the only list of records in an object."""
    document = json.loads(text)
    if isinstance(document, dict):
        lists = [value for value in document.values() if _is_list_of_records(value)]
        document = lists[0] if len(lists) == 1 else None
    if not _is_list_of_records(document):
        raise ValueError("no list of records")
    return ((number, flat(record)) for number, record in enumerate(document, start=1))


def _is_mostly(prose: Sequence[str], records: Sequence[Record]) -> bool:
    """Whether records are texts with facts about them, rather than settings with a remark."""
    written = sum(sum(map(len, record.get(name, ()))) for record in records for name in prose)
    everything = sum(
        len(name) + sum(map(len, values)) for record in records for name, values in record.items()
    )
    has_depth = any("." in name for record in records for name in record)
    return not has_depth and 2 * written >= everything


def _is_list_of_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def flat(record: dict[str, Any]) -> Record:
    """A record's values as text by their names; those of records within it as ``outer.inner``.

    Iterative, so that depth costs no stack; and no name is longer than a name is, since each value
    below a long one would repeat it.

    Raises: ValueError: a name is too long, by itself or by the depth of what it names.
    """
    found: dict[str, list[str]] = {}
    stack: list[tuple[str, Any]] = [("", record)]
    while stack:
        name, value = stack.pop()
        if len(name) > _MAX_NAME_CHARS:
            raise ValueError("a name that is none")
        if isinstance(value, dict):
            inner = ((f"{name}.{key}" if name else str(key), item) for key, item in value.items())
            stack.extend(reversed(list(inner)))
        elif isinstance(value, list):
            stack.extend(reversed([(name, item) for item in value]))
        elif value is not None and value != "":
            text = value if isinstance(value, str) else json.dumps(value)
            found.setdefault(name, []).append(text)
    return {name: tuple(values) for name, values in found.items()}
