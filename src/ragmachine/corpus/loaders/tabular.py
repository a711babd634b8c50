"""CSV and TSV: a table with a column of prose becomes one text a row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice

from ragmachine.corpus.decode import decode, is_binary
from ragmachine.corpus.loaders.columns import MIN_RECORDS, Record, text_columns, write_records
from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, LoadError, plain_line

_SAMPLE_ROWS = 2_000
_SNIFFED_CHARS = 64_000
_DELIMITERS = ",;\t|"
_MOST_UNEVEN = 0.1  # share of rows of another width, above which a file is no table
_FIELD_LIMIT = 1 << 24


class TabularLoader:
    """Reads tables with prose; numbers and short codes stay the text that they are."""

    def __init__(self, limits: Limits, columns: Sequence[str]) -> None:
        self._limits = limits
        self._columns = columns

    def load(self, path: str, data: bytes) -> Loaded | None:
        """See `registry.Loader`; rows are counted from 1, the header not among them.

        A cell such as ``=HYPERLINK(...)`` is text like any other.
        """
        if is_binary(data):
            return None
        decoded = decode(data)
        text = decoded.text.removeprefix("\ufeff")
        self._refuse_long_lines(text)
        dialect = sniff(text[:_SNIFFED_CHARS], is_tabbed=path.lower().endswith(".tsv"))
        if dialect is None:
            return None
        try:
            prose = self._prose(text, dialect)
            if not prose:
                return None
            rows = ((f"row {number}", record) for number, record in _records(text, dialect))
            return write_records(rows, prose, "csv", self._limits.max_chars, decoded.problem)
        except csv.Error:
            return None

    def _prose(self, text: str, dialect: type[csv.Dialect]) -> list[str]:
        """The columns of prose in the first rows; none where there is no table."""
        head = next(_rows(text, dialect), [])
        if not 1 < len(head) <= self._limits.max_columns or not _is_header(head):
            return []
        sample = list(islice(_rows(text, dialect), 1, _SAMPLE_ROWS))
        uneven = sum(len(row) != len(head) for row in sample)
        if len(sample) < (1 if self._columns else MIN_RECORDS) or uneven > _MOST_UNEVEN * len(
            sample
        ):
            return []
        records = [record for _, record in islice(_records(text, dialect), _SAMPLE_ROWS)]
        return text_columns(records, self._columns)

    def _refuse_long_lines(self, text: str) -> None:
        start, most = 0, self._limits.max_line_chars
        while len(text) - start > most:
            end = max(text.rfind("\n", start, start + most), text.rfind("\r", start, start + most))
            if end < 0:
                number = text.count("\n", 0, start) + 1
                raise LoadError(f"refused: line {number} has more than {most:,} characters")
            start = end + 1


def sniff(head: str, *, is_tabbed: bool) -> type[csv.Dialect] | None:
    """The dialect of a table by its beginning; None where it looks like none.

    The delimiter is the one that cuts most of the first rows into the same number of columns, more
    than one.
    """
    best: tuple[float, int] = (0.5, 1)
    chosen = ""
    for delimiter in "\t" if is_tabbed else _DELIMITERS:
        try:
            rows = list(islice(csv.reader(io.StringIO(head, newline=""), _dialect(delimiter)), 50))
        except csv.Error:
            continue
        widths = [len(row) for row in rows[: max(1, len(rows) - 1)] if row]
        if not widths:
            continue
        usual = max(set(widths), key=widths.count)
        score = (widths.count(usual) / len(widths), usual)
        if usual > 1 and score > best:
            best, chosen = score, delimiter
    return _dialect(chosen) if chosen else None


def _dialect(sign: str) -> type[csv.Dialect]:
    class _Sniffed(csv.Dialect):
        delimiter = sign
        quotechar = '"'
        doublequote = True
        skipinitialspace = sign != "\t"
        lineterminator = "\n"
        quoting = csv.QUOTE_MINIMAL

    return _Sniffed


def _rows(text: str, dialect: type[csv.Dialect]) -> Iterator[list[str]]:
    """Rows that are not empty, read one at a time."""
    csv.field_size_limit(_FIELD_LIMIT)
    return (row for row in csv.reader(io.StringIO(text, newline=""), dialect) if any(row))


def _records(text: str, dialect: type[csv.Dialect]) -> Iterator[tuple[int, Record]]:
    rows = _rows(text, dialect)
    head = [plain_line(name) or f"column {at}" for at, name in enumerate(next(rows, []), start=1)]
    for number, row in enumerate(rows, start=1):
        names = [*head, *(f"column {at}" for at in range(len(head) + 1, len(row) + 1))]
        record: dict[str, list[str]] = {}
        for name, value in zip(names, row, strict=False):
            if value := value.strip():  # columns of one name, as lines have it, share it
                record.setdefault(name, []).append(value)
        yield number, {name: tuple(values) for name, values in record.items()}


def _is_header(row: Sequence[str]) -> bool:
    """Whether the first row names columns: short, distinct, no numbers."""
    names = [name.strip() for name in row if name.strip()]
    if not names or len(set(names)) < len(names):
        return False
    return all(len(name) <= 60 and not _is_number(name) for name in names)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
