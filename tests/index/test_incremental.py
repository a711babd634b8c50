"""A second run reads only what has changed, and ends with the index that a full run would build."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workspace import Workspace

BINARY = b"\0\1\2" * 100


class Watch:
    """Counts the files of a corpus that are opened, and may intervene."""

    def __init__(self, corpus: Path, patch: pytest.MonkeyPatch) -> None:
        self.opened: list[str] = []
        self.refused: set[str] = set()
        self.after_read: Callable[[str], None] = lambda name: None
        real_open = builtins.open

        def open_(file: Any, *args: Any, **kwargs: Any) -> Any:
            path = Path(os.fspath(file)) if isinstance(file, str | os.PathLike) else None
            if path is None or not path.is_relative_to(corpus):
                return real_open(file, *args, **kwargs)
            name = path.relative_to(corpus).as_posix()
            if name in self.refused:
                raise PermissionError(13, "Permission denied", str(file))
            self.opened.append(name)
            return _Watched(real_open(file, *args, **kwargs), lambda: self.after_read(name))

        patch.setattr(builtins, "open", open_)


class _Watched(AbstractContextManager[Any]):
    """A file that tells when it has been read."""

    def __init__(self, stream: Any, after_read: Callable[[], None]) -> None:
        self._stream, self._after_read = stream, after_read

    def __exit__(self, *args: object) -> None:
        self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def read(self, *args: int) -> bytes:
        data: bytes = self._stream.read(*args)
        self._after_read()
        return data


@pytest.fixture
def watch(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Sees every file of the corpus that the product opens."""
    return Watch(project.corpus, monkeypatch)


def test_unchanged_files_are_not_read_again(project: Workspace, watch: Watch) -> None:
    """A run that finds nothing changed opens no file of the corpus, and says so."""
    project.write("a.md", "alpha\n")
    project.write("sub/b.py", "beta = 1\n")
    project.index()
    watch.opened.clear()
    report = project.index()
    assert watch.opened == []
    assert report.is_unchanged
    assert report.reused == report.files == 2


def test_an_unchanged_folder_keeps_its_generation(project: Workspace) -> None:
    """Nothing is written when there is nothing to write."""
    project.write("a.md", "alpha\n")
    project.index()
    before = project.generation
    project.index()
    assert project.generation == before


def test_only_the_changed_file_is_read(project: Workspace, watch: Watch) -> None:
    """One edit among text and binary files costs the reading of one file."""
    project.write("a.md", "alpha\n")
    project.write("b.md", "beta\n")
    project.write("image", BINARY)
    project.index()
    watch.opened.clear()
    project.write("b.md", "gamma\n", age_s=1800)
    report = project.index()
    assert watch.opened == ["b.md"]
    assert report.reused == 1
    assert report.skipped == {"binary": 1}
    assert project.found("gamma") == ["b.md"]
    assert project.found("beta") == []


def test_force_reads_everything_again(project: Workspace, watch: Watch) -> None:
    """`force` takes nothing over."""
    project.write("a.md", "alpha\n")
    project.index()
    watch.opened.clear()
    report = project.index(force=True)
    assert watch.opened == ["a.md"]
    assert report.reused == 0


def test_a_touched_file_is_recognised_by_its_digest(project: Workspace) -> None:
    """A new time on the same bytes, as a checkout leaves it, changes nothing."""
    project.write("a.md", "alpha\n")
    project.index()
    project.write("a.md", "alpha\n", age_s=60)
    assert project.index().is_unchanged


def test_a_change_of_the_same_size_is_noticed(project: Workspace) -> None:
    """Another time is enough to look at a file of the same size."""
    project.write("a.md", "alpha\n")
    project.index()
    project.write("a.md", "gamma\n", age_s=60)
    project.index()
    assert project.found("gamma") == ["a.md"]


def same_time(path: Path, content: bytes) -> None:
    """Change a file behind the back of its modification time."""
    info = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def test_a_change_within_the_tick_of_the_clock_is_noticed(project: Workspace) -> None:
    """A file saved just before the run is looked at again, though size and time are the same."""
    path = project.write("a.md", "alpha\n", age_s=0)
    project.index()
    same_time(path, b"gamma\n")
    project.index()
    assert project.found("gamma") == ["a.md"]


