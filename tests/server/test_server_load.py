"""The script that puts a server under load: what it takes for an answer of one generation."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from live import Live, pipeline_of

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, its neighbours importable."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("load", BENCHMARKS / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "load", module)
    spec.loader.exec_module(module)
    return module


def answer(chunks: int, *numbers: int) -> bytes:
    """A search's document, as far as it is read."""
    rows = [{"text": f"Generation {number} says 3 m of Ayr."} for number in numbers]
    document = {"retrieved_chunks": rows, "metrics": {"total_chunks": chunks}}
    return json.dumps(document).encode()


def test_a_mixed_answer_is_counted(load: ModuleType, tmp_path: Path) -> None:
    """Passages of two generations, passages beside the number of another one, and none at all."""
    generations = load.Generations(tmp_path / "corpus", 20)
    assert generations.is_whole(answer(21, 1, 1, 1))
    for mixed in (answer(21, 1, 2, 1), answer(20, 1, 1), answer(21), b'{"retrieved_chunks": [],'
                  b' "metrics": {"total_chunks": 20}}'):  # fmt: skip
        assert not generations.is_whole(mixed)
    assert (generations.mixed, generations.seen) == (4, {1})


def test_clients_ask_a_server_and_judge_its_answers(
    load: ModuleType, live: Callable[..., Live], tmp_path: Path
) -> None:
    """Each generation that is written is found whole; one that is not indexed yet is not seen."""
    generations = load.Generations(tmp_path / "corpus", 20)
    pipeline_of(tmp_path).index("corpus")
    server = live(tmp_path)
    port = int(server.url.rpartition(":")[2])

    def asked(requests: int) -> Any:
        clients = load.Load(port, generations.questions, generations.is_whole)
        asyncio.run(clients.run(2, requests=requests))
        return clients

    first = asked(10)
    assert (len(first.spent_ms), first.failed, generations.seen) == (10, 0, {0})
    generations.advance()
    asked(4)
    assert generations.seen == {0}
    pipeline_of(tmp_path).index("corpus")
    server.service.pipeline.refresh()
    assert asked(4).failed == 0
    assert (generations.seen, generations.mixed) == ({0, 1}, 0)


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="Linux tells it there")
def test_memory_is_read_at_quarters(
    load: ModuleType, live: Callable[..., Live], indexed: Path
) -> None:
    """Before, after each quarter, and in the end; every request counts."""
    port = int(live(indexed).url.rpartition(":")[2])
    found = load._memory(port, os.getpid(), ["bitter oranges", "pump"], 10)
    assert [point["requests"] for point in found["points"]] == [0, 2, 5, 7, 10]
    assert all(0 < point["pss_mb"] <= point["rss_mb"] for point in found["points"])
    assert found["failed"] == 0
