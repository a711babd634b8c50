"""Indexes that lie side by side, each asked by its name through every door of one server."""

from __future__ import annotations

import gc
import shutil
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from live import Asks, Live, index_side_by_side, pipeline_of, until
from starlette.testclient import TestClient

from ragmachine.errors import UsageError
from ragmachine.server.app import create_app
from ragmachine.server.builds import build_target
from ragmachine.server.collections import Collections
from ragmachine.server.options import ServerOptions
from ragmachine.server.problems import ProblemError
from ragmachine.server.served import ServedPipeline

SAID = {"": "The tide is high.", "docs": "The tide is low.", "Code-2": "The tide is slack."}
ASKED = "What is the tide?"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with three indexes: one without a name, `docs` and `Code-2`."""
    root = tmp_path / "project"
    index_side_by_side(root, {name: f"# Tide\n\n{text}\n" for name, text in SAID.items()})
    return root


def builds_here(root: Path) -> Callable[..., dict[str, Any]]:
    """Builds in this process, which a test need not wait for."""

    def build(target: Any, on_file: Any, is_stopped: Any) -> dict[str, Any]:
        return build_target(pipeline_of(root).settings, target, on_file).to_json()

    return build


def done(client: TestClient, answer: Any) -> dict[str, Any]:
    """A job's document, once it has ended well."""
    job: dict[str, Any] = answer.json()
    until(lambda: client.get(f"/jobs/{job['job_id']}").json()["state"] in ("done", "failed"))
    job = client.get(f"/jobs/{job['job_id']}").json()
    assert job["state"] == "done", job
    return job


def texts(client: TestClient, **asked: Any) -> set[str]:
    """The last lines of what a search finds."""
    answer = client.post("/search", json={"query": "tide", **asked})
    assert answer.status_code == 200, answer.text
    return {row["text"].splitlines()[-1] for row in answer.json()["retrieved_chunks"]}


@pytest.mark.parametrize("name", [None, *SAID])
def test_every_route_asks_the_collection_that_is_named(
    ask: Asks, root: Path, name: str | None
) -> None:
    """Searches, answers, streams, flat answers, sources and counts; the own one by default."""
    client, said = ask(root), SAID[name or ""]
    named = {} if name is None else {"collection": name}
    assert texts(client, **named) == {said}
    for stream in (False, True):
        body = {"query": ASKED, "stream": stream, **named}
        assert said in client.post("/answer", json=body).text
    flat = client.post("/query", json={"question": ASKED, **named}).json()
    assert said in flat["answer"]
    source = client.get(f"/source/{name or 'corpus'}/a.md", params=named)
    assert said in source.json()["text"]
    stats = client.get("/stats", params=named).json()["index"]
    assert (stats["collection"], stats["corpus_root"]) == (name or "", name or "corpus")
    model = "ragmachine" if name is None else f"ragmachine:{name}"
    chat = {"model": model, "messages": [{"role": "user", "content": ASKED}]}
    answer = client.post("/v1/chat/completions", json=chat).json()
    assert said in answer["choices"][0]["message"]["content"]
    assert answer["model"] == model


def everywhere(client: TestClient, name: str) -> dict[str, Any]:
    """What each route says to a name."""
    named, body = {"collection": name}, {"query": "tide", "collection": name}
    chat = {"model": f"ragmachine:{name}", "messages": [{"role": "user", "content": ASKED}]}
    files = [("files", ("b.md", "The ebb is low."))]
    return {
        "search": client.post("/search", json=body),
        "answer": client.post("/answer", json=body),
        "stream": client.post("/answer", json={**body, "stream": True}),
        "query": client.post("/query", json={"question": "tide", **named}),
        "source": client.get("/source/corpus/a.md", params=named),
        "stats": client.get("/stats", params=named),
        "ingest": client.post("/ingest", json=named),
        "upload": client.post("/ingest/upload", data=named, files=files),
        "delete": client.delete("/sources/x", params=named),
        "chat": client.post("/v1/chat/completions", json=chat),
    }


def test_an_unknown_collection_is_a_404_that_names_the_known_ones(ask: Asks, root: Path) -> None:
    """On every route; nothing is made for it."""
    for route, answer in everywhere(ask(root), "dox").items():
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_collection"), route
        assert "'dox'" in answer.json()["detail"]
        assert "'Code-2', 'docs'" in answer.json()["remedy"]
    assert not (root / "index" / "collections" / "dox").exists()