def test_a_change_during_a_long_run_is_noticed(
    project: Workspace, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file changed right after it was read, in the same tick, long before the run ends."""
    path = project.write("a.md", "alpha\n", age_s=0)
    real, ahead_ns = time.time_ns, 0
    monkeypatch.setattr(time, "time_ns", lambda: real() + ahead_ns)

    def change(name: str) -> None:
        nonlocal ahead_ns
        same_time(path, b"gamma\n")
        ahead_ns = 60 * 10**9  # the run goes on for a minute

    watch.after_read = change
    project.index()
    watch.after_read = lambda name: None
    project.index()
    assert project.found("gamma") == ["a.md"]


def test_a_change_while_a_file_is_read_is_noticed(
    project: Workspace, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time on record is that of the bytes that were read, not of those that came after."""
    path = project.write("a.md", "alpha\n")
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + 60 * 10**9)

    def change(name: str) -> None:
        path.write_bytes(b"gamma\n")

    watch.after_read = change
    project.index()
    watch.after_read = lambda name: None
    project.index()
    assert project.found("gamma") == ["a.md"]


def test_removed_files_disappear(project: Workspace) -> None:
    """Neither their chunks nor their words stay, and a query for them finds nothing."""
    project.write("a.md", "alpha common\n")
    project.write("b.md", "beta common\n")
    project.index()
    (project.corpus / "b.md").unlink()
    report = project.index()
    assert (report.files, report.chunks) == (1, 1)
    assert project.found("beta") == []
    assert project.found("common") == ["a.md"]
    assert "beta" not in project.open().vocabulary


def test_all_files_removed_leaves_a_valid_index(project: Workspace) -> None:
    """A corpus that became empty is an empty index, not the old one."""
    path = project.write("a.md", "alpha\n")
    project.index()
    path.unlink()
    assert project.index().files == 0
    assert project.found("alpha") == []


def test_a_renamed_file_is_found_under_its_new_name(project: Workspace) -> None:
    """Paths are part of the index: the same bytes elsewhere are another file."""
    path = project.write("a.md", "alpha\n")
    project.index()
    path.rename(project.corpus / "z.md")
    project.index()
    assert project.found("alpha") == ["z.md"]


@pytest.mark.parametrize("age_s", [3600.0, 0.0], ids=["old file", "same tick"])
def test_a_binary_file_that_became_text_is_noticed(project: Workspace, age_s: float) -> None:
    """Also when neither its size nor, within a tick of the clock, its time gives it away."""
    path = project.write("blob", BINARY, age_s=age_s)
    assert project.index().files == 0
    if age_s:
        project.write("blob", "alpha\n", age_s=60)
    else:
        same_time(path, b"alpha\n".ljust(len(BINARY)))
    report = project.index()
    assert (report.files, report.skipped) == (1, {})
    assert project.found("alpha") == ["blob"]


def test_a_text_file_that_became_binary_is_noticed(project: Workspace) -> None:
    """It leaves the index and is counted as left out."""
    project.write("blob", "alpha\n")
    project.index()
    project.write("blob", BINARY, age_s=60)
    report = project.index()
    assert (report.files, report.skipped) == (0, {"binary": 1})
    assert project.found("alpha") == []


def test_a_touched_binary_file_changes_nothing(project: Workspace) -> None:
    """A new time on bytes that still are no text is no reason to write an index."""
    project.write("a.md", "alpha\n")
    project.write("blob", BINARY)
    project.index()
    project.write("blob", BINARY, age_s=60)
    assert project.index().is_unchanged


def test_an_unreadable_file_that_became_readable_is_noticed(
    project: Workspace, watch: Watch
) -> None:
    """A file that could not be read is tried again at every run."""
    project.write("a.md", "alpha\n")
    project.write("secret.md", "beta\n")
    watch.refused.add("secret.md")
    report = project.index()
    assert report.problems == (("secret.md", "cannot read: Permission denied"),)
    assert project.index().is_unchanged
    watch.refused.clear()
    report = project.index()
    assert (report.files, report.problems) == (2, ())
    assert project.found("beta") == ["secret.md"]


