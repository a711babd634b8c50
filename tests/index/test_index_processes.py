"""What several processes, and the signals sent to them, do to one index."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest

from ragmachine.index import workers as pooled
from ragmachine.index.build import build_index
from ragmachine.index.request import BuildRequest, Shape
from ragmachine.index.store import IndexStore
from workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")

# Rewrites a corpus of three files and indexes it, again and again, for some seconds.
INDEX_REPEATEDLY = """
import sys, time
from pathlib import Path
from ragmachine import RagPipeline
root, seconds = Path(sys.argv[1]), float(sys.argv[2])
pipeline = RagPipeline(project_root=str(root), index_dir=str(root / "index"), workers=1)
end, turn = time.monotonic() + seconds, 0
while time.monotonic() < end or turn < 5:
    turn += 1
    for name in "abc":
        (root / "corpus" / f"{name}.md").write_text(f"# Turn\\n\\nmarker turn{turn}\\n")
    pipeline.index("corpus")
    if turn == 1:
        print("ready", flush=True)
print(turn, flush=True)
"""

# Indexes with two worker processes, tells when the first file is done, and goes on.
INDEX_WITH_WORKERS = """
import sys, time
from pathlib import Path
from ragmachine import RagPipeline
root, pause = Path(sys.argv[1]), float(sys.argv[2])
pipeline = RagPipeline(project_root=str(root), index_dir=str(root / "index"), workers=2)
def on_file(count):
    print(count, flush=True)
    time.sleep(pause)
try:
    pipeline.index("corpus", on_file=on_file)
except KeyboardInterrupt:
    sys.exit(130)
"""

# Indexes into a folder, and tells how many files and pools of workers that took.
INDEX_AND_TELL_POOLS = """
import sys
from ragmachine import RagPipeline
from ragmachine.index import workers as pooled
pools, counts, make = [], [], pooled.ProcessPoolExecutor
pooled.ProcessPoolExecutor = lambda *args, **more: pools.append(1) or make(*args, **more)
root, folder, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
pipeline = RagPipeline(project_root=root, index_dir=folder, workers=workers)
print(pipeline.index("corpus", on_file=counts.append).files, sum(counts), len(pools))
"""


# As `INDEX_WITH_WORKERS`, with workers that take their time to come up.
START_SLOWLY = """
import os, time
from ragmachine.index import workers
start_worker = workers._start_worker
def start_slowly(*given):
    os.write(1, b"starting\\n")
    time.sleep(0.3)
    start_worker(*given)
workers._start_worker = start_slowly
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts Python on a script, in a process group of its own that does not outlive the test."""
    processes = []

    def run(script: str, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield run
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def write_large_corpus(project: Workspace, files: int = 12) -> None:
    """Half a megabyte a file: enough for worker processes."""
    line = "The scheduler moves a block of tokens from one queue to another queue.\n"
    paragraph = "".join(f"{number} {line}" for number in range(20))
    for number in range(files):
        project.write(f"part{number:02}.txt", f"{paragraph}\n" * 340)


def started(process: subprocess.Popen[str]) -> str:
    """The first line that a process prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_searches_see_whole_generations_while_another_process_indexes(
    project: Workspace, start: Start
) -> None:
    """Each search, of a new or of a long-lived pipeline, finds three files of one turn."""
    indexer = start(INDEX_REPEATEDLY, project.root, 2.0)
    assert started(indexer) == "ready"
    living = project.pipeline(use_cache=True)
    searches, turns = 0, set()
    while indexer.poll() is None:
        for pipeline in (living, project.pipeline(use_cache=True)):
            hits = pipeline.search("marker", 10).hits
            pipeline.flush()
            found = {turn for hit in hits for turn in re.findall(r"turn\d+", hit.chunk.text)}
            assert len(hits) == 3
            assert len(found) == 1
            turns |= found
            searches += 1
    assert indexer.stdout is not None
    output = indexer.stdout.read()  # by the stream that holds what was read ahead
    assert (indexer.wait(), indexer.communicate()[1]) == (0, "")
    assert int(output) > 3
    assert searches > 3
    assert len(turns) > 1


