"""Tables, JSON and notebooks of any size and shape end: read, left as text, or refused in time."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from ragmachine.corpus.loaders import registry
from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import LoadError
from ragmachine.corpus.loaders.registry import Loaders
from ragmachine.corpus.loaders.sandbox import Sandbox
from workspace import Workspace

PROSE = "ticket {} says that the pump stopped at night and would not start again"
NAMES = ["a.csv", "a.tsv", "a.json", "a.jsonl", "a.ipynb"]
TABLE = "id,state,body\n" + "".join(f"{n},open,{PROSE.format(n)}\n" for n in range(150))
RECORDS = [{"title": f"Case {n}", "tags": ["a", "b"], "body": PROSE.format(n)} for n in range(150)]
CELLS = [{"cell_type": "markdown", "source": f"# Part {n}\n\nAll about it."} for n in range(9)]
DOCUMENTS = {
    "a.csv": TABLE,
    "a.tsv": TABLE.replace(",", "\t"),
    "a.json": json.dumps(RECORDS),
    "a.jsonl": "\n".join(map(json.dumps, RECORDS)),
    "a.ipynb": json.dumps({"cells": CELLS}),
}
BIG = Limits(max_inline_bytes=0)  # everything counts as large


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs that the process for risky parsers was asked to do."""
    jobs: list[str] = []
    ask = Sandbox.ask

    def noted(self: Sandbox, job: str, *rest: Any, **more: Any) -> dict[str, Any]:
        jobs.append(job)
        return ask(self, job, *rest, **more)

    monkeypatch.setattr(Sandbox, "ask", noted)
    return jobs


@pytest.mark.parametrize("name", NAMES)
def test_a_large_file_is_read_elsewhere_with_the_same_result(name: str, asked: list[str]) -> None:
    """Text, places, names and columns do not tell which process read them."""
    data = DOCUMENTS[name].encode()
    with Loaders() as loaders:
        here = loaders.load(name, data)
    assert asked == []
    with Loaders(limits=BIG) as loaders:
        there = loaders.load(name, data)
    assert asked == ["plain"]
    assert here is not None
    assert there == here


@pytest.mark.parametrize("name", NAMES)
def test_large_files_that_are_no_documents_stay_text(name: str) -> None:
    """What is no table, no records and no notebook comes back as nothing, from there too."""
    with Loaders(limits=BIG) as loaders:
        assert loaders.load(name, b'{"name": "x", "version": 1}\n') is None


def test_named_columns_hold_for_large_files() -> None:
    """The setting goes where the file goes."""
    with Loaders(limits=BIG, text_columns=("note",)) as loaders:
        loaded = loaders.load("a.csv", b"id,note\n1,short\n")
    assert loaded is not None
    assert loaded.metadata == ({"id": "1"},)


def test_a_file_that_takes_too_long_is_refused_and_the_next_is_read() -> None:
    """Time is up in the middle of the rows, and nothing else is lost."""
    with Loaders(limits=Limits(max_seconds=0.3)) as loaders:
        with pytest.raises(LoadError, match=r"refused: it took more than 0\.3 s"):
            loaders.load("a.csv", (TABLE * 1_000).encode())
        assert loaders.load("b.csv", TABLE.encode()) is not None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
def test_json_that_takes_too_much_memory_is_refused() -> None:
    """Millions of lists in a few megabytes do not fill the memory of the indexing process."""
    limits = Limits(max_memory_bytes=200 << 20)
    with (
        Loaders(limits=limits) as loaders,
        pytest.raises(LoadError, match=r"refused: it took more than 0\.\d+ GiB of memory"),
    ):
        loaders.load("a.json", b"[" + b"[]," * 5_000_000 + b"[]]")


