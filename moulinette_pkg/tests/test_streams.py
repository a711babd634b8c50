"""Output streams that are closed, full or of another encoding."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .builders import entry, environment, question, write_pair

COMMAND = "list_valid_questions"


def start(folder: Path, *arguments: str, **streams: Any) -> "subprocess.Popen[bytes]":
    """Start the evaluator with its own streams."""
    command = [sys.executable, "-m", "moulinette", *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=environment(), stderr=subprocess.PIPE, **streams
    )


def test_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    """A reader that goes away, as `| head` does, causes no message."""
    write_pair(tmp_path, [question("q")], [entry("q")])
    reader, writer = os.pipe()
    os.close(reader)
    process = start(tmp_path, COMMAND, "r.json", "d.json", stdout=writer)
    os.close(writer)
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_full_disk_is_reported(tmp_path: Path) -> None:
    """A report that cannot be written is a failure with one line."""
    write_pair(tmp_path, [question("q")], [entry("q")])
    with open("/dev/full", "wb") as full:
        process = start(tmp_path, COMMAND, "r.json", "d.json", stdout=full)
        message = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 1
    assert message.startswith("moulinette: the report could not be written")
    assert message.count("\n") == 1


def test_plain_ascii_terminal(tmp_path: Path) -> None:
    """Characters the terminal cannot show are escaped."""
    odd = {"question_id": "q", "question": "é", "sources": []}
    write_pair(tmp_path, [odd], [{**odd, "retrieved_sources": []}])
    done = subprocess.run(
        [sys.executable, "-m", "moulinette", COMMAND, "r.json", "d.json"],
        cwd=tmp_path,
        env={**environment(), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert b'[VALID] q "\\xe9"' in done.stdout
