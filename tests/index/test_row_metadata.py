"""The short columns of records: kept beside the chunk map, read when asked, and only then there."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from ragmachine.errors import IndexCorruptError
from ragmachine.index.hashes import verify
from ragmachine.index.store import artifacts
from ragmachine.models import Metadata
from workspace import Workspace

PROSE = "ticket {} says that the pump stopped at night and would not start again"


def table(rows: int = 120, state: str = "open") -> str:
    """A table with a column of prose, one of numbers and one of choices."""
    lines = (f"{n},{state if n % 2 else 'closed'},{PROSE.format(n)}" for n in range(1, rows + 1))
    return "\n".join(("id,state,body", *lines)) + "\n"


def metadata_at(project: Workspace, path: str, place: str) -> list[Metadata]:
    """The metadata of the chunks of a place."""
    index = project.open()
    chunks = map(index.chunk, range(index.chunk_count))
    return [c.metadata for c in chunks if (c.file_path, c.place) == (f"corpus/{path}", place)]


def test_a_row_keeps_its_short_columns(project: Workspace) -> None:
    """In the order of the table, without the prose; a list of values stays a list."""
    review = {"tags": ["loud", "late"], "meta": {"stars": 4}, "done": True, "none": None}
    lines = [json.dumps({"text": PROSE.format(n), **review}) for n in range(120)]
    project.write("a.csv", table())
    project.write("b.jsonl", "\n".join(lines))
    project.write("c.md", "# Pump\n\nnothing of that\n")
    project.index()
    assert metadata_at(project, "a.csv", "row 3") == [(("id", "3"), ("state", "open"))]
    assert metadata_at(project, "b.jsonl", "line 120") == [
        (("tags", ("loud", "late")), ("meta.stars", "4"), ("done", "true"))
    ]
    assert metadata_at(project, "c.md", "") == [()]


def test_every_chunk_of_a_long_row_has_its_columns(project: Workspace) -> None:
    """What is cut off the head of a row is found by its columns all the same."""
    project.write("a.csv", table() + f"999,stuck,{PROSE.format(999) + ' and leaks' * 300}\n")
    project.index()
    assert metadata_at(project, "a.csv", "row 121") == [(("id", "999"), ("state", "stuck"))] * 2


def test_long_values_and_names_are_no_metadata(project: Workspace) -> None:
    """A digest or a dump in a column is text of its row, and nothing to filter by."""
    records = [{"body": PROSE.format(n), "dump": "x" * 201, "code": "y" * 200} for n in range(120)]
    project.write("a.jsonl", "\n".join(map(json.dumps, records)))
    project.index()
    assert metadata_at(project, "a.jsonl", "line 1") == [(("code", "y" * 200),)]


def test_a_hit_shows_its_columns_in_json(project: Workspace) -> None:
    """As one field, which hits in other files do not have."""
    project.write("a.csv", table())
    project.write("b.md", "# Omega\n")
    project.index()
    pipeline = project.pipeline()
    assert pipeline.search("ticket 7").hits[0].to_json()["metadata"] == {"id": "7", "state": "open"}
    assert "metadata" not in pipeline.search("omega").hits[0].to_json()


def test_an_index_without_records_has_none_of_it(project: Workspace) -> None:
    """Neither a file nor a word in the chunk map, also once the last table is gone."""
    project.write("a.md", "# Alpha\n")
    path = project.write("a.csv", table())
    project.index()
    assert (project.generation / "rows").is_dir()
    path.unlink()
    project.index()
    assert not [name for name in os.listdir(project.generation) if name.startswith("rows")]
    assert "rows" not in orjson.loads((project.generation / "chunks.json").read_bytes())


def test_kept_tables_keep_their_columns(project: Workspace) -> None:
    """Tables before and after a changed one keep theirs, without being read again."""
    for name in ("a.csv", "b.csv", "c.csv"):
        project.write(name, table(state=f"open in {name}"))
    project.index()
    project.write("b.csv", table(rows=101, state="stuck"), age_s=60)
    assert project.index().reused == 2
    found = [metadata_at(project, name, "row 1")[0][1] for name in ("a.csv", "b.csv", "c.csv")]
    assert found == [("state", "open in a.csv"), ("state", "stuck"), ("state", "open in c.csv")]


def test_an_opened_index_keeps_its_rows(project: Workspace) -> None:
    """Whoever searches goes on with the generation that was opened, replaced or not."""
    project.write("a.csv", table())
    project.index()
    index = project.open()
    project.write("a.csv", table(state="stuck"), age_s=60)
    project.index()
    assert index.row_facts().rows[0] == {"id": "1", "state": "open"}
    assert index.chunk(0).metadata == (("id", "1"), ("state", "open"))


def test_a_chunk_of_several_rows_is_in_each(project: Workspace) -> None:
    """Cut without regard to rows, a chunk has no row of its own, and is found by all of its."""
    project.write("a.csv", table())
    project.index(chunker="fixed")
    index = project.open()
    facts = index.row_facts()
    assert sorted(set(facts.numbers.tolist())) == list(range(120))
    first = facts.numbers[facts.chunks == 0].tolist()
    last_row = index.chunk(0).text.count("id: ") - 1
    assert first == list(range(last_row + 1))
    assert index.chunk(0).metadata == ()


def cut(path: Path) -> None:
    """Take half of a file away."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize("damage", [cut, os.remove], ids=["cut", "gone"])
@pytest.mark.parametrize("name", ["rows/rows.json", "rows/starts.npy", "rows.hash"])
def test_damaged_rows_are_named(
    project: Workspace, name: str, damage: Callable[[Path], None]
) -> None:
    """They are guarded like everything else of an index."""
    project.write("a.csv", table())
    project.index()
    damage(project.generation / name)
    with pytest.raises(IndexCorruptError, match="rows"):
        project.open()


def test_rows_gone_without_their_hashes_are_missed_by_a_check(project: Workspace) -> None:
    """Whoever checks the hashes alone learns of it too."""
    project.write("a.csv", table())
    project.index()
    shutil.rmtree(project.generation / "rows")
    with pytest.raises(IndexCorruptError, match=r"rows\.json is missing"):
        verify(artifacts(str(project.generation)))


def test_rows_gone_with_their_hashes_are_missed(project: Workspace) -> None:
    """The chunk map remembers that there were some."""
    project.write("a.csv", table())
    project.index()
    shutil.rmtree(project.generation / "rows")
    (project.generation / "rows.hash").unlink()
    with pytest.raises(IndexCorruptError, match=r"rows\.json is missing"):
        project.open()