@pytest.mark.parametrize("name", ["../index", "docs/../docs", "/etc", ".", "docs\0", "C:", "a b"])
def test_a_name_is_never_a_path(ask: Asks, root: Path, name: str) -> None:
    """400, although something may lie there."""
    for route, answer in everywhere(ask(root), name).items():
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_request"), route
    bad = ask(root).post("/ingest", json={"path": "corpus", "collection": name})
    assert bad.status_code == 400
    assert ask(root).post("/search", json={"query": "x", "collection": "x" * 65}).status_code == 422


def test_the_collections_are_listed(ask: Asks, root: Path) -> None:
    """With what they hold and which is the usual one, but not where they lie."""
    below = root / "index" / "collections"
    shutil.copytree(below / "docs", below / "not a name")
    answer = ask(root).get("/collections")
    rows = answer.json()["collections"]
    known = [(row["collection"], row["files"], row["corpus_root"]) for row in rows]
    assert known == [("", 1, "corpus"), ("Code-2", 1, "Code-2"), ("docs", 1, "docs")]
    assert answer.json()["default"] == ""
    assert str(root) not in answer.text
    models = ask(root).get("/v1/models").json()["data"]
    assert [row["id"] for row in models] == ["ragmachine", "ragmachine:Code-2", "ragmachine:docs"]


def test_a_server_of_one_collection_serves_the_others_too(ask: Asks, root: Path) -> None:
    """Left out, a name means the server's own; empty, the index that has none."""
    client = ask(root, settings={"collection": "docs"}, build=builds_here(root))
    assert texts(client) == {SAID["docs"]}
    assert texts(client, collection="docs") == {SAID["docs"]}
    assert texts(client, collection="") == {SAID[""]}
    assert texts(client, collection="Code-2") == {SAID["Code-2"]}
    assert client.get("/collections").json()["default"] == "docs"
    files = [("files", ("b.md", "The ebb is low."))]
    for named, folder in (({}, "docs"), ({"collection": ""}, "corpus")):
        done_job = client.post("/ingest/upload", data=named, files=files).json()["job"]
        until(lambda job=done_job: client.get(f"/jobs/{job['job_id']}").json()["state"] == "done")
        assert (root / folder / "uploads" / "b.md").exists()
        (root / folder / "uploads" / "b.md").unlink()


# --- opening and closing


def pipelines(root: Path, most: int) -> Collections:
    """The collections of a project."""
    return Collections(pipeline_of(root), most)


def test_only_so_many_are_open_and_the_one_asked_last_stays(root: Path) -> None:
    """The one that was not asked for longest goes, and its memory with it; the own one stays."""
    shutil.copytree(root / "index" / "collections" / "docs", root / "index/collections/more")
    found = pipelines(root, 2)
    found.open(None).refresh()
    docs, code = found.open("docs"), found.open("Code-2")
    assert found.at_hand("docs") is docs
    index = weakref.ref(code.opened_index())
    found.open("more")
    names = [one.settings.collection for one in found.opened()]
    assert names == ["", "docs", "more"]
    assert found.at_hand("Code-2") is None
    assert index() is None  # without help: a server must not grow until the collector runs
    assert code.search("tide", 1).hits  # who still has it can ask
    assert found.open("Code-2").search("tide", 1).hits


def test_what_a_closed_one_learned_is_kept(root: Path) -> None:
    """Its query cache is written before it goes."""
    found = pipelines(root, 1)
    assert not found.open("docs").search("tide", 1).is_cached
    found.open("Code-2")
    assert found.open("docs").search("tide", 1).is_cached


def test_a_collection_comes_and_goes_while_the_server_runs(ask: Asks, root: Path) -> None:
    """Made by hand it is there, rebuilt it answers anew, removed it is a 404."""
    client = ask(root)
    assert client.post("/search", json={"query": "x", "collection": "new"}).status_code == 404
    (root / "new").mkdir()
    (root / "new" / "a.md").write_text("The tide is neap.")
    pipeline_of(root, collection="new").index(root / "new")
    assert texts(client, collection="new") == {"The tide is neap."}
    (root / "new" / "a.md").write_text("The tide is spring.")
    pipeline_of(root, collection="new").index(root / "new")
    until(lambda: texts(client, collection="new") == {"The tide is spring."})
    shutil.rmtree(root / "index" / "collections" / "new")
    assert client.post("/search", json={"query": "x", "collection": "new"}).status_code == 404
    assert texts(client) == {SAID[""]}


