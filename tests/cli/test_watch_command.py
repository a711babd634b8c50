"""``watch``: the index follows the folder, and whoever has it open follows the index."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from house import CHECKOUT, Program, clean_environment

from ragmachine.errors import StorageError
from ragmachine.settings import load_settings
from ragmachine.terminal.health_text import change_line
from ragmachine.watching import Update, WatchedIndex, watch
from ragmachine.wiring.watching import watched_index
from workspace import Workspace

PATIENCE_S = 30.0


class Watch:
    """A watch in a thread of its own, and what it told."""

    def __init__(self, place: WatchedIndex, *, polls: bool) -> None:
        self.updates: list[Update] = []
        self.stop = threading.Event()
        self.thread = threading.Thread(
            target=watch,
            args=(place, self.updates.append),
            kwargs={"debounce_ms": 20, "polls": polls, "stop": self.stop},
        )
        self.thread.start()

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something to be so."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, self.updates
            time.sleep(0.01)

    @property
    def changes(self) -> list[tuple[str, str]]:
        """All that was told."""
        return [change for update in self.updates for change in update.changes]


@pytest.fixture(params=[False, True], ids=["told", "polled"])
def running(
    request: pytest.FixtureRequest, project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Watch]:
    """A watch over an indexed corpus, by the operating system's reports and by looking."""
    monkeypatch.setattr("ragmachine.watching._POLL_S", 0.02)
    project.write("a.md", "alpha\n")
    project.write("b.md", "beta\n")
    project.index()
    settings = load_settings({"project_root": str(project.root), "index_dir": str(project.folder)})
    running = Watch(watched_index(settings), polls=request.param)
    yield running
    running.stop.set()
    running.thread.join(PATIENCE_S)
    assert not running.thread.is_alive()


def test_changes_are_indexed_and_told(project: Workspace, running: Watch) -> None:
    """A save, a new file and a removal, each by its kind; a pipeline that is open finds them."""
    pipeline = project.pipeline(use_cache=False)
    assert pipeline.search("gamma").hits == ()
    project.write("a.md", "gamma\n", age_s=0)
    running.until(lambda: ("changed", "a.md") in running.changes)
    assert [hit.chunk.file_path for hit in pipeline.search("gamma").hits] == ["corpus/a.md"]
    project.write("sub/c.md", "delta\n", age_s=0)
    running.until(lambda: ("new", "sub/c.md") in running.changes)
    (project.corpus / "b.md").unlink()
    running.until(lambda: ("removed", "b.md") in running.changes)
    assert pipeline.search("beta").hits == ()


def test_an_editor_that_replaces_the_file_is_followed(project: Workspace, running: Watch) -> None:
    """Write a new file, rename it over the old one: one change of one file, twice in a row."""
    for word in ("gamma", "delta"):
        seen = len(running.updates)
        swap = project.corpus / ".a.md.swp"
        swap.write_text(f"{word}\n")
        (project.corpus / "a.md").rename(project.corpus / "a.md~")
        swap.rename(project.corpus / "a.md")
        (project.corpus / "a.md~").unlink()
        running.until(lambda seen=seen: len(running.updates) > seen)  # type: ignore[misc]
        running.until(lambda word=word: project.found(word) == ["a.md"])  # type: ignore[misc]
    assert {path for _, path in running.changes} <= {"a.md", "a.md~"}


def test_a_touch_is_no_update(project: Workspace, running: Watch) -> None:
    """Nor is what lands in the index folder, or a file that ignore rules leave out."""
    (project.corpus / "b.md").touch()
    (project.folder / "query_cache.json").write_text("{}")
    (project.corpus / "picture.png").write_bytes(b"\0")
    time.sleep(0.5)
    assert running.updates == []
    project.write("a.md", "gamma\n", age_s=0)  # whatever was seen of the others is over by then
    running.until(lambda: bool(running.updates))
    assert running.changes == [("changed", "a.md")]


def test_an_update_that_fails_is_told_and_tried_again(tmp_path: Path) -> None:
    """A full disk does not end the watch."""
    outcomes = iter([StorageError("the disk is full"), Update((("new", "a.md"),), 1, 1, 0.1)])
    looks = iter(range(100))
    told: list[Update] = []
    stop = threading.Event()

    def rebuild() -> Update | None:
        outcome = next(outcomes)
        if isinstance(outcome, StorageError):
            raise outcome
        stop.set()
        return outcome

    place = WatchedIndex("index", str(tmp_path), [str(tmp_path)], lambda: {"n": next(looks)},
                         rebuild)  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragmachine.watching._POLL_S", 0.01)
        watch(place, told.append, debounce_ms=1, polls=True, stop=stop)
    assert [update.error for update in told] == ["the disk is full", ""]


def test_without_the_extra_files_are_looked_at(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`watchfiles` makes it quicker, and is not needed."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    monkeypatch.setattr("ragmachine.watching._POLL_S", 0.02)
    project.write("a.md", "alpha\n")
    project.index()
    settings = load_settings({"project_root": str(project.root), "index_dir": str(project.folder)})
    running = Watch(watched_index(settings), polls=False)
    try:
        time.sleep(0.1)
        project.write("a.md", "gamma\n", age_s=0)
        running.until(lambda: running.changes == [("changed", "a.md")])
    finally:
        running.stop.set()
        running.thread.join(PATIENCE_S)


def test_changes_that_came_while_nobody_watched_are_caught_up(project: Workspace) -> None:
    """The first thing a watch does is an update."""
    project.write("a.md", "alpha\n")
    project.index(exclude="b.*")
    project.write("a.md", "gamma\n", age_s=60)
    project.write("b.md", "beta\n")
    settings = load_settings({"project_root": str(project.root), "index_dir": str(project.folder)})
    running = Watch(watched_index(settings), polls=True)
    try:
        running.until(lambda: running.changes == [("changed", "a.md")])
    finally:
        running.stop.set()
        running.thread.join(PATIENCE_S)


def test_one_line_a_change() -> None:
    """Up to three files by name; an error as a line as well."""
    changes = [("new", f"{number}.md") for number in range(5)]
    assert change_line(Update(changes, 1200, 3400, 0.34)) == (
        "new 0.md, new 1.md, new 2.md and 2 more: 1,200 files, 3,400 chunks, 0.3 s"
    )
    assert change_line(Update(error="the disk is full")) == "error: the disk is full"


def test_a_watch_needs_an_index(program: Program, tmp_path: Path) -> None:
    """It keeps one up to date and does not guess of what."""
    outcome = program.run("watch", "--index_dir", str(tmp_path / "none"))
    assert outcome.code == 1
    outcome.assert_tidy()


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_ctrl_c_leaves_cleanly(program: Program, project: Workspace) -> None:
    """Exit code 0, nothing on stderr, a line for the change that was seen before."""
    project.write("a.md", "alpha\n")
    project.index()
    process = subprocess.Popen(
        [sys.executable, "-m", "src", "watch", "--index_dir", str(project.folder),
         "--debounce_ms", "20"],
        cwd=CHECKOUT, env=clean_environment(program.house.shelter), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    limit = threading.Timer(2 * PATIENCE_S, process.kill)  # ends a read that waits for ever
    limit.start()
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("watching ")
        project.write("a.md", "gamma\n", age_s=0)
        line = process.stdout.readline()
        assert re.match(r"changed a\.md: 1 files, 1 chunks, [\d.]+ s\n", line)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    finally:
        limit.cancel()
        process.kill()
        process.communicate()
    assert project.leftovers() == []
