"""Pipe tables are found by their delimiter rows."""

from __future__ import annotations

import time

import pytest

from ragmachine.chunking.tables import pipe_tables

TABLE = "| name | size |\n|------|-----:|\n| one | 1 |\n| two | 2 |\n"


def found(text: str) -> list[tuple[str, list[str]]]:
    """(header, rows as written) of each table."""
    return [
        (
            table.header,
            [
                text[start:end].rstrip("\r\n")
                for start, end in zip(table.rows, [*table.rows[1:], table.end], strict=True)
            ],
        )
        for table in pipe_tables(text)
    ]


def test_a_table_has_its_header_and_its_rows() -> None:
    """Offsets are those of the header's line, of each row, and of the end of the last."""
    text = f"Text before.\n\n{TABLE}\nText after.\n"
    (table,) = pipe_tables(text)
    assert table.header == "| name | size |"
    assert (table.start, table.rows, table.end) == (14, (46, 58), 69)
    assert text[table.start :].startswith("| name")
    assert text[table.rows[1] : table.end] == "| two | 2 |"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TABLE, id="plain"),
        pytest.param(TABLE.rstrip("\n"), id="no line end at the end"),
        pytest.param(TABLE.replace("\n", "\r\n"), id="CR LF"),
        pytest.param(TABLE.replace("\n", "\r"), id="CR"),
        pytest.param(f"Text\n{TABLE}Text\n", id="text right above and below"),
        pytest.param(f"- item\n\n{TABLE}\n", id="below a list"),
        pytest.param(TABLE.replace("|------|-----:|", "  :-: | --- "), id="no outer pipes"),
    ],
)
def test_ways_to_write_a_table(text: str) -> None:
    """All are the same header and rows."""
    assert found(text) == [("| name | size |", ["| one | 1 |", "| two | 2 |"])]


@pytest.mark.parametrize("mark", ["  ", "> ", "\t"], ids=["indented", "quoted", "tab"])
def test_a_table_may_be_inside_something(mark: str) -> None:
    """Under an item or in a quote every line has a mark before it."""
    text = "".join(mark + line for line in TABLE.splitlines(keepends=True))
    ((header, rows),) = found(text)
    assert header.endswith("| name | size |")
    assert rows == [f"{mark}| one | 1 |", f"{mark}| two | 2 |"]


def test_two_tables_are_two() -> None:
    """One ends where a line has no pipe."""
    assert len(found(f"{TABLE}\n{TABLE}")) == 2


def test_a_header_is_read_without_markup() -> None:
    """Of a link its text counts, not where it leads to; padding is none of it."""
    text = "| **Name**    | [LoRA](../features/lora.md) |\n|---|---|\n| a | b |\n"
    assert found(text)[0][0] == "| Name | LoRA |"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("| a | b |\n| 1 | 2 |\n", id="no delimiter row"),
        pytest.param("| a | b |\n|---|---|\n", id="no row"),
        pytest.param("| a | b |\n|---|---|\n\n| 1 | 2 |\n", id="a blank line"),
        pytest.param("|---|---|\n| 1 | 2 |\n", id="no header"),
        pytest.param("\n|---|---|\n| 1 | 2 |\n", id="a blank header"),
        pytest.param("Title\n-----\n\na | b\n", id="setext heading"),
        pytest.param("a | b\n|---| text\n| 1 | 2 |\n", id="words between the dashes"),
        pytest.param("x = a |-b\ny = a |-b\n", id="code"),
        pytest.param("", id="empty"),
    ],
)
def test_what_is_no_table(text: str) -> None:
    """Pipes and dashes alone make none."""
    assert pipe_tables(text) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("|-" * 300_000, id="one line of signs"),
        pytest.param("a|b\n" + " " * 300_000 + "|-x", id="blanks"),
        pytest.param("a|b\n|" + "-" * 300_000 + "x", id="dashes"),
        pytest.param("|-\n" * 100_000, id="many lines of signs"),
    ],
)
def test_odd_texts_take_no_longer_than_others(text: str) -> None:
    """Time is in proportion to the text."""
    started = time.process_time()
    pipe_tables(text)
    assert time.process_time() - started < 2
