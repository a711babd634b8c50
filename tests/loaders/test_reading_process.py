"""Risky parsers run in a process that can be lost without losing the run."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pdf_files import PROSE, lines, pdf

from ragmachine.corpus.loaders import sandbox as module
from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import LoadError
from ragmachine.corpus.loaders.registry import Loaders
from ragmachine.corpus.loaders.sandbox import ReaderLostError, Sandbox
from ragmachine.index import workers
from workspace import Workspace


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A sandbox that is closed by each test's end."""
    opened = Sandbox(Limits())
    yield opened
    opened.close()


def test_it_starts_when_first_asked_and_ends_when_closed(sandbox: Sandbox) -> None:
    """Nothing is started for nothing, and nothing is left running."""
    assert not sandbox.is_running
    assert sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))["pages"] == 1
    process = sandbox._process
    assert process is not None
    sandbox.close()
    assert process.returncode is not None
    assert not sandbox.is_running


def test_a_job_that_takes_too_long_is_ended(sandbox: Sandbox) -> None:
    """The time is up, the process is gone, and the next request has another."""
    with pytest.raises(ReaderLostError, match=r"took more than 0\.0001 s"):
        sandbox.ask("open_pdf", 0.0001, pdf(lines(PROSE)))
    assert not sandbox.is_running
    assert sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))["pages"] == 1
    sandbox.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
def test_memory_is_limited() -> None:
    """What needs more memory than allowed is refused, and says so."""
    sandbox = Sandbox(Limits(max_memory_bytes=120 << 20))
    with pytest.raises(ReaderLostError, match=r"took more than 0\.\d+ GiB of memory"):
        sandbox.ask("html", 60, b" " * (160 << 20), max_chars=10)
    assert not sandbox.is_running
    sandbox.close()


def test_a_refusal_keeps_the_process(sandbox: Sandbox) -> None:
    """A document that is refused costs no process."""
    with pytest.raises(LoadError, match="no PDF"):
        sandbox.ask("open_pdf", 60, b"nonsense")
    assert sandbox.is_running
    sandbox.close()


def test_a_crash_is_an_answer(sandbox: Sandbox) -> None:
    """A process that dies over a request is reported as that."""
    sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))
    process = sandbox._process
    assert process is not None
    process.kill()
    process.wait()
    with pytest.raises(ReaderLostError, match="crashed its reader"):
        sandbox.ask("read_page", 60, number=1, has_tables=False, has_ocr=False, max_pixels=1)
    assert not sandbox.is_running


def test_a_page_that_is_not_there_is_an_error_of_the_file(sandbox: Sandbox) -> None:
    """A parser's own exception comes back as the reason, in one line."""
    sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))
    with pytest.raises(LoadError) as caught:
        sandbox.ask("read_page", 60, number=9, has_tables=False, has_ocr=False, max_pixels=1)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("cannot be read: ")
    sandbox.close()


def test_it_ends_with_the_program_that_started_it(sandbox: Sandbox) -> None:
    """A process whose input ends does not stay behind."""
    sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))
    process = sandbox._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=30) == 0
    sandbox.close()
    assert not os.path.exists(f"/proc/{process.pid}")


def end(sandbox: Sandbox) -> None:
    """Have the reading process die."""
    process = sandbox._process
    assert process is not None
    process.kill()
    process.wait()


def test_one_process_reads_many_documents_and_then_another(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models stay loaded; what leaks goes in the end."""
    monkeypatch.setattr(module, "_MOST_DOCUMENTS", 2)
    processes = []
    for _ in range(4):
        sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))
        sandbox.ask("read_page", 60, number=1, has_tables=False, has_ocr=False, max_pixels=1)
        processes.append(sandbox._process)
    sandbox.close()
    assert processes[0] is processes[1]
    assert processes[1] is not processes[2]
    assert processes[2] is processes[3]


def test_no_document_is_refused_for_what_was_read_before(sandbox: Sandbox) -> None:
    """A process that had read others and dies is replaced, and the document asked for again."""
    sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))
    end(sandbox)
    assert sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))["pages"] == 1
    end(sandbox)
    with pytest.raises(ReaderLostError) as caught:  # of the document that is open, only the loader
        sandbox.ask("read_page", 60, number=1, has_tables=False, has_ocr=False, max_pixels=1)
    assert not caught.value.is_doubtful  # knows: it was the first of its process
    sandbox.close()


def test_a_document_that_takes_too_long_is_asked_for_once(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time is counted for each document alone: it is nobody else's fault."""
    sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))
    monkeypatch.setattr(Sandbox, "_start", None)  # another process would be a fault
    with pytest.raises(ReaderLostError, match="took more than") as caught:
        sandbox.ask("html", 0.01, b"<p>word</p>" * 500_000, max_chars=10**9)
    assert not caught.value.is_doubtful
    sandbox.close()


