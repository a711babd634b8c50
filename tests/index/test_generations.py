"""A new index takes the place of the old one whole, or not at all."""

from __future__ import annotations

import builtins
import errno
import os
import resource
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from ragmachine.errors import (
    CorpusError,
    IndexBusyError,
    IndexCorruptError,
    IndexMissingError,
    IndexVersionError,
    StorageError,
)
from ragmachine.index import store as store_module
from ragmachine.index.hashes import write_hash
from ragmachine.index.lock import exclusive
from ragmachine.index.store import FORMAT_VERSION
from workspace import Workspace, in_child, read_only


@pytest.fixture
def indexed(project: Workspace) -> Workspace:
    """An index of one file, and a second file that a next run would add."""
    project.write("first.md", "# First\n\nThe cache evicts.\n")
    project.index()
    project.write("second.md", "# Second\n\nThe cache grows.\n")
    return project


def assert_old_index_answers(project: Workspace) -> None:
    """The index of one file is whole."""
    assert project.found("cache") == ["first.md"]


def assert_next_run_is_clean(project: Workspace) -> None:
    """The next run adds the second file and leaves nothing beside its generation."""
    assert project.index().files == 2
    assert sorted(project.found("cache")) == ["first.md", "second.md"]
    assert project.leftovers() == []


# --- what CURRENT may say


def test_a_folder_without_an_index_says_how_to_build_one(project: Workspace) -> None:
    """No CURRENT means that nothing was indexed, and the error names the command."""
    with pytest.raises(IndexMissingError) as caught:
        project.found("cache")
    assert str(project.folder) in caught.value.message
    assert "make index" in caught.value.remedy


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"gen-", b"gen-../../etc\n", b"gen-\x00abc\n", b"..\n", b"\xff\xfe", b"a b c\n"],
    ids=["empty", "blank", "no name", "a path", "a NUL", "parent", "not UTF-8", "words"],
)
def test_a_garbled_current_is_damage(indexed: Workspace, content: bytes) -> None:
    """Whatever CURRENT holds, a search fails with its name, and the next run mends it."""
    (indexed.folder / "CURRENT").write_bytes(content)
    with pytest.raises(IndexCorruptError, match="CURRENT") as caught:
        indexed.found("cache")
    assert "--collection" in caught.value.remedy  # `make index` alone would build another one
    assert_next_run_is_clean(indexed)


def test_a_current_that_names_no_folder_is_damage(indexed: Workspace) -> None:
    """A well-formed name of a generation that is not there is damage too."""
    (indexed.folder / "CURRENT").write_text("gen-0123456789ab\n")
    with pytest.raises(IndexCorruptError, match=r"gen-0123456789ab/manifest\.json\.hash"):
        indexed.found("cache")
    assert_next_run_is_clean(indexed)


def test_without_current_the_next_run_builds_anew(indexed: Workspace) -> None:
    """A lost CURRENT is an index that is missing; building makes a new one."""
    (indexed.folder / "CURRENT").unlink()
    with pytest.raises(IndexMissingError):
        indexed.found("cache")
    assert_next_run_is_clean(indexed)


# --- versions


def rewrite_manifest(project: Workspace, **changes: Any) -> None:
    """Change the manifest of the current generation as if it had been written so."""
    path = project.generation / "manifest.json"
    path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), **changes}))
    write_hash(str(path))


@pytest.mark.parametrize("version", [FORMAT_VERSION + 1, 0, str(FORMAT_VERSION), None], ids=repr)
def test_another_format_is_refused_with_a_remedy(indexed: Workspace, version: object) -> None:
    """An index of another format is not read on a guess."""
    rewrite_manifest(indexed, format=version)
    with pytest.raises(IndexVersionError, match=f"this version reads {FORMAT_VERSION}") as caught:
        indexed.found("cache")
    assert "make index" in caught.value.remedy


