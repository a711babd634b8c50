"""Restricting a search to paths, types, symbols and sources, and rows to those of a kind."""

from __future__ import annotations

import numpy as np
import pytest

from ragmachine.errors import UsageError
from ragmachine.index.rows import RowFacts
from ragmachine.retrieval.columns import ColumnCondition, rows_meeting
from ragmachine.retrieval.filters import Condition, chunk_mask, parse_filter, path_pattern

FILES = ["docs/guide/cache.md", "src/cache.py", "src/engine/sampler.py", "README.md"]
TYPES = ["markdown", "python", "python", "markdown"]
LABELS = [
    "Section: Cache > Size",
    "Class: Cache - Method: get",
    "Function: sample",
    "Section: Intro",
]
FILE_OF = np.arange(4, dtype=np.int32)


def unread() -> RowFacts:
    """Columns that nobody asks for."""
    raise AssertionError("rows were read for a filter that needs none")


def matching(text: str) -> list[int]:
    """The chunks that meet a filter; chunk n is the only one of file n."""
    mask = chunk_mask(
        parse_filter(text), files=FILES, file_types=TYPES, labels=LABELS, file_of_chunk=FILE_OF,
        sources=["handbook"] * len(FILES), row_facts=unread,
    )  # fmt: skip
    return np.flatnonzero(mask).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("path:docs/**", [0]),
        ("path:docs", [0]),
        ("path:*.py", [1, 2]),
        ("path:src/*.py", [1]),
        ("path:src/**/*.py", [1, 2]),
        ("path:sampler.py", [2]),
        ("path:/README.md", [3]),
        ("path:/cache.py", []),
        ("lang:python", [1, 2]),
        ("type:mark*", [0, 3]),
        ("symbol:Sampl*", [2]),
        ("symbol:get", [1]),
        ("section:cache", [0, 1]),
        ("source:handbook", [0, 1, 2, 3]),
        ("source:other", []),
        ("lang:python path:src/engine", [2]),
        ("lang:python lang:markdown", [0, 1, 2, 3]),
        ("-lang:python", [0, 3]),
        ("-path:src/** -path:docs/**", [3]),
        ("", [0, 1, 2, 3]),
    ],
)
def test_a_filter_keeps_what_it_says(text: str, expected: list[int]) -> None:
    """Different keys must all hold; of one key, any pattern; a minus excludes."""
    assert matching(text) == expected


def test_a_pattern_in_quotes_may_hold_blanks() -> None:
    """`path:"my docs/**"` is one condition."""
    assert parse_filter('path:"my docs/**"') == (Condition("path", "my docs/**"),)


@pytest.mark.parametrize("text", ["python", "colour:red", "lang:", ":x", 'path:"open'])
def test_what_is_no_filter_is_refused(text: str) -> None:
    """The message names the word, and the keys that exist."""
    with pytest.raises(UsageError, match="filter"):
        parse_filter(text)


def test_a_dot_in_a_pattern_is_a_dot() -> None:
    """Nothing of a glob is a regular expression by accident."""
    assert not path_pattern("a.py").fullmatch("aXpy")


ROWS = [
    {"id": "007", "Status": "Open", "year": "2019", "due date": "2024-05-31", "tags": ["a", "b"]},
    {"id": "8", "Status": "closed", "year": "2020", "due date": "2024-06-01T10:00:00Z"},
    {"id": "9", "status": "in progress", "year": "2020.5", "tags": "c", "title": "[Bug] 1"},
    {"id": "10", "year": "unknown", "due date": "2023-12-24", "size": "1e3"},
]