def test_two_indexers_take_turns(project: Workspace, start: Start) -> None:
    """Both come to their end without an error, and one whole index is left."""
    project.write("a.md", "marker\n")
    indexers = [start(INDEX_REPEATEDLY, project.root, 0.6) for _ in range(2)]
    outcomes = [indexer.communicate(timeout=30) for indexer in indexers]
    assert [(indexer.returncode, errors) for indexer, (_, errors) in
            zip(indexers, outcomes, strict=True)] == [(0, ""), (0, "")]  # fmt: skip
    project.index()
    assert len(project.found("marker")) == 3
    assert project.leftovers() == []


def test_ctrl_c_ends_the_workers_quietly_and_soon(project: Workspace, start: Start) -> None:
    """The signal reaches every process of the terminal: no traceback, nothing half-written."""
    write_large_corpus(project)
    indexer = start(INDEX_WITH_WORKERS, project.root, 0.05)
    assert int(started(indexer)) > 0
    os.killpg(indexer.pid, signal.SIGINT)
    _, errors = indexer.communicate(timeout=20)
    assert (indexer.returncode, errors) == (130, "")
    assert not list(project.folder.glob("*gen-*"))


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="changes the child")
def test_ctrl_c_while_workers_start_is_as_quiet(project: Workspace, start: Start) -> None:
    """A worker that has not yet learnt to ignore the signal does not die of it aloud."""
    write_large_corpus(project, files=8)
    indexer = start(START_SLOWLY + INDEX_WITH_WORKERS, project.root, 0.05)
    assert started(indexer) == "starting"
    os.killpg(indexer.pid, signal.SIGINT)
    _, errors = indexer.communicate(timeout=20)
    assert (indexer.returncode, errors) == (130, "")


def test_workers_end_with_a_killed_parent(project: Workspace, start: Start) -> None:
    """A killed run leaves neither processes nor a lock behind."""
    write_large_corpus(project)
    indexer = start(INDEX_WITH_WORKERS, project.root, 60)
    assert int(started(indexer)) > 0
    indexer.send_signal(signal.SIGKILL)
    # the pipe comes to its end only when every process that inherited it has ended
    indexer.communicate(timeout=20)
    began = time.monotonic()
    with project.store.writing():
        assert time.monotonic() - began < 1


def test_workers_build_the_same_index(project: Workspace, start: Start) -> None:
    """One process or two: every file of the index is the same.

    In interpreters of their own: here, libraries with threads may have been imported.
    """
    write_large_corpus(project, files=8)
    contents = []
    for workers in (1, 2):
        folder = project.root / f"index{workers}"
        indexer = start(INDEX_AND_TELL_POOLS, project.root, folder, workers)
        told, problems = indexer.communicate(timeout=60)
        # (files of the report, files told of, pools started)
        assert told.split() == ["8", "8", str(workers - 1)], problems
        generation = Path(IndexStore(str(folder)).require_current())
        names = ("chunks.json.hash", "bm25.hash", "bm25_files.hash", "postings.hash")
        contents.append([(generation / name).read_text() for name in names])
    assert contents[0] == contents[1]


def test_no_worker_is_forked_beside_threads_of_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that such a thread holds at that moment would never be let go in the worker."""
    (tmp_path / "corpus").mkdir()
    for name in "ab":
        (tmp_path / "corpus" / f"{name}.txt").write_text("word\n" * 400_000)
    monkeypatch.setitem(sys.modules, "onnxruntime", ModuleType("onnxruntime"))
    monkeypatch.setattr(pooled, "ProcessPoolExecutor", lambda *_, **__: pytest.fail("forked"))
    request = BuildRequest(
        root=str(tmp_path / "corpus"),
        display_root="corpus",
        shape=Shape(2000, 0),
        max_file_bytes=10**7,
        workers=2,
    )
    assert build_index(IndexStore(str(tmp_path / "index")), request).files == 2