def test_a_future_format_with_other_files_is_a_matter_of_version(indexed: Workspace) -> None:
    """A later format that no longer writes a file is not reported as an index that lost it."""
    rewrite_manifest(indexed, format=99)
    os.remove(indexed.generation / "chunks.json.hash")
    with pytest.raises(IndexVersionError, match="format 99"):
        indexed.found("cache")


def test_another_format_is_rebuilt_by_the_next_run(indexed: Workspace) -> None:
    """Indexing over an index of the future builds anew instead of failing."""
    rewrite_manifest(indexed, format=99)
    assert_next_run_is_clean(indexed)


def test_the_manifest_tells_what_shaped_the_index(project: Workspace) -> None:
    """Format, versions, settings, corpus root, digests, omissions and counts are on record."""
    project.write("guide.md", "# Cache\n\nText.\n")
    project.write("data.bin", b"\0")
    project.write("table.dat2", b"\0\1\2\3")
    project.index(max_chunk_size=900, overlap=50, bm25="atire", k1=2, context=False)
    manifest = orjson.loads((project.generation / "manifest.json").read_bytes())
    assert manifest["format"] == FORMAT_VERSION
    assert {"code", "python", "bm25s", "numpy", "PyStemmer"} <= manifest["versions"].keys()
    assert manifest["settings"] == {
        "max_chunk_size": 900,
        "overlap": 50,
        "chunker": "structure",
        "context": False,
        "table_rows": True,
        "bm25": "atire",
        "k1": 2,
        "b": 0.75,
        "text_columns": [],
        "ocr_model": "",
        "max_file_bytes": 10_000_000,
        "include": [],
        "exclude": [],
        "hidden": False,
        "folders": [],
    }
    assert manifest["corpus_root"] == "corpus"
    assert [(row[0], row[1], len(row[3])) for row in manifest["files"]] == [("guide.md", 15, 64)]
    assert manifest["skipped"] == {"binary": 2}
    assert manifest["counts"]["files"] == manifest["counts"]["chunks"] == 1


# --- killed


def die(*args: object, **kwargs: object) -> None:
    """End this process at once, as a kill does: no clean-up runs."""
    os._exit(9)


KILLED_AT: dict[str, tuple[Any, str, int]] = {
    "folder made": (store_module.os, "makedirs", 2),
    "first array": (np, "save", 1),
    "third array": (np, "save", 3),
    "last array": (np, "save", 14),
    "first hash": (store_module, "write_hash", 1),
    "last hash": (store_module, "write_hash", 6),
    "before the rename": (os, "rename", 1),
    "before CURRENT": (store_module, "replace_file", 1),
    "CURRENT half-written": (os, "replace", 1),
    "sweeping": (shutil, "rmtree", 1),
}


def index_and_die(project: Workspace, module: Any, name: str, call: int) -> None:
    """Index, and die in the n-th call of a function."""
    real, calls = getattr(module, name), 0

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        return die() if calls == call else real(*args, **kwargs)

    setattr(module, name, counted)
    project.index()


@pytest.mark.parametrize("point", KILLED_AT)
def test_killed_at_any_instant_one_whole_index_answers(indexed: Workspace, point: str) -> None:
    """The old index answers until CURRENT is replaced, and the next run tidies up."""
    assert in_child(lambda: index_and_die(indexed, *KILLED_AT[point])) == 9
    if point == "sweeping":
        assert sorted(indexed.found("cache")) == ["first.md", "second.md"]
    else:
        assert_old_index_answers(indexed)
    assert_next_run_is_clean(indexed)


def test_killed_in_the_first_run_leaves_no_index(project: Workspace) -> None:
    """An index that was never finished is an index that is missing."""
    project.write("first.md", "text\n")
    assert in_child(lambda: index_and_die(project, os, "rename", 1)) == 9
    with pytest.raises(IndexMissingError):
        project.found("text")
    assert project.index().files == 1
    assert project.leftovers() == []


# --- refused by the operating system