def test_a_line_of_a_gigabyte_is_refused_at_once(asked: list[str]) -> None:
    """It is neither decoded nor copied anywhere: its size is enough."""
    data = b"x" * (1 << 30)
    started = time.process_time()
    with Loaders() as loaders:
        for name in NAMES:
            with pytest.raises(LoadError, match="of more than 200,000,000 bytes"):
                loaders.load(name, data)
    assert time.process_time() - started < 1
    assert asked == []


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_long_line_of_a_large_file_is_refused(name: str) -> None:
    """Where the file is allowed, its line is not."""
    with Loaders() as loaders, pytest.raises(LoadError, match="line 2 has more than 1,000,000"):
        loaders.load(name, b"{}\n" + b"x" * 2_000_000)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ipynb"])
@pytest.mark.parametrize("bracket", [b"[", b'{"cells":'], ids=["lists", "objects"])
@pytest.mark.parametrize("limits", [Limits(), BIG], ids=["here", "elsewhere"])
def test_depth_is_no_crash(name: str, bracket: bytes, limits: Limits) -> None:
    """However deep it is, closed or not, it is text like any other."""
    end = b"]" if bracket == b"[" else b"}"
    times = 90_000
    with Loaders(limits=limits) as loaders:
        assert loaders.load(name, bracket * times) is None
        assert loaders.load(name, bracket * times + b"1" + end * times) is None


@pytest.mark.parametrize(
    "inner", [{"k" * 201: 1}, {"k" * 100: {"k" * 100: 1}}], ids=["long", "in parts"]
)
def test_names_have_an_end(inner: dict[str, Any]) -> None:
    """A name would be repeated with each value below it: what has longer ones is no record."""
    lines = [json.dumps({**record, **inner}) for record in RECORDS]
    with Loaders() as loaders:
        assert loaders.load("a.jsonl", "\n".join(lines).encode()) is None
        assert loaders.load("a.jsonl", "\n".join(lines).replace("kk", "k").encode()) is not None


def in_cell(source: str) -> str:
    """A notebook of one cell of prose."""
    return json.dumps({"cells": [{"cell_type": "markdown", "source": source}]})


HOSTILE: dict[str, Callable[[], tuple[str, str]]] = {
    "images without end": lambda: ("a.ipynb", in_cell("![](data:" * 100_000)),
    "tags without end": lambda: ("a.ipynb", in_cell("<img data:" * 90_000)),
    "tags with one end": lambda: ("a.ipynb", in_cell("<img " * 190_000 + ">")),
    "names over names": lambda: ("a.json", json.dumps([nested(400)] * 110)),
    "a column for each value": lambda: (
        "a.json",
        json.dumps([{f"{row}-{n}": 1 for n in range(500)} for row in range(110)]),
    ),
    "lists of records in records": lambda: (
        "a.json",
        json.dumps([{"parts": [{"name": "b"}] * 550}] * 110),
    ),
    "quotes": lambda: ("a.csv", "a,b\n" + '"' * 990_000),
    "cells": lambda: ("a.csv", "a,b\n" + ("," * 3_000 + "\n") * 300),
}


def nested(depth: int) -> dict[str, object]:
    """A record in a record in a record, each with a value of its own."""
    record: dict[str, object] = {"v": 1}
    for _ in range(depth):
        record = {"v": 1, "in": record}
    return record


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_read_here_takes_time_by_its_size_alone(name: str) -> None:
    """No shape of a file that is small enough to be read here keeps indexing busy."""
    path, text = HOSTILE[name]()
    data = text.encode()
    assert len(data) <= Limits().max_inline_bytes
    started = time.process_time()
    with Loaders() as loaders:
        loaders.load(path, data)
    assert time.process_time() - started < 3


def test_a_refused_table_is_reported_and_the_run_goes_on(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named with the reason, once read not read again."""
    limits = Limits(max_seconds=0.2, max_inline_bytes=100_000)
    monkeypatch.setattr(registry, "Limits", lambda: limits)
    project.write("slow.csv", TABLE * 600)
    project.write("deep.json", '{"a":' * 300_000)
    project.write("good.md", "# Good\n\nalpha\n")
    report = project.index()
    assert report.problems == (("slow.csv", "refused: it took more than 0.2 s"),)
    assert report.files == 3
    assert project.found("alpha") == ["good.md"]
    assert project.index().is_unchanged
