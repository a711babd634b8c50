"""What changes the index: folders, uploads and their names, jobs in order."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from live import Asks, Live, pipeline_of, until
from starlette.testclient import TestClient

from ragmachine.errors import CorpusError, StorageError
from ragmachine.server import ingest_routes, jobs
from ragmachine.server.builds import ProcessBuild, build_target
from ragmachine.server.jobs import CancelledBuildError, JobRunner, Target
from ragmachine.server.problems import ProblemError
from ragmachine.server.uploads import safe_name, store


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one file, indexed."""
    root = tmp_path / "project"
    (root / "corpus").mkdir(parents=True)
    (root / "corpus" / "a.md").write_text("# Tide\n\nThe tide is high.\n")
    pipeline_of(root).index("corpus")
    return root


def at_once(root: Path) -> Callable[..., dict[str, Any]]:
    """Builds here rather than in another process, which takes a second to start."""

    def build(target: Target, on_file: Callable[[int], None], is_stopped: Any) -> dict[str, Any]:
        return build_target(pipeline_of(root).settings, target, on_file).to_json()

    return build


def ended(client: TestClient, job: dict[str, Any]) -> dict[str, Any]:
    """A job's document when it has ended."""
    document = job

    def is_over() -> bool:
        document.update(client.get(f"/jobs/{job['job_id']}").json())
        return document["state"] in ("done", "failed")

    until(is_over)
    return document


def test_the_indexed_folder_is_brought_up_to_date(ask: Asks, root: Path) -> None:
    """Without a path; a job that is done can be searched at once."""
    client = ask(root, build=at_once(root))
    client.get("/ready")
    (root / "corpus" / "b.md").write_text("# Ebb\n\nThe ebb begins at noon.\n")
    answer = client.post("/ingest", json={})
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/jobs/{answer.json()['job_id']}"
    job = ended(client, answer.json())
    assert (job["state"], job["report"]["files"], job["report"]["reused"]) == ("done", 2, 1)
    found = client.post("/search", json={"query": "ebb"}).json()["retrieved_chunks"]
    assert found[0]["file_path"] == "corpus/b.md"
    again = ended(client, client.post("/ingest", json={}).json())
    assert again["report"]["unchanged"] is True


