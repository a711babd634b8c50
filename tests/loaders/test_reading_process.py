"""Risky parsers run in a process that can be lost without losing the run."""

from __future__ import annotations

import os
import sys

import pytest
from pdf_files import PROSE, lines, pdf

from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import LoadError
from ragmachine.corpus.loaders.sandbox import ReaderLostError, Sandbox


@pytest.fixture
def sandbox() -> Sandbox:
    """A sandbox that is closed by each test's end."""
    return Sandbox(Limits())


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
