"""Which columns of records hold prose, and records as text: a line ``column: value`` for each.

The columns that do not are also a record's metadata, by which a search can be restricted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from statistics import mean

from ragmachine.corpus.loaders.loaded import (
    ROWS,
    Loaded,
    Metadata,
    Writer,
    clean_text,
    plain_line,
)

# Column to values: one, or those of a list in it; what is empty is left out.
Record = dict[str, tuple[str, ...]]

# A smaller table stays the text that it is, with offsets into the file, as the settings, fixtures
# and parts lists of a code repository should.
MIN_RECORDS = 100
_SAMPLE = 200
_MIN_CHARS = 40  # mean length of a value from which a column may hold prose
_MIN_WORDS = 6.0
_MIN_FILLED = 0.2
_MIN_DISTINCT = 0.3  # of the values, apart from which they are a list of choices
_MAX_NAME_CHARS = 80
_MAX_METADATA_CHARS = 200  # of a column's name, and of its value
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
    values: dict[str, list[str]] = {}
    for record in sample:
        for name, several in record.items():
            values.setdefault(name, []).append("\n".join(several))
    if wanted:
        chosen = {name.strip().lower() for name in wanted}
        return [name for name in values if name.lower() in chosen]
    return [name for name, filled in values.items() if _is_prose(filled, len(sample))]


def _is_prose(values: Sequence[str], records: int) -> bool:
    filled = [value for value in values if value.strip()]
    if len(filled) < max(2, _MIN_FILLED * records):
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
    """Records as one text, a blank line between them, and the metadata of each.

    Args:
        rows: place and record, in order.
        prose: the columns that hold text; their values keep their lines.
        file_type: of the document.
        max_chars: of the text.
        problem: what was odd about the file.
    Raises: LoadError: there is more text than that.
    """
    writer = Writer(max_chars)
    names, metadata = [], []
    texts = frozenset(prose)
    for place, record in rows:
        text, facts = _written(record, texts)
        if text:
            writer.at(place)
            writer.write(text + "\n\n")
            names.append(_name(record))
            metadata.append(facts)
    return Loaded(
        writer.text(),
        file_type,
        format=ROWS,
        places=tuple(writer.places),
        names=tuple(names),
        metadata=tuple(metadata),
        problem=problem,
    )


_column_name = lru_cache(maxsize=4096)(plain_line)


def _written(record: Record, prose: Collection[str]) -> tuple[str, Metadata]:
    """A record's lines, and those of its columns that are short and no prose."""
    lines: list[str] = []
    facts: Metadata = {}
    for column, values in record.items():
        name = _column_name(column)
        if column in prose:
            text = clean_text("\n".join(values)).strip()
        else:
            plain = [line for line in map(plain_line, values) if line]
            text = ", ".join(plain)
            if plain and len(name) <= _MAX_METADATA_CHARS >= max(map(len, plain)):
                facts[name] = plain[0] if len(plain) == 1 else plain
        if text:
            lines.append(f"{name}: {text}")
    return "\n".join(lines), facts


def _name(record: Record) -> str:
    """What a record is called, where a column says so."""
    for column, values in record.items():
        last = re.split(r"[._ ]", column.lower())[-1]
        if last in _TITLES and len(values[0]) <= _MAX_NAME_CHARS:
            return plain_line(values[0])
    return ""