def test_a_file_that_became_unreadable_leaves_the_index(
    project: Workspace, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taking away the right to read takes the text out of the index, though no time changed."""
    project.write("secret.md", "beta\n")
    project.index()
    watch.refused.add("secret.md")
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("secret.md"))
    report = project.index()
    assert (report.files, len(report.problems)) == (0, 1)
    assert project.found("beta") == []


def test_the_problem_of_a_removed_file_goes_with_it(project: Workspace, watch: Watch) -> None:
    """An unreadable file that was deleted is no longer reported, nor held against `strict`."""
    project.write("a.md", "alpha\n")
    path = project.write("secret.md", "beta\n")
    watch.refused.add("secret.md")
    project.index()
    path.unlink()
    assert project.index(strict=True).problems == ()


def test_problems_of_unchanged_files_are_reported_again(project: Workspace) -> None:
    """A file that is odd stays odd, whether it was read in this run or not."""
    project.write("latin.md", b"caf\xe9 alpha\n")
    first = project.index()
    unchanged = project.index()
    project.write("b.md", "beta\n")
    kept = project.index()
    assert len(first.problems) == 1
    assert first.problems == unchanged.problems == kept.problems


def test_an_unchanged_run_counts_what_is_left_out_today(project: Workspace) -> None:
    """A picture that came meanwhile is in the report, although no text changed."""
    project.write("a.md", "alpha\n")
    project.index()
    project.write("picture.png", BINARY)
    report = project.index()
    assert report.is_unchanged
    assert report.skipped == {"binary": 1}


@pytest.mark.parametrize(
    "changed",
    [
        {"max_chunk_size": 500},
        {"overlap": 100},
        {"max_file_bytes": 100},
        {"chunker": "fixed"},
        {"table_rows": False},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_changed_setting_rebuilds(project: Workspace, changed: dict[str, Any]) -> None:
    """Chunks of other settings are never taken over."""
    project.write("a.md", "alpha beta gamma delta.\n\n" * 100)
    project.index()
    report = project.index(**changed)
    assert (report.reused, report.is_unchanged) == (0, False)
    assert project.index(**changed).is_unchanged


@pytest.mark.parametrize(
    "changed",
    [{"context": False}, {"bm25": "robertson"}, {"k1": 1.2}, {"b": 0.5}],
    ids=lambda changed: next(iter(changed)),
)
def test_changed_scores_read_no_file_again(project: Workspace, changed: dict[str, Any]) -> None:
    """The counts are taken over, and the scores are those of a build from nothing."""
    project.write("a.md", "# Alpha\n\nalpha beta gamma delta.\n\n" * 100)
    project.write("b.py", "def alpha():\n    return beta\n")
    project.index()
    report = project.index(**changed)
    assert (report.reused, report.is_unchanged) == (2, False)
    assert project.index(**changed).is_unchanged
    scores = scores_on_disk(project)
    project.index(force=True, **changed)
    assert scores_on_disk(project) == scores
    assert project.index().reused == 2


def scores_on_disk(project: Workspace) -> dict[str, bytes]:
    """The files of both score matrices and of the counts."""
    generation = project.generation
    return {
        str(path.relative_to(generation)): path.read_bytes()
        for folder in ("bm25", "bm25_files", "postings")
        for path in sorted((generation / folder).iterdir())
    }


def test_another_folder_rebuilds(project: Workspace) -> None:
    """The index of one folder is no source for that of another, even with equal names."""
    project.write("one/a.md", "alpha\n")
    project.write("two/a.md", "beta!\n")
    project.pipeline().index("corpus/one")
    assert project.pipeline().index("corpus/two").reused == 0
    assert project.found("alpha") == []


@pytest.mark.parametrize("name", ["manifest.json", "chunks.json", "bm25/vocab.index.json"])
def test_a_damaged_index_is_rebuilt_silently(project: Workspace, name: str) -> None:
    """Nothing is taken over from an index whose hashes do not match."""
    project.write("a.md", "alpha\n")
    project.index()
    path = project.generation / name
    path.write_bytes(path.read_bytes() + b" ")
    report = project.index()
    assert (report.reused, report.is_unchanged) == (0, False)
    assert project.found("alpha") == ["a.md"]


# --- an incremental index is a full index

NAMES = ["a.md", "b.py", "sub/c.md", "sub/d.txt", "e"]
TEXTS = [
    "",
    "alpha\n",
    "# Alpha\n\nbeta gamma\n\n## Delta\n\nalpha naïve 中文\n",
    "def alpha(beta):\n    return beta\n\n\nclass Gamma:\n    pass\n",
    "gamma delta " * 200,
    "b\xe9ta".encode("latin-1"),
    BINARY,
]
TABLES = [
    "id,state,body\n"
    + "".join(
        f"{n},{state},alpha {n} says that the pump stopped at night and would not start again\n"
        for n in range(1, 121)
    )
    for state in ("open", "closed")
]
NAMES_OF_TABLES = ["records.csv", "sub/a.csv"]
EDITS = st.lists(
    st.one_of(
        st.tuples(
            st.just("write"),
            st.sampled_from(NAMES_OF_TABLES),
            st.sampled_from(TABLES),
            st.sampled_from([0.0, 100.0]),
        ),
        st.tuples(
            st.just("write"),
            st.sampled_from(NAMES),
            st.sampled_from(TEXTS),
            st.sampled_from([0.0, 100.0]),
        ),
        st.tuples(st.just("delete"), st.sampled_from(NAMES + NAMES_OF_TABLES)),
        st.tuples(st.just("touch"), st.sampled_from(NAMES + NAMES_OF_TABLES)),
        st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("swap"), st.sampled_from(NAMES)),
        st.tuples(st.just("index")),
    ),
    min_size=2,
    max_size=12,
)


def edit(project: Workspace, step: tuple[Any, ...]) -> None:
    """Do one thing to the corpus, or index it."""
    kind, *details = step
    if kind == "write":
        name, content, age_s = details
        project.write(name, content, age_s=age_s)
    elif kind == "index":
        project.index()
    elif (path := project.corpus / details[0]).exists():
        if kind == "delete":
            path.unlink()
        elif kind == "touch":
            path.touch()
        elif kind == "rename":
            target = project.corpus / details[1]
            target.parent.mkdir(exist_ok=True)
            path.replace(target)
        else:  # other words of the same length, the time set back
            same_time(path, path.read_bytes().replace(b"alpha", b"gamma").replace(b"be", b"eb"))


def hits_of(project: Workspace) -> list[tuple[Any, ...]]:
    """What searches find: paths, scores, places, texts and columns, in order."""
    pipeline = project.pipeline(use_cache=False)
    return [
        (hit.chunk.file_path, hit.score, hit.chunk.start, hit.chunk.text, hit.chunk.metadata)
        for query in ("alpha", "beta gamma", "delta 中文")
        for hit in pipeline.search(query, 100).hits
    ]


def content_of(project: Workspace) -> dict[str, Any]:
    """Everything that a generation holds, less the moment of its making."""
    generation = project.generation
    files: dict[str, Any] = {
        str(path.relative_to(generation)): path.read_bytes()
        for path in generation.rglob("*")
        if path.is_file() and path.name not in ("manifest.json", "manifest.json.hash")
    }
    manifest = orjson.loads((generation / "manifest.json").read_bytes())
    files["manifest"] = {**manifest, "created_ns": 0}
    return files


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(edits=EDITS)
def test_an_incremental_index_is_the_full_index(
    tmp_path_factory: pytest.TempPathFactory, project: Workspace, edits: list[tuple[Any, ...]]
) -> None:
    """After any edits with runs between them: the same chunks, numbers, order, bytes and hits.

    Files are written, removed, renamed, touched, and changed with their size and time kept.
    """
    workspace = Workspace(tmp_path_factory.mktemp("edited"))
    workspace.corpus.mkdir()
    for step in edits:
        edit(workspace, step)
    workspace.index()
    found = hits_of(workspace)
    incremental = content_of(workspace)
    workspace.index(force=True)
    full = content_of(workspace)
    for content in (incremental, full):  # a file that was only touched keeps its old times
        for row in content["manifest"]["files"]:
            row[2] = row[5] = 0
        for row in content["manifest"]["binary_files"]:
            row[2] = row[3] = 0
    assert incremental == full
    assert found == hits_of(workspace)


def test_a_change_that_keeps_size_and_time_is_noticed(project: Workspace) -> None:
    """A program that sets the time back gives itself away by the time of that very change."""
    path = project.write("a.md", "alpha\n")
    project.index()
    same_time(path, b"gamma\n")
    assert not project.index().is_unchanged
    assert project.found("gamma") == ["a.md"]


def test_a_binary_file_that_became_text_behind_its_time_is_noticed(project: Workspace) -> None:
    """The same holds for what is left out as no text."""
    path = project.write("blob", BINARY)
    project.index()
    same_time(path, b"alpha\n".ljust(len(BINARY)))
    assert project.index().files == 1


def test_an_up_to_date_index_is_confirmed_without_numbers(project: Workspace) -> None:
    """A run that finds nothing changed imports neither numpy nor what reads files."""
    project.write("a.md", "alpha\n")
    project.index()
    script = (
        "import sys; from ragmachine import RagPipeline;"
        "report = RagPipeline(project_root=sys.argv[1], index_dir=sys.argv[2]).index('corpus');"
        "loaded = [name in sys.modules for name in ('numpy', 'ragmachine.index.analyze')];"
        "print(report.is_unchanged, *loaded)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(project.root), str(project.folder)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.split() == ["True", "False", "False"]