def rows_matching(text: str) -> list[int]:
    """The rows that meet a filter; row n is in chunk n + 1, chunk 0 is in no table."""
    files = ["docs/a.md", "data/b.csv"]
    mask = chunk_mask(
        parse_filter(text), files=files, file_types=["markdown", "csv"], labels=[""] * 5,
        file_of_chunk=np.array([0, 1, 1, 1, 1], dtype=np.int32), sources=["x", "x"],
        row_facts=lambda: RowFacts(ROWS, np.arange(1, 5), np.arange(4)),
    )  # fmt: skip
    return (np.flatnonzero(mask) - 1).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("status=open", [0]),
        ("STATUS=OPEN", [0]),
        ("status==open", [0]),
        ('status="in progress"', [2]),
        ("status=*o*", [0, 1, 2]),
        ("status=ope?", [0]),
        ("status=ope", []),
        ("title=[bug]*", [2]),
        ("id=7", []),
        ("id=007", [0]),
        ("tags=b", [0]),
        ("tags=c", [2]),
        ("status=open status=closed", [0, 1]),
        ("status=open tags=b", [0]),
        ("status=closed tags=b", []),
        ("year>=2020", [1, 2]),
        ("year>2020", [2]),
        ("year<2020", [0]),
        ("year<=2020", [0, 1]),
        ("year>=2019 year<=2020", [0, 1]),
        ("year>=2019 year>=2020", [1, 2]),
        ("size>999.5", [3]),
        ('"due date">=2024-06', [1]),
        ('"due date"<=2024-05', [0, 3]),
        ('"due date">2023', [0, 1]),
        ('"due date"<2024-06-01T11:00', [0, 1, 3]),
        ('"due date=2024-05-31"', [0]),
        ("status!=open", [1, 2]),
        ("status!=open status!=closed", [2]),
        ("tags!=a", [2]),
        ("-status=open", [-1, 1, 2, 3]),
        ("-year>=2020", [-1, 0, 3]),
        ("path:b.csv -status=open", [1, 2, 3]),
        ("path:docs status=open", []),
    ],
)
def test_a_row_is_kept_by_its_columns(text: str, expected: list[int]) -> None:
    """All conditions hold; names and values ignore case, numbers and dates have an order."""
    assert rows_matching(text) == expected


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("colour=red", "no record has a column 'colour'", "known columns: id, Status, year"),
        ("stats=open", "no record has a column 'stats'", "known columns: Status, "),
        ("year>=soon", "'soon' is neither a number nor a date", "2024-05-31"),
        ("tags>3", "'tags' holds nothing that '3' can be compared with", "tags=value"),
        ("year>2_0", "'2_0' is neither a number nor a date", "2024-05-31"),
        ("year=<2020", "'year=<2020' is no filter", "write year<=2020"),
        ("status=", "'status=' is no filter", "column=value"),
        ("=open", "'=open' is no filter", "column=value"),
    ],
)
def test_what_is_no_condition_on_a_column_is_refused(text: str, message: str, remedy: str) -> None:
    """The message names what is wrong; columns that exist are listed, the likeliest first."""
    with pytest.raises(UsageError) as caught:
        rows_matching(text)
    assert message in caught.value.message
    assert remedy in caught.value.remedy


def test_of_many_columns_some_are_listed() -> None:
    """A table of a hundred columns fits in one line of error."""
    rows = [{f"column {n}": "1" for n in range(100)}]
    with pytest.raises(UsageError) as caught:
        rows_meeting([ColumnCondition("colour", "=", "red")], rows)
    assert caught.value.remedy.endswith("column 11 and 88 more")


def test_an_index_without_tables_says_so() -> None:
    """Where there is no column at all, the message says what would have some."""
    with pytest.raises(UsageError, match="no table of records is indexed") as caught:
        rows_meeting([ColumnCondition("status", "=", "open")], [])
    assert "text_columns" in caught.value.remedy


def test_an_apostrophe_without_quotes_is_explained() -> None:
    """The remedy shows how to write it, and what it shows can be read."""
    with pytest.raises(UsageError, match="no closing quotation") as caught:
        parse_filter("name=O'Hara")
    shown = caught.value.remedy.rpartition(": ")[2]
    assert parse_filter(shown) == (ColumnCondition("name", "=", "O'Hara"),)