def out_of_disk(*args: object, **kwargs: object) -> None:
    """What a full disk answers."""
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    "point",
    ["first array", "last array", "first hash", "before the rename", "CURRENT half-written"],
)
def test_out_of_disk_the_old_index_stays(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """A full disk is a StorageError that says so, with nothing left behind even at once."""
    module, name, call = KILLED_AT[point]
    real, calls = getattr(module, name), 0

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        return out_of_disk() if calls == call else real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(module, name, counted)
        with pytest.raises(StorageError, match="No space left on device") as caught:
            indexed.index()
    assert str(indexed.folder) in caught.value.message
    assert "still answers" in caught.value.remedy
    assert_old_index_answers(indexed)
    assert indexed.leftovers() == []
    assert_next_run_is_clean(indexed)


@contextmanager
def file_size_limit(limit: int) -> Iterator[None]:
    """Let the operating system refuse to write files beyond `limit` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("limit", [0, 100, 300, 700], ids="{} bytes".format)
def test_a_write_that_really_fails_leaves_the_old_index(indexed: Workspace, limit: int) -> None:
    """Whichever file outgrows what the system allows, the old index stays as it was."""
    with file_size_limit(limit), pytest.raises(StorageError, match="cannot write to"):
        indexed.index()
    assert_old_index_answers(indexed)
    assert_next_run_is_clean(indexed)


def test_a_garbled_current_and_a_full_disk_leave_no_half_index(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that fails takes its own unfinished folder away, whatever CURRENT says."""
    (indexed.folder / "CURRENT").write_text("?")
    with monkeypatch.context() as patch:
        patch.setattr(np, "save", out_of_disk)
        with pytest.raises(StorageError):
            indexed.index()
    assert not list(indexed.folder.glob("building-*"))


def test_a_read_only_folder_still_answers(indexed: Workspace) -> None:
    """Indexing into it is refused in one line, searching it goes on."""
    with read_only(indexed.folder):
        with pytest.raises(StorageError, match="Permission denied"):
            indexed.index()
        assert_old_index_answers(indexed)


def test_a_folder_that_is_a_file_is_refused(project: Workspace) -> None:
    """An index folder that cannot be a folder is a StorageError, not a traceback."""
    project.write("first.md", "text\n")
    project.folder.write_text("in the way")
    with pytest.raises(StorageError, match="cannot write to"):
        project.index()
    assert project.folder.read_text() == "in the way"


# --- interrupted


@pytest.mark.parametrize("point", ["first array", "before the rename", "CURRENT half-written"])
def test_interrupted_while_writing_the_old_index_is_intact(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """Ctrl-C passes through, and leaves neither a new index nor parts of one."""
    module, name, _ = KILLED_AT[point]

    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            indexed.index()
    assert_old_index_answers(indexed)
    assert indexed.leftovers() == []


def test_interrupted_while_reading_the_old_index_is_intact(indexed: Workspace) -> None:
    """Ctrl-C in the middle of the files changes nothing and frees the lock."""

    def interrupted(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        indexed.pipeline().index("corpus", on_file=interrupted)
    assert_old_index_answers(indexed)
    assert_next_run_is_clean(indexed)


# --- not checked is not intact


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_index_that_could_not_be_checked_is_not_trusted(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that breaks down, for want of memory say, is no check passed."""

    def break_down(paths: object) -> None:
        raise MemoryError

    check = store_module.Verification(str(indexed.generation))
    check.result()
    monkeypatch.setattr(store_module, "verify", break_down)
    check = store_module.Verification(str(indexed.generation))
    with pytest.raises(IndexCorruptError, match="could not be checked"):
        check.result()


# --- what is not ours


def test_folders_that_only_resemble_generations_are_left_alone(indexed: Workspace) -> None:
    """An index put beside somebody's `gen-…` folders does not sweep them away."""
    kept = [indexed.folder / name for name in ("gen-reports", "building-gen-plans", "gen-1234")]
    for folder in kept:
        folder.mkdir()
        (folder / "work.txt").write_text("months of it")
    indexed.index()
    assert all((folder / "work.txt").exists() for folder in kept)


def test_a_missing_corpus_makes_no_index_folder(project: Workspace) -> None:
    """A misspelt corpus is refused before anything is written."""
    with pytest.raises(CorpusError, match="there is no folder"):
        project.pipeline().index("corpse")
    assert not project.folder.exists()


# --- two at once


def test_a_second_indexer_gives_up_with_a_clear_error(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another process indexes, a run waits for it and then says who is in the way."""
    monkeypatch.setattr(store_module, "_LOCK_TIMEOUT_S", 0.1)
    with indexed.store.writing(), pytest.raises(IndexBusyError, match="another process") as caught:
        indexed.index()
    assert "wait" in caught.value.remedy
    assert_next_run_is_clean(indexed)


def test_a_second_indexer_waits_and_sees_what_came_meanwhile(indexed: Workspace) -> None:
    """A run that had to wait looks at the folder again: nothing indexed meanwhile is dropped."""
    is_held, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with indexed.store.writing():
            is_held.set()
            may_end.wait(5)
            indexed.write("third.md", "# Third\n\nThe cache ends.\n")

    holder = threading.Thread(target=hold)
    holder.start()
    assert is_held.wait(5)
    threading.Timer(0.15, may_end.set).start()
    report = indexed.index()
    holder.join()
    assert report.files == 3


def test_a_lock_that_cannot_be_had_at_all_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share without locks is an error at once, rather than a process that never ends."""
    import fcntl

    def no_locks(*args: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    started = time.monotonic()
    with (
        pytest.raises(OSError, match="No locks available"),
        exclusive(str(tmp_path / "lock"), timeout_s=5),
    ):
        pass
    assert time.monotonic() - started < 1


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 on fork
def test_a_forked_child_does_not_hold_the_lock(tmp_path: Path) -> None:
    """A worker that outlives its killed parent must not lock the index for ever."""
    path = str(tmp_path / "lock")
    with exclusive(path, timeout_s=0):
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
    try:
        with exclusive(path, timeout_s=5):
            pass  # taken although the child lives
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


# --- replaced while it is read


def replace_after(
    project: Workspace, patch: pytest.MonkeyPatch, is_due: Callable[[str], bool]
) -> list[str]:
    """Re-index, once, when a file that `is_due` names has been opened; returns what was opened."""
    opened: list[str] = []
    real_open = builtins.open

    def open_(file: Any, *args: Any, **kwargs: Any) -> Any:
        stream = real_open(file, *args, **kwargs)
        if is_due(str(file)) and not opened:
            opened.append(str(file))
            project.index(force=True)
        return stream

    patch.setattr(builtins, "open", open_)
    return opened


@pytest.mark.parametrize(
    "name",
    ["manifest.json.hash", "chunks.json", "bm25.hash", "documents.bin", "params.index.json"],
)
def test_a_generation_replaced_while_it_is_opened_is_no_fault(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The reader starts over with the new generation instead of missing files of the old one."""
    old = str(indexed.generation)
    with monkeypatch.context() as patch:
        opened = replace_after(
            indexed, patch, lambda path: path.startswith(old) and path.endswith(name)
        )
        assert sorted(indexed.found("cache")) == ["first.md", "second.md"]
    assert opened


def test_an_opened_index_outlives_its_generation(indexed: Workspace) -> None:
    """Everything that a search needs is held open: the folder may go at any moment."""
    pipeline = indexed.pipeline(use_cache=False)
    pipeline.opened_index()
    current = (indexed.folder / "CURRENT").read_text()
    shutil.rmtree(indexed.generation)
    assert (indexed.folder / "CURRENT").read_text() == current
    assert [hit.chunk.text for hit in pipeline.search("cache").hits] == [
        "# First\n\nThe cache evicts."
    ]