def test_a_process_of_its_own_builds(root: Path) -> None:
    """It counts files, reports, and raises what the build raises."""
    build = ProcessBuild(pipeline_of(root).settings)
    files: list[int] = []
    report = build(Target(), files.append, lambda: False)
    assert (report["files"], report["unchanged"]) == (1, True)
    with pytest.raises(CorpusError):
        build(Target((str(root / "nowhere"),)), files.append, lambda: False)


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/etc", 403, "outside"),
        ("..", 403, "outside"),
        ("corpus/../..", 403, "outside"),
        ("corpusx", 403, "outside"),
        ("corpus/link", 403, "outside"),
        ("corpus/nothing", 404, "no_folder"),
        ("corpus/a\0b", 400, "no_path"),
        ("C:\\Windows", 403, "outside"),
        ("\\\\host\\share", 403, "outside"),
        ("~", 403, "outside"),
    ],
)
def test_only_allowed_folders_are_indexed(
    ask: Asks, root: Path, path: str, status: int, code: str
) -> None:
    """Links are followed before the folder is judged."""
    (root / "corpus" / "link").symlink_to("/etc")
    (root / "corpusx").mkdir()
    answer = ask(root, build=at_once(root)).post("/ingest", json={"path": path})
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_folder_may_be_allowed(ask: Asks, root: Path, tmp_path: Path) -> None:
    """By an option of the server; the index then holds it beside what was there."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("# Moon\n\nThe moon is new.\n")
    client = ask(root, build=at_once(root), ingest_roots=(str(tmp_path),))
    job = ended(client, client.post("/ingest", json={"path": str(other)}).json())
    assert (job["state"], job["files_done"]) == ("done", 2)
    (hit,) = client.post("/search", json={"query": "moon"}).json()["retrieved_chunks"]
    assert hit["file_path"] == f"{other}/c.md"
    # a name that begins with a slash, as a URL has it
    assert "new" in client.get(f"/source/{hit['file_path']}").json()["text"]


def test_jobs_run_one_by_one(ask: Asks, root: Path) -> None:
    """The second waits for the first, and too many are refused."""
    go, running = threading.Event(), []

    def build(target: Target, on_file: Any, is_stopped: Any) -> dict[str, Any]:
        running.append(target)
        assert len(running) == 1
        assert go.wait(20)
        running.pop()
        return {}

    client = ask(root, build=build)
    answers = [client.post("/ingest", json={}) for _ in range(20)]
    refused = [answer for answer in answers if answer.status_code == 503]
    assert refused
    assert refused[0].json()["code"] == "jobs_full"
    assert refused[0].headers["retry-after"]
    until(lambda: client.get("/health").json()["components"]["jobs"]["running"] == 1)
    go.set()
    accepted = [answer.json() for answer in answers if answer.status_code == 202]
    assert len(accepted) >= 16
    assert {ended(client, job)["state"] for job in accepted} == {"done"}


def test_a_job_that_fails_says_why(ask: Asks, root: Path) -> None:
    """As a problem with its remedy; what nobody expected is not told."""
    errors = [CorpusError("the folder is odd", remedy="mend it"), ZeroDivisionError("inner")]

    def build(*_: Any) -> dict[str, Any]:
        raise errors.pop(0)

    client = ask(root, build=build)
    first = ended(client, client.post("/ingest", json={}).json())
    assert (first["state"], first["error"]["remedy"]) == ("failed", "mend it")
    second = ended(client, client.post("/ingest", json={}).json())
    assert second["error"]["code"] == "unexpected"
    assert "inner" not in str(second)


def test_a_job_that_runs_is_stopped_with_the_server() -> None:
    """It is told so, the job says that it was cancelled, and none begins after it."""

    def build(target: Target, on_file: Any, is_stopped: Callable[[], bool]) -> dict[str, Any]:
        until(is_stopped)
        raise CancelledBuildError

    runner = JobRunner(build, lambda _: None)
    job = runner.begin("ingest", Target(), Target)
    until(lambda: job.state == "running")
    runner.close()
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", "cancelled")
    with pytest.raises(ProblemError):
        runner.begin("ingest", Target(), Target)


def test_jobs_long_done_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is asked for ever keeps the last ones alone."""
    monkeypatch.setattr(jobs, "_KEPT", 3)
    runner, begun = JobRunner(lambda *_: {}, lambda _: None), []
    for _ in range(6):
        begun.append(runner.begin("ingest", Target(), Target))
        until(lambda: begun[-1].state == "done")
    runner.close()
    assert [runner.get(job.id) for job in begun] == [None, None, None, *begun[3:]]


def test_an_unknown_job_is_a_404(ask: Asks) -> None:
    """And says how one begins."""
    assert ask().get("/jobs/nothing").status_code == 404


def test_folders_lie_side_by_side_and_go_by_tag(ask: Asks, root: Path) -> None:
    """What is there is kept, `source:` filters, and DELETE takes one out again."""
    for name, text in (("moon", "The moon is new."), ("star", "The star is red.")):
        (root / "more" / name).mkdir(parents=True)
        (root / "more" / name / "x.md").write_text(text)
    client = ask(root, build=at_once(root), ingest_roots=(str(root / "more"),))

    def index(**asked: Any) -> None:
        job = ended(client, client.post("/ingest", json=asked).json())
        assert job["state"] == "done", job

    def found(query: str, filter_text: str = "") -> list[str]:
        asked = {"query": query, "filter": filter_text}
        rows = client.post("/search", json=asked).json()["retrieved_chunks"]
        return [row["file_path"] for row in rows]

    index(path="more/moon", source_tag="night", add=False)
    assert found("moon tide star") == ["more/moon/x.md"]
    index(path="more/star", source_tag="far")
    index(path="corpus", source_tag="sea", add=True)
    assert sorted(found("moon tide star")) == ["corpus/a.md", "more/moon/x.md", "more/star/x.md"]
    assert found("moon tide star", "source:far") == ["more/star/x.md"]
    index()
    assert len(found("moon tide star")) == 3
    removed = client.delete("/sources/night")
    assert removed.status_code == 202
    assert ended(client, removed.json())["state"] == "done"
    assert sorted(found("moon tide star")) == ["corpus/a.md", "more/star/x.md"]
    assert (root / "more" / "moon" / "x.md").exists()
    assert client.delete("/sources/night").json()["code"] == "unknown_tag"