def test_a_reply_that_is_too_long_is_refused(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process still writes when nobody reads: it is ended, and not waited for."""
    monkeypatch.setattr(module, "_MAX_REPLY_BYTES", 1 << 20)
    sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))
    process = sandbox._process
    assert process is not None
    monkeypatch.setattr(Sandbox, "_start", None)  # another would say as much
    rescue = threading.Timer(20, process.kill)  # a test that fails should end as well
    rescue.start()
    try:
        with pytest.raises(ReaderLostError, match="came to more than 1 MiB when read"):
            sandbox.ask("html", 60, b"<p>word</p>" * 300_000, max_chars=10**9)
    finally:
        rescue.cancel()
    assert process.returncode is not None
    assert not sandbox.is_running


@pytest.mark.parametrize("documents_before", [0, 1])
def test_a_page_is_not_lost_for_what_was_read_before(
    documents_before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a process that has read nothing else can lose a page."""
    ask = Sandbox.ask
    killed = []

    def kill_once(self: Sandbox, job: str, *given: Any, **more: Any) -> dict[str, Any]:
        if job == "read_page" and not killed:
            killed.append(job)
            end(self)
        return ask(self, job, *given, **more)

    with Loaders() as loaders:
        for _ in range(documents_before):
            loaders.load("before.pdf", pdf(lines(["Something else."])))
        monkeypatch.setattr(Sandbox, "ask", kill_once)
        loaded = loaders.load("manual.pdf", pdf(lines(PROSE), lines(["The end."])))
    assert loaded is not None
    assert "The end." in loaded.text
    lost = "1 of 2 pages not read: p.1 crashed its reader"
    assert loaded.problem == ("" if documents_before else lost)


def test_a_build_has_one_reading_process(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lives from batch to batch, and no longer than the build."""
    started = []
    start = Sandbox._start

    def count(self: Sandbox) -> subprocess.Popen[bytes]:
        started.append(start(self))
        return started[-1]

    monkeypatch.setattr(Sandbox, "_start", count)
    monkeypatch.setattr(workers, "_BATCH_BYTES", 1)
    for number in range(4):
        project.write(f"{number}.pdf", pdf(lines([*PROSE, str(number)])))
    project.index()
    assert len(started) == 1
    assert started[0].returncode is not None


def test_a_process_that_a_whole_batch_had_no_need_of_ends(sandbox: Sandbox) -> None:
    """Its models take memory that the rest of the build may need."""
    for _ in range(2):
        sandbox.ask("open_pdf", 60, pdf(lines(PROSE)))
        sandbox.rest()
        assert sandbox.is_running
    sandbox.rest()
    assert not sandbox.is_running


INDEX = """
import sys
from ragmachine import RagPipeline
from ragmachine.index import workers
workers._BATCH_BYTES, workers._MIN_BYTES_FOR_WORKERS = 1, 1
root = sys.argv[1]
print(RagPipeline(project_root=root, index_dir=root + "/index", workers=2).index("corpus").files)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_worker_processes_leave_no_reading_process(project: Workspace) -> None:
    """Each worker has its own, which ends with it."""
    for number in range(4):
        project.write(f"{number}.pdf", pdf(lines([*PROSE, str(number)])))
    process = subprocess.Popen(
        [sys.executable, "-c", INDEX, str(project.root)],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    output, _ = process.communicate(timeout=120)
    assert output.strip() == b"4"
    deadline = time.monotonic() + 20
    while (left := _of_session(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _of_session(number: int) -> list[str]:
    """Names of the processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        state, _, _, session = rest.split()[:4]
        if int(session) == number and state != "Z":
            found.append(name)
    return found
