"""Which columns of records hold prose, and records as text: a line ``column: value`` for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from statistics import mean

from ragmachine.corpus.loaders.loaded import (
    ROWS,
    Loaded,
    Writer,
    clean_text,
    plain_line,
)

Record = dict[str, str]  # column to value; empty values left out

# A smaller table stays the text that it is, with offsets into the file, as the settings, fixtures
# and parts lists of a code repository should.
MIN_RECORDS = 100
_SAMPLE = 200
_MIN_CHARS = 40  # mean length of a value from which a column may hold prose
_MIN_WORDS = 6.0
_MIN_FILLED = 0.2
_MIN_DISTINCT = 0.3  # of the values, apart from which they are a list of choices
_MAX_NAME_CHARS = 80
_WORD = re.compile(r"[^\W\d_]{2,}")
_TITLES = ("title", "name", "headline", "subject", "heading", "question", "summary", "label")


def text_columns(records: Sequence[Record], wanted: Sequence[str] = ()) -> list[str]:
    """The columns that read like prose, judged by a sample.

    Numbers, ids, dates, paths and choices do not: prose has several words a value, most of them
    of letters.

    Args:
        records: as many as there are; they are sampled evenly.
        wanted: names of columns to take instead, where there are any of them; case is ignored.
    """
    sample = records[:: max(1, len(records) // _SAMPLE)][:_SAMPLE]
    names = dict.fromkeys(name for record in sample for name in record)
    if wanted:
        chosen = {name.strip().lower() for name in wanted}
        return [name for name in names if name.lower() in chosen]
    return [name for name in names if _is_prose([record.get(name, "") for record in sample])]


def _is_prose(values: Sequence[str]) -> bool:
    filled = [value for value in values if value.strip()]
    if len(filled) < max(2, _MIN_FILLED * len(values)):
        return False
    if mean(map(len, filled)) < _MIN_CHARS or len(set(filled)) < _MIN_DISTINCT * len(filled):
        return False
    words = [value.split() for value in filled]
    plain = mean(sum(bool(_WORD.search(word)) for word in row) / max(len(row), 1) for row in words)
    return mean(map(len, words)) >= _MIN_WORDS and plain >= 0.6


def write_records(
    rows: Iterable[tuple[str, Record]],
    prose: Sequence[str],
    file_type: str,
    max_chars: int,
    problem: str,
) -> Loaded:
    """Records as one text, a blank line between them.

    Args:
        rows: place and record, in order.
        prose: the columns that hold text; their values keep their lines.
        file_type: of the document.
        max_chars: of the text.
        problem: what was odd about the file.
    Raises: LoadError: there is more text than that.
    """
    writer = Writer(max_chars)
    names = []
    for place, record in rows:
        lines = []
        for column, value in record.items():
            text = clean_text(value).strip() if column in prose else plain_line(value)
            if text:
                lines.append(f"{plain_line(column)}: {text}")
        if lines:
            writer.at(place)
            names.append(_name(record))
            writer.write("\n".join(lines) + "\n\n")
    return Loaded(
        writer.text(),
        file_type,
        format=ROWS,
        places=tuple(writer.places),
        names=tuple(names),
        problem=problem,
    )


def _name(record: Record) -> str:
    """What a record is called, where a column says so."""
    for column, value in record.items():
        last = re.split(r"[._ ]", column.lower())[-1]
        if last in _TITLES and len(value) <= _MAX_NAME_CHARS:
            return plain_line(value)
    return ""