def test_what_waits_is_added_to_what_the_jobs_before_it_left(ask: Asks, root: Path) -> None:
    """Two folders asked for at once are both there in the end; a tag can be taken out once."""
    go = threading.Event()

    def build(*given: Any) -> dict[str, Any]:
        assert go.wait(20)
        return at_once(root)(*given)

    for name in ("moon", "star"):
        (root / "more" / name).mkdir(parents=True)
        (root / "more" / name / "x.md").write_text(f"The {name} is bright.")
    pipeline_of(root).index(root / "corpus", source_tag="sea")
    client = ask(root, build=build, ingest_roots=(str(root / "more"),))
    bodies = [{"path": f"more/{name}", "source_tag": name} for name in ("moon", "star")]
    jobs = [client.post("/ingest", json=body).json() for body in bodies]
    go.set()
    ends = [ended(client, job) for job in jobs]
    assert [end["state"] for end in ends] == ["done", "done"]
    assert ends[1]["paths"] == [str(root / path) for path in ("corpus", "more/moon", "more/star")]
    rows = client.post("/search", json={"query": "tide moon star"}).json()["retrieved_chunks"]
    found = sorted(row["file_path"] for row in rows)
    assert found == ["corpus/a.md", "more/moon/x.md", "more/star/x.md"]
    go.clear()
    jobs = [client.delete("/sources/moon").json() for _ in range(2)]
    go.set()
    ends = [ended(client, job) for job in jobs]
    assert ends[0]["state"] == "done"
    assert ends[1]["error"]["code"] == "unknown_tag"


def test_what_is_added_is_cut_as_what_was_there(ask: Asks, root: Path) -> None:
    """Whatever the server's settings say: the index stays of one kind."""
    (root / "corpus" / "more").mkdir()
    (root / "corpus" / "more" / "b.md").write_text("The ebb is low. " * 50)
    pipeline_of(root, max_chunk_size=300).index(root / "corpus", source_tag="sea")
    client = ask(root, build=at_once(root), ingest_roots=(str(root),))
    (root / "other").mkdir()
    (root / "other" / "c.md").write_text("The moon is new. " * 50)
    asked = {"path": "other", "source_tag": "night"}
    assert ended(client, client.post("/ingest", json=asked).json())["state"] == "done"
    rows = client.post("/search", json={"query": "moon"}).json()["retrieved_chunks"]
    assert max(len(row["text"]) for row in rows) <= 300


def test_a_folder_asked_for_again_is_refreshed_and_nothing_else_happens(
    ask: Asks, root: Path
) -> None:
    """The others stay, the same generation answers, and a new file in it is found."""
    (root / "moon").mkdir()
    (root / "moon" / "x.md").write_text("The moon is new.")
    client = ask(root, build=at_once(root), ingest_roots=(str(root),))

    def index(path: str) -> dict[str, Any]:
        job = ended(client, client.post("/ingest", json={"path": path}).json())
        assert job["state"] == "done", job
        return job["report"]

    assert index("moon")["files"] == 2
    before = client.get("/ready").json()["generation"]
    for path in ("moon", "corpus", "moon/x.md", "moon"):  # a file of a folder that is there
        assert (index(path)["files"], index(path)["unchanged"]) == (2, True)
    assert client.get("/ready").json()["generation"] == before
    (root / "moon" / "y.md").write_text("The moon is old.")
    assert index("corpus")["files"] == 3
    rows = client.post("/search", json={"query": "tide moon"}).json()["retrieved_chunks"]
    assert sorted(row["file_path"] for row in rows) == ["corpus/a.md", "moon/x.md", "moon/y.md"]