def test_a_damaged_collection_is_its_own_trouble(ask: Asks, root: Path) -> None:
    """503 for it; the others answer, and the list says what is wrong."""
    (manifest,) = (root / "index" / "collections" / "docs").glob("gen-*/manifest.json")
    manifest.write_text("{")
    client = ask(root)
    answer = client.post("/search", json={"query": "x", "collection": "docs"})
    assert (answer.status_code, answer.json()["code"]) == (503, "index_corrupt")
    assert texts(client, collection="Code-2") == {SAID["Code-2"]}
    rows = {row["collection"]: row for row in client.get("/collections").json()["collections"]}
    assert "manifest.json" in rows["docs"]["problem"]
    assert str(root) not in rows["docs"]["problem"]


def test_health_tells_of_a_collection_that_cannot_be_renewed(ask: Asks, root: Path) -> None:
    """What was there answers; which one it is about is said."""
    client = ask(root)
    assert texts(client, collection="docs") == {SAID["docs"]}
    (root / "docs" / "a.md").write_text("The tide is odd.")
    pipeline_of(root, collection="docs").index(root / "docs")
    current = root / "index" / "collections" / "docs"
    (current / (current / "CURRENT").read_text().strip() / "documents.bin").write_bytes(b"x")
    assert texts(client, collection="docs") == {SAID["docs"]}
    until(lambda: client.get("/health").json()["status"] == "degraded")
    part = client.get("/health").json()["components"]["collections"]
    assert part["open"] == ["docs"]
    assert part["detail"].startswith("docs: ")


