"""Ten real files and more of every kind, through loaders, chunkers and the index.

They come from public packages (`real_files`); without them, and without a network, this is skipped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from real_files import CACHE, SUFFIXES, real_files

from ragmachine.corpus.decode import decode
from ragmachine.corpus.loaders.registry import Loaders
from ragmachine.file_types import CODE_TYPES, file_type_of
from ragmachine.index.documents import read_document
from ragmachine.index.reader import Index
from ragmachine.index.request import Shape
from ragmachine.models import Chunk, IndexReport
from workspace import Workspace

TABLES = ["csv", "tsv", "json", "jsonl"]
CODE = [
    kind
    for kind, suffixes in SUFFIXES.items()
    if file_type_of("a" + suffixes.split()[0]) in CODE_TYPES | {"python"}
]


@pytest.fixture(scope="module")
def files() -> dict[str, list[Path]]:
    """The files of each kind."""
    return real_files()


@dataclass(frozen=True)
class Indexed:
    """All of them in one index."""

    project: Workspace
    report: IndexReport
    index: Index

    def chunks_of(self, path: Path) -> list[Chunk]:
        """The chunks of a file, none of one that is not in the index."""
        name = path.relative_to(CACHE).as_posix()
        if name not in self.index.files:
            return []
        numbers = (self.index.file_of_chunk == self.index.files.index(name)).nonzero()[0]
        return [self.index.chunk(number) for number in numbers.tolist()]


@pytest.fixture(scope="module")
def indexed(files: dict[str, list[Path]], tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """An index of all of them, made once."""
    project = Workspace(tmp_path_factory.mktemp("real"))
    report = project.pipeline().index(str(CACHE))
    return Indexed(project, report, project.open())


@pytest.mark.parametrize("kind", SUFFIXES)
def test_there_are_ten(files: dict[str, list[Path]], kind: str) -> None:
    """Of every kind that is read."""
    assert len(files[kind]) >= 10


def test_nothing_is_lost(files: dict[str, list[Path]], indexed: Indexed) -> None:
    """Each file is in the index, or the report says why not; what gave no text is named."""
    reported = dict(indexed.report.problems)
    assert all("\n" not in reason for reason in reported.values())
    everything = {p.relative_to(CACHE).as_posix(): p for paths in files.values() for p in paths}
    missing = everything.keys() - set(indexed.index.files) - reported.keys()
    assert len(missing) == sum(indexed.report.skipped.values())
    for name in everything.keys() & set(indexed.index.files):
        if not indexed.chunks_of(everything[name]) and name not in reported:
            assert not everything[name].read_bytes().strip()


def test_a_second_run_changes_nothing(indexed: Indexed) -> None:
    """Also of what was refused."""
    again = indexed.project.pipeline().index(str(CACHE))
    assert again.is_unchanged
    assert again.problems == indexed.report.problems


@pytest.mark.parametrize("kind", SUFFIXES)
def test_chunks_are_what_the_file_says(
    files: dict[str, list[Path]], indexed: Indexed, kind: str
) -> None:
    """Most files of a kind give chunks; within the limit, in order, of exactly the text cited."""
    with_text = 0
    for path in files[kind]:
        chunks = indexed.chunks_of(path)
        with_text += bool(chunks)
        assert [c.start for c in chunks] == sorted(c.start for c in chunks)
        text = indexed.index.file_text(chunks[0].file_path) if chunks else ""
        assert text is not None
        for chunk in chunks:
            assert 0 < len(chunk.text) <= 2000
            assert text[chunk.start : chunk.end] == chunk.text
        if chunks and not chunks[0].place and chunks[0].file_type not in ("docx", "html"):
            assert text == decode(path.read_bytes()).text
    assert with_text > len(files[kind]) / 2


@pytest.mark.parametrize("kind", CODE)
def test_code_is_cut_at_its_definitions(
    files: dict[str, list[Path]], indexed: Indexed, kind: str
) -> None:
    """Each language has files whose chunks know what they define."""
    labels = {chunk.label for path in files[kind] for chunk in indexed.chunks_of(path)}
    assert len(labels) > 2


@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_records_where_their_column_is_named(
    files: dict[str, list[Path]], kind: str
) -> None:
    """Named by its first column a real table is cut by rows, each with its other columns."""
    read = 0
    for path in files[kind]:
        data = path.read_bytes()
        with Loaders(text_columns=[first_column(data, kind)]) as loaders:
            document = read_document(path.name, data, loaders, Shape(2000, 0))
        if document is not None and document.rows:
            read += 1
            assert len(document.rows) == len(document.places) > 0
            assert len(document.pieces) >= len(document.places)
    assert read >= 4


def first_column(data: bytes, kind: str) -> str:
    """The name of a table's first column, "-" for what is none."""
    line = decode(data).text.split("\n", 1)[0].rstrip("\r")
    if kind in ("csv", "tsv"):
        return line.split("\t" if kind == "tsv" else ",")[0].strip('"')
    try:
        records = json.loads(data if kind == "json" else line)
        return str(next(iter(records[0] if kind == "json" else records)))
    except (ValueError, TypeError, StopIteration):
        return "-"