def test_a_folder_around_those_that_are_there_takes_them_in(ask: Asks, root: Path) -> None:
    """Nothing is indexed twice."""
    client = ask(root, build=at_once(root), ingest_roots=(str(root),))
    (root / "corpus" / "sub").mkdir()
    (root / "corpus" / "sub" / "b.md").write_text("The ebb is low.")
    (root / "far").mkdir()
    (root / "far" / "c.md").write_text("The tide is far.")
    pipeline_of(root).index([root / "corpus" / "sub", root / "far"])
    job = ended(client, client.post("/ingest", json={"path": "corpus"}).json())
    assert (job["paths"], job["report"]["files"]) == ([str(root / "far"), str(root / "corpus")], 3)


def test_a_linked_folder_keeps_its_name(ask: Asks, root: Path, tmp_path: Path) -> None:
    """Links are followed to compare folders, not to name them."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.md").write_text("The moon is new.")
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    (root / "far").mkdir()
    (root / "far" / "c.md").write_text("The moon is far.")
    pipeline_of(root).index([root / "corpus", root / "linked"])
    client = ask(root, build=at_once(root), ingest_roots=(str(root),))
    job = ended(client, client.post("/ingest", json={"path": "far"}).json())
    assert job["state"] == "done"
    again = client.post("/ingest", json={"path": "linked", "source_tag": "night"})
    assert ended(client, again.json())["state"] == "done"
    rows = client.post("/search", json={"query": "moon"}).json()["retrieved_chunks"]
    assert sorted(row["file_path"] for row in rows) == ["far/c.md", "linked/x.md"]


def test_what_was_indexed_by_hand_meanwhile_is_kept(ask: Asks, root: Path) -> None:
    """A server that has not taken the newest index into use yet still adds to that one."""
    for name in ("moon", "star"):
        (root / name).mkdir()
        (root / name / "x.md").write_text(f"The {name} is bright.")
    client = ask(root, build=at_once(root), ingest_roots=(str(root),))
    client.get("/ready")
    pipeline_of(root).index([root / "corpus", root / "moon"])
    job = ended(client, client.post("/ingest", json={"path": "star"}).json())
    assert job["paths"] == [str(root / name) for name in ("corpus", "moon", "star")]


def test_folders_with_and_without_a_tag_lie_beside_one_another(ask: Asks, root: Path) -> None:
    """A tag can be given later; a part of a folder has none of its own; the last cannot go."""
    for name in ("corpus/sub", "other"):
        (root / name).mkdir()
        (root / name / "b.md").write_text("The ebb is low.")
    client = ask(root, build=at_once(root), ingest_roots=(str(root),))

    def index(**asked: Any) -> Any:
        answer = client.post("/ingest", json=asked)
        return ended(client, answer.json())["state"] if answer.is_success else answer.json()["code"]

    def found(filter_text: str) -> list[str]:
        asked = {"query": "ebb", "filter": filter_text}
        rows = client.post("/search", json=asked).json()["retrieved_chunks"]
        return [row["file_path"] for row in rows]

    assert index(path="other", source_tag="x") == "done"
    assert found("source:x") == ["other/b.md"]
    assert index(path="corpus/sub", source_tag="x") == "indexed_already"
    assert index(path="corpus", source_tag="sea") == "done"
    assert found("source:sea") == ["corpus/sub/b.md"]
    assert index(path="other") == "done"  # keeps its tag
    assert ended(client, client.delete("/sources/x").json())["state"] == "done"
    assert client.delete("/sources/sea").json()["code"] == "nothing_left"
    assert client.delete("/sources/x").status_code == 404
    assert client.post("/ingest", json={"source_tag": "a,b"}).status_code == 422


def test_a_single_file_cannot_lie_beside_others(ask: Asks, root: Path) -> None:
    """Its folder can; an index of one file takes in the folder around it."""
    (root / "b.md").write_text("The ebb is low.")
    client = ask(root, build=at_once(root), ingest_roots=(str(root),))
    answer = client.post("/ingest", json={"path": "b.md"})
    assert (answer.status_code, answer.json()["code"]) == (409, "no_folder")
    pipeline_of(root).index(root / "b.md")
    answer = client.post("/ingest", json={"path": "corpus"})
    assert (answer.status_code, answer.json()["code"]) == (409, "no_folder")
    job = ended(client, client.post("/ingest", json={"path": "."}).json())
    assert (job["state"], job["paths"]) == ("done", [str(root)])


def test_files_are_counted_while_an_index_is_brought_up_to_date(ask: Asks, root: Path) -> None:
    """Those that were kept and those that were read; all of them where nothing had changed."""
    counts: list[int] = []

    def build(target: Target, on_file: Callable[[int], None], is_stopped: Any) -> dict[str, Any]:
        def count(files: int) -> None:
            counts.append(files)
            on_file(files)

        return at_once(root)(target, count, is_stopped)

    client = ask(root, build=build)
    (root / "corpus" / "b.md").write_text("The ebb is low.")
    job = ended(client, client.post("/ingest", json={}).json())
    assert (job["files_done"], counts) == (2, [1, 1])
    assert ended(client, client.post("/ingest", json={}).json())["files_done"] == 2


# --- uploads


def test_an_upload_is_stored_indexed_and_found(ask: Asks, root: Path) -> None:
    """Several files at once; the same again replaces them."""
    client = ask(root, build=at_once(root))
    for text in ("The spring tide is strong.", "The spring tide is weak."):
        files = [("files", ("spring.md", text)), ("files", ("../../évil.md", "# Évil\n\nnothing"))]
        answer = client.post("/ingest/upload", files=files)
        assert answer.status_code == 202
        assert answer.json()["stored"] == ["spring.md", "évil.md"]
        assert ended(client, answer.json()["job"])["state"] == "done"
        hit = client.post("/search", json={"query": "spring"}).json()["retrieved_chunks"][0]
        assert (hit["file_path"], hit["text"].strip()) == ("corpus/uploads/spring.md", text)
    stored = sorted(path.name for path in (root / "corpus" / "uploads").iterdir())
    assert stored == ["spring.md", "évil.md"]
    assert not list(root.parent.glob("*vil.md"))


def test_uploads_stay_in_one_folder(ask: Asks, root: Path) -> None:
    """Also when another folder comes that is named before it."""
    (root / "before").mkdir()
    (root / "before" / "x.md").write_text("The moon is new.")
    client = ask(root, build=at_once(root), ingest_roots=(str(root),))
    for name in ("b.md", "c.md"):
        answer = client.post("/ingest/upload", files=[("files", (name, "The ebb is low."))])
        assert ended(client, answer.json()["job"])["state"] == "done"
        ended(client, client.post("/ingest", json={"path": "before"}).json())
    assert sorted(os.listdir(root / "corpus" / "uploads")) == ["b.md", "c.md"]
    assert os.listdir(root / "before") == ["x.md"]


def test_searches_do_not_wait_for_an_upload(
    live: Callable[..., Live], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk may take long to store a large file; one thread searches."""
    writing, go = threading.Event(), threading.Event()

    def slow(*given: Any) -> str:
        writing.set()
        assert go.wait(20)
        return store(*given)

    monkeypatch.setattr(ingest_routes, "store", slow)
    with live(root).client() as client, ThreadPoolExecutor(1) as thread:
        files = [("files", ("b.md", "The ebb is low."))]
        sent = thread.submit(client.post, "/ingest/upload", files=files)
        try:
            assert writing.wait(20)
            found = client.post("/search", json={"query": "tide"}, timeout=10).json()
            assert found["retrieved_chunks"][0]["file_path"] == "corpus/a.md"
        finally:
            go.set()
        assert sent.result().json()["stored"] == ["b.md"]


