"""`serve` as it is typed: the address it tells, the signal that ends it, what it refuses."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from live import PATIENCE_S

CHECKOUT = Path(__file__).resolve().parents[2]


@contextmanager
def started(root: Path, *words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """`python -m src serve …`, ended in any case."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "src", "serve", "--index_dir", str(root / "index"), *words],
        cwd=CHECKOUT,
        env={**kept, "RAG_PROJECT_ROOT": str(root), "XDG_CONFIG_HOME": str(root), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_it_tells_its_address_answers_and_ends_on_ctrl_c(indexed: Path) -> None:
    """Exit code 0; the log is JSON lines without a traceback."""
    with started(indexed, "--port", "0", "--llm", "extractive") as process:
        assert process.stderr is not None
        line = ""
        while "serving on" not in line:
            line = process.stderr.readline()
            assert line, "it ended"
        url = line.split()[-1]
        assert url.startswith("http://127.0.0.1:")
        found = httpx.post(f"{url}/search", json={"query": "oranges"}, timeout=PATIENCE_S).json()
        assert found["retrieved_chunks"][0]["file_path"] == "corpus/notes/jam.md"
        process.send_signal(signal.SIGINT)
        out, log = process.communicate(timeout=60)
    assert process.returncode == 0, log
    assert out == ""
    assert '"event":"request"' in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "RAG_API_TOKEN"),  # noqa: S104
        (["--host", "no.such.host.invalid"], "RAG_API_TOKEN"),
        (["--port", "70000"], "at most 65535"),
        (["--answers_at_once", "0"], "at least 1"),
    ],
    ids=str,
)
def test_what_it_refuses_to_begin_with(indexed: Path, words: list[str], told: str) -> None:
    """Exit code 2 and one line."""
    with started(indexed, *words) as process:
        _, log = process.communicate(timeout=60)
    assert process.returncode == 2
    assert told in log
    assert len(log.splitlines()) == 1


def test_a_port_in_use_is_one_line(indexed: Path) -> None:
    """With what to type instead."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with started(indexed, "--port", port) as process:
            _, log = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "--port" in log
    assert len(log.splitlines()) == 1


def test_an_absent_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """And which module is missing."""
    from ragmachine.commands.serving import serve, serve_mcp
    from ragmachine.errors import RagError
    from ragmachine.settings import load_settings

    for name in [name for name in sys.modules if name.startswith("ragmachine.server.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(RagError, match=r"ragmachine\[server\]"):
        serve(load_settings({}, {}), print)
    with pytest.raises(RagError, match=r"ragmachine\[mcp\]"):
        serve_mcp(load_settings({}, {}))
