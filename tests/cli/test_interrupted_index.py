"""Ctrl-C while a folder is indexed: a quiet end, and the old index still answers."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from house import CHECKOUT, House, child_words, clean_environment

_FILES = 900
_FUNCTION = '''
def stage_{0}(value_{0}):
    """Turn the value of stage {0} into the next one, and log what was dropped on the way."""
    dropped_{0} = [item for item in value_{0} if item is None]
    return [item * {0} for item in value_{0} if item is not None], dropped_{0}
'''


@pytest.fixture(scope="module")
def quarry(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A project with a small indexed corpus, and a large one that takes seconds to index."""
    house = House(tmp_path_factory.mktemp("quarry"))
    house.save("small/a.md", "# Small\n\nThe old index answers with marmalade.\n")
    for number in range(_FILES):
        functions = "".join(_FUNCTION.format(number * 1000 + row) for row in range(25))
        house.save(f"large/part_{number}.py", f'"""Stages of {number}."""\n{functions}')
    process = start(house, "index", "--target_dir", f"{house.root}/small")
    assert process.communicate(timeout=60)[1] == ""
    return house


def start(house: House, *words: str) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, as a shell does."""
    return subprocess.Popen(
        child_words(words),
        cwd=CHECKOUT,
        env=clean_environment(house.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def is_locked(path: Path) -> bool:
    """Whether another process holds the lock file."""
    with path.open("a") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def has_begun(house: House, process: subprocess.Popen[str], workers: int) -> bool:
    """Whether the work is under way: the lock is held, and workers leave Ctrl-C to their parent."""
    if not is_locked(house.index_dir / "index.lock"):
        return False
    if workers == 0:
        return True
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    status = [Path(f"/proc/{child}/status").read_text() for child in children]
    ignored = [int(re.findall(r"SigIgn:\t(\w+)", text)[0], 16) for text in status]
    return sum(mask >> (signal.SIGINT - 1) & 1 for mask in ignored) == workers


def interrupt(house: House, process: subprocess.Popen[str], workers: int) -> tuple[str, str]:
    """Press Ctrl-C once that many workers have started, with 0 as soon as the lock is taken."""
    deadline = time.monotonic() + 30
    while not has_begun(house, process, workers):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.1 if workers else 0.0)
    os.killpg(process.pid, signal.SIGINT)
    try:
        return process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells when the workers have started")
@pytest.mark.parametrize(
    ("workers", "started"),
    [(1, 0), (2, 0), (2, 2)],
    ids=["alone", "workers-starting", "workers-at-work"],
)
def test_ctrl_c_leaves_the_old_index(quarry: House, workers: int, started: int) -> None:
    """Exit code 130, one line, no unfinished folder, and the same answer as before."""
    before = (quarry.index_dir / "CURRENT").read_text()
    words = ["--target_dir", f"{quarry.root}/large", "--workers", str(workers)]
    process = start(quarry, "index", *words)
    out, err = interrupt(quarry, process, started)
    assert (process.returncode, out) == (130, "")
    assert err == "error: interrupted; nothing is left half-written\n"
    assert (quarry.index_dir / "CURRENT").read_text() == before
    assert [name for name in os.listdir(quarry.index_dir) if "building" in name] == []
    search = start(quarry, "search", "marmalade")
    assert "small/a.md" in search.communicate(timeout=60)[0]