def test_the_first_upload_makes_an_index(ask: Asks, tmp_path: Path) -> None:
    """Where nothing was indexed, uploads have a folder of their own."""
    client = ask(tmp_path, build=at_once(tmp_path))
    answer = client.post("/ingest/upload", files=[("files", ("a.md", "The tide is high."))])
    assert ended(client, answer.json()["job"])["state"] == "done"
    (hit,) = client.post("/search", json={"query": "tide"}).json()["retrieved_chunks"]
    assert hit["file_path"] == "data/uploads/a.md"


def test_an_upload_that_is_too_long_leaves_nothing(ask: Asks, root: Path) -> None:
    """413, and no file."""
    client = ask(root, build=at_once(root), max_upload_bytes=1000)
    answer = client.post("/ingest/upload", files=[("files", ("a.md", "x" * 200_000))])
    assert answer.status_code == 413
    assert not (root / "corpus" / "uploads").exists()


@pytest.mark.parametrize("body", ["none", "wrong field", "no file", "no multipart"])
def test_what_is_no_upload_is_refused(ask: Asks, root: Path, body: str) -> None:
    """422 or 400 with a reason."""
    client = ask(root, build=at_once(root))
    answer = {
        "none": lambda: client.post("/ingest/upload"),
        "wrong field": lambda: client.post("/ingest/upload", files=[("file", ("a", "b"))]),
        "no file": lambda: client.post("/ingest/upload", data={"files": "text"}),
        "no multipart": lambda: client.post(
            "/ingest/upload", content=b"x", headers={"content-type": "multipart/form-data"}
        ),
    }[body]()
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"]