def test_searches_do_not_wait_for_a_collection_that_is_opened(
    live: Callable[..., Live], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread searches; opening a large index takes seconds."""
    opening, go = threading.Event(), threading.Event()
    refresh = ServedPipeline.refresh

    def slow(pipeline: ServedPipeline) -> Any:
        if pipeline.settings.collection == "docs":
            opening.set()
            assert go.wait(20)
        return refresh(pipeline)

    monkeypatch.setattr(ServedPipeline, "refresh", slow)
    with live(root).client() as client, ThreadPoolExecutor(1) as thread:
        asked = {"query": "tide", "collection": "docs"}
        late = thread.submit(client.post, "/search", json=asked)
        try:
            assert opening.wait(20)
            found = client.post("/search", json={"query": "tide"}, timeout=10).json()
            assert found["retrieved_chunks"][0]["file_path"] == "corpus/a.md"
        finally:
            go.set()
        assert late.result().json()["retrieved_chunks"][0]["file_path"] == "docs/a.md"


def test_two_who_ask_at_once_open_it_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index is not read twice at the same time."""
    opened: list[str] = []
    refresh = ServedPipeline.refresh

    def counted(pipeline: ServedPipeline) -> Any:
        opened.append(pipeline.settings.collection)
        return refresh(pipeline)

    monkeypatch.setattr(ServedPipeline, "refresh", counted)
    found = pipelines(root, 2)
    with ThreadPoolExecutor(8) as threads:
        made = set(threads.map(found.open, ["docs"] * 8))
    assert (len(made), opened) == (1, ["docs"])


def test_no_two_indexes_are_opened_at_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even by pipelines that know nothing of one another."""
    from ragmachine.index import reader

    opening, most = [0], [0]
    open_index = reader.open_index

    def counted(store: Any) -> Any:
        opening[0] += 1
        most[0] = max(most[0], opening[0])
        time.sleep(0.02)
        opening[0] -= 1
        return open_index(store)

    monkeypatch.setattr(reader, "open_index", counted)
    made = [pipeline_of(root, collection=name) for name in (*SAID, *SAID)]
    with ThreadPoolExecutor(8) as threads:
        assert len(list(threads.map(ServedPipeline.refresh, made))) == 6
    assert most == [1]


@pytest.mark.parametrize("name", ["", "..", "docs"])
def test_what_is_not_there_is_not_kept(tmp_path: Path, name: str) -> None:
    """Names that lead nowhere cost nothing, however many are tried."""
    found = Collections(pipeline_of(tmp_path, collection="own"), 2)
    with pytest.raises((ProblemError, UsageError)):
        found.open(name)
    assert found.opened() == [found.own]
    assert not (tmp_path / "index").exists()


# --- what changes a collection


def test_jobs_change_the_collection_that_is_named_and_no_other(ask: Asks, root: Path) -> None:
    """Folders are added, brought up to date, uploaded to and taken out; it answers at once."""
    client = ask(root, build=builds_here(root), ingest_roots=(str(root),))
    named = {"collection": "docs"}
    assert texts(client, **named) == {SAID["docs"]}
    (root / "more").mkdir()
    (root / "more" / "b.md").write_text("The tide is far.")
    job = done(client, client.post("/ingest", json={"path": "more", "source_tag": "x", **named}))
    assert (job["collection"], job["report"]["files"]) == ("docs", 2)
    assert texts(client, **named) == {SAID["docs"], "The tide is far."}
    (root / "docs" / "c.md").write_text("The tide is new.")
    done(client, client.post("/ingest", json=named))
    assert "The tide is new." in texts(client, **named)
    done(client, client.delete("/sources/x", params=named))
    assert texts(client, **named) == {SAID["docs"], "The tide is new."}
    files = [("files", ("d.md", "The tide is sent."))]
    sent = client.post("/ingest/upload", data=named, files=files)
    until(lambda: "The tide is sent." in texts(client, **named))
    assert sent.json()["job"]["collection"] == "docs"
    assert (root / "docs" / "uploads" / "d.md").exists()
    assert texts(client) == {SAID[""]}


def test_a_folder_can_be_indexed_into_a_new_collection(ask: Asks, root: Path) -> None:
    """It is served at once; folders of the server's own index may go into it."""
    client = ask(root, build=builds_here(root), settings={"target_dir": str(root / "nowhere")})
    asked = {"path": "corpus", "collection": "harbour"}
    job = done(client, client.post("/ingest", json=asked))
    assert (job["collection"], job["paths"]) == ("harbour", [str(root / "corpus")])
    assert texts(client, collection="harbour") == {SAID[""]}
    assert "harbour" in [
        row["collection"] for row in client.get("/collections").json()["collections"]
    ]
    outside = client.post("/ingest", json={"path": "/etc", "collection": "other"})
    assert outside.json()["code"] == "outside"
    assert not (root / "index" / "collections" / "other").exists()


# --- questions of several parts


def test_questions_in_parts_are_asked_of_the_index_that_is_served(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is opened once, and a generation that was replaced is let go."""
    from ragmachine.index import reader

    opened: list[Any] = []
    open_index = reader.open_index

    def counted(store: Any) -> Any:
        opened.append(store.folder)
        return open_index(store)

    monkeypatch.setattr(reader, "open_index", counted)
    with TestClient(
        create_app(pipeline_of(root), ServerOptions()), base_url="http://localhost"
    ) as client:
        body = {"question": "How high is the tide? How low is the tide?"}
        for _ in range(2):
            assert len(client.post("/query", json=body).json()["sub_queries"]) == 2
        assert opened == [str(root / "index")]
        service = client.app.state.service  # type: ignore[attr-defined]
        parts = service.pipeline.in_parts()
        assert parts.opened_index() is service.pipeline.opened_index()
        before = weakref.ref(service.pipeline.opened_searcher())
        (root / "corpus" / "a.md").write_text("The tide is new.")
        pipeline_of(root).index(root / "corpus")
        service.pipeline.refresh()
        gc.collect()
        assert before() is None
        assert "new" in str(client.post("/query", json=body).json()["citations"])


def test_questions_in_parts_are_answered_by_the_same_model(root: Path) -> None:
    """What it costs to reach one is paid once."""
    pipeline = pipeline_of(root, llm="ollama", ollama_host="127.0.0.1:9")
    assert pipeline.in_parts().chat_client() is pipeline.chat_client() is not None
    always = pipeline_of(root, decompose=True)
    assert always.in_parts() is always
