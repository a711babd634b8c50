"""Tables of records with prose become a text a row; every other table stays as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, LoadError
from ragmachine.corpus.loaders.registry import Loaders

ROWS = 120
PROSE = "ticket {} says that the pump stopped at night and would not start again"


def load(name: str, data: str | bytes, **options: Any) -> Loaded | None:
    """What the loaders make of a file."""
    with Loaders(**options) as loaders:
        return loaders.load(name, data if isinstance(data, bytes) else data.encode())


def table(rows: int = ROWS, delimiter: str = ",") -> str:
    """A table with a column of prose, one of numbers and one of choices."""
    head = delimiter.join(("id", "state", "body"))
    lines = (
        delimiter.join((str(n), "open" if n % 2 else "closed", PROSE.format(n)))
        for n in range(1, rows + 1)
    )
    return "\n".join((head, *lines)) + "\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"], ids=["comma", "semi", "tab", "pipe"])
def test_a_row_is_a_document(delimiter: str) -> None:
    """Each row is a text of its own, every column named, with its number for a place."""
    loaded = load("a.csv", table(delimiter=delimiter))
    assert loaded is not None
    assert loaded.format == "rows"
    assert len(loaded.places) == ROWS
    start, place = loaded.places[1]
    assert place == "row 2"
    assert loaded.text[start:].startswith(f"id: 2\nstate: closed\nbody: {PROSE.format(2)}\n\n")
    assert loaded.metadata[1] == {"id": "2", "state": "closed"}


@pytest.mark.parametrize(
    ("head", "name"), [("a  b,a b", "a b"), (",column 1", "column 1")], ids=["blanks", "unnamed"]
)
def test_columns_of_one_name_lose_nothing(head: str, name: str) -> None:
    """Headers that differ in their blanks alone, or bear an unnamed one's name, share it."""
    rows = "".join(f"\nx{n},y{n},{PROSE.format(n)}" for n in range(1, ROWS + 1))
    loaded = load("a.csv", f"{head},body{rows}\n")
    assert loaded is not None
    assert loaded.text.startswith(f"{name}: x1, y1\nbody: ")
    assert loaded.metadata[0] == {name: ["x1", "y1"]}


def test_tabs_by_the_name_of_the_file() -> None:
    """A .tsv file is cut at tabs, even where commas are more frequent."""
    text = table(delimiter="\t").replace("night and", "night, quite, and")
    loaded = load("a.tsv", text)
    assert loaded is not None
    assert "body: ticket 1 says that the pump stopped at night, quite, and would" in loaded.text


@pytest.mark.parametrize(
    "text",
    [
        table(20),
        "id,value\n" + "".join(f"{n},{n * n}\n" for n in range(300)),
        "when,path\n"
        + "".join(f"2024-01-01 10:00:{n},/var/log/a/b/c/d/e/{n}.log\n" for n in range(300)),
        "a sentence, with a comma, in every line of a file that is no table at all\n" * 200,
        "1,2,3\n" * 300,
        "",
    ],
    ids=["small", "numbers", "paths", "prose", "no header", "empty"],
)
def test_other_tables_stay_as_they_are(text: str) -> None:
    """Small tables, numbers, codes and paths are no documents: offsets count in the file."""
    assert load("a.csv", text) is None


def test_columns_can_be_named() -> None:
    """Named columns make documents of rows however few and short they are."""
    loaded = load("a.csv", "id,note\n1,short\n2,brief\n", text_columns=("Note",))
    assert loaded is not None
    assert loaded.text == "id: 1\nnote: short\n\nid: 2\nnote: brief\n\n"
    assert load("a.csv", table(), text_columns=("other",)) is None


def test_quoted_cells_keep_their_lines_and_formulas_stay_text() -> None:
    """A cell of several lines is one cell; what a spreadsheet would run is just text."""
    text = (
        table() + '999,open,"=HYPERLINK(""http://x"") is what\nticket 999 says in two lines here"\n'
    )
    loaded = load("a.csv", text)
    assert loaded is not None
    assert loaded.places[-1][1] == f"row {ROWS + 1}"
    assert 'body: =HYPERLINK("http://x") is what\nticket 999 says in two lines here' in loaded.text


def test_other_encodings_are_sniffed_and_reported() -> None:
    """Latin-1 and UTF-16 are read, and the report says so."""
    text = table().replace("pump", "Pümpe")
    latin, wide = load("a.csv", text.encode("latin-1")), load("a.csv", text.encode("utf-16"))
    assert latin is not None
    assert wide is not None
    assert "Pümpe" in latin.text
    assert latin.problem.endswith("read as Latin-1")
    assert "Pümpe" in wide.text
    assert wide.text.startswith("id: 1\n")


def test_a_mark_is_not_part_of_the_first_column() -> None:
    """A byte order mark does not hide the first column's name."""
    loaded = load("a.csv", b"\xef\xbb\xbf" + table().encode())
    assert loaded is not None
    assert loaded.text.startswith("id: 1\n")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_line_without_end_is_refused(name: str) -> None:
    """A line over the limit is refused, and the reason says which."""
    data = ("id,x\n" if name == "a.csv" else "{}\n") + "y" * 2_000
    with pytest.raises(LoadError, match="line 2 has more than 1,000 characters"):
        load(name, data, limits=Limits(max_line_chars=1_000))


def records(**more: Any) -> list[dict[str, Any]]:
    """Records with prose."""
    return [{"title": f"Case {n}", "body": PROSE.format(n), **more} for n in range(ROWS)]


def test_json_lines() -> None:
    """Each line is a text; what is nested in it has a name with dots."""
    text = "\n".join(json.dumps(one) for one in records(meta={"stars": 5, "tags": ["a", "b"]}))
    loaded = load("a.jsonl", text)
    assert loaded is not None
    start, place = loaded.places[2]
    assert place == "line 3"
    expected = f"title: Case 2\nbody: {PROSE.format(2)}\nmeta.stars: 5\nmeta.tags: a, b\n\n"
    assert loaded.text[start:].startswith(expected)
    assert loaded.names[2] == "Case 2"
    assert loaded.metadata[2] == {"title": "Case 2", "meta.stars": "5", "meta.tags": ["a", "b"]}


def test_a_list_of_records() -> None:
    """A JSON list, or the one list in an object, is read like a table."""
    for document in (records(), {"version": 1, "rows": records()}):
        loaded = load("a.json", json.dumps(document))
        assert loaded is not None
        assert loaded.places[4][1] == "record 5"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(records()[:20]),
        json.dumps(records(options={"depth": {"x": 1}})),
        json.dumps(records(digest="0123456789abcdef" * 16)),
        json.dumps([{"id": n, "path": f"src/a/{n}.py", "size": n} for n in range(300)]),
        json.dumps({"name": "package", "description": PROSE, "scripts": {"a": "b"}}),
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        "[" * 100_000,
        "{not json}",
        "",
    ],
    ids=["small", "settings", "mostly codes", "codes", "package", "deep", "deep broken", "no JSON",
         "empty"],
)  # fmt: skip
def test_other_json_stays_as_it_is(text: str) -> None:
    """Settings and fixtures are no documents, and depth is no crash."""
    assert load("a.json", text) is None