def test_uploads_outside_of_the_indexed_folder_are_refused(
    ask: Asks, root: Path, tmp_path: Path
) -> None:
    """They would never be found."""
    client = ask(root, build=at_once(root), upload_dir=str(tmp_path / "elsewhere"))
    answer = client.post("/ingest/upload", files=[("files", ("a.md", "x"))])
    assert (answer.status_code, answer.json()["code"]) == (409, "uploads_not_indexed")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("a.md", "a.md"), ("../../etc/passwd", "passwd"), ("..\\..\\x.txt", "x.txt"),
        ("C:\\x\\y.pdf", "y.pdf"), ("/abs/z", "z"), ("..", "upload"), ("", "upload"),
        (".ragignore", "ragignore"), (".gitignore", "gitignore"), ("a\0b.md", "ab.md"),
        ("con", "_con"), ("NUL.txt", "_NUL.txt"), ("COM1", "_COM1"), ("a b\n\t.md", "a_b.md"),
        ("<script>.html", "script.html"), ("日本語.md", "日本語.md"), ("e\u0301.md", "é.md"),
        ("x. ", "x"), ("a:b.md", "a_b.md"), ("a/", "upload"), ("~", "upload"), ("-rf", "-rf"),
        ("\ud800.md", "md"), ("a\u202egpj.exe", "a_gpj.exe"),
    ],
)  # fmt: skip
def test_names_of_uploads_are_made_safe(given: str, name: str) -> None:
    """No folder, no device, nothing hidden, nothing that a terminal obeys."""
    assert safe_name(given) == name


@pytest.mark.parametrize(
    "given", ["x" * 400 + ".md", "語" * 300 + ".md", "." * 300, "a." + "b" * 300]
)
def test_long_names_keep_what_they_are(given: str) -> None:
    """They fit every file system, and a usual suffix stays."""
    name = safe_name(given)
    assert 0 < len(name.encode()) <= 160
    assert name.endswith(".md") == given.endswith(".md")


def test_an_upload_replaces_a_link_and_not_what_it_leads_to(tmp_path: Path) -> None:
    """A planted link is no way to write elsewhere."""
    folder = tmp_path / "uploads"
    folder.mkdir()
    target = tmp_path / "target"
    target.write_text("kept")
    (folder / "a.md").symlink_to(target)
    import io

    store(io.BytesIO(b"new"), str(folder), "a.md")
    assert target.read_text() == "kept"
    assert (folder / "a.md").read_text() == "new"
    assert not (folder / "a.md").is_symlink()


def test_a_disk_that_refuses_leaves_nothing(tmp_path: Path) -> None:
    """The error says what to do; no half of a file stays."""
    import io

    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="--upload_dir"):
        store(io.BytesIO(b"new"), str(tmp_path / "file" / "folder"), "a.md")

    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(28, "No space left on device")

    with pytest.raises(StorageError, match="No space left"):
        store(Broken(), str(tmp_path / "uploads"), "a.md")
    assert list((tmp_path / "uploads").iterdir()) == []
