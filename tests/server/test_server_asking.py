"""What the API answers: passages, answers, sources and its own state."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from live import Asks, pipeline_of

from fake_chat import FakeChat
from ragmachine.server.metrics import Metrics

WARRANTY = "How long is the warranty of a Limpet 3?"


def events(text: str) -> list[tuple[str, Any]]:
    """Names and documents of server-sent events."""
    found = re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)
    return [(name, json.loads(data)) for name, data in found]


def test_a_search_gives_what_the_pipeline_gives(ask: Asks, indexed: Path) -> None:
    """The same passages in the same order, with their text and lines."""
    found = ask().post("/search", json={"query": WARRANTY, "k": 3}).json()
    expected = pipeline_of(indexed).search(WARRANTY, 3).to_json()
    assert found["retrieved_chunks"] == expected["retrieved_chunks"]
    assert found["metrics"]["stage_ms"].keys() == {"plan", "search"}


def test_a_filter_narrows_and_a_plan_is_told(ask: Asks) -> None:
    """`filter` and `explain` reach the search."""
    asked = {"query": "bar", "filter": "path:notes/**", "explain": True}
    found = ask().post("/search", json=asked).json()
    paths = {row["file_path"] for row in found["retrieved_chunks"]}
    assert paths == {"corpus/notes/pump.md"}
    assert found["plan"]["filter"] == "path:notes/**"
    assert found["retrieved_chunks"][0]["stages"]


def test_a_filter_that_cannot_be_read_is_the_askers_fault(ask: Asks) -> None:
    """400 with the reason."""
    answer = ask().post("/search", json={"query": "x", "filter": "colour:red"})
    assert answer.status_code == 400
    assert "colour" in answer.json()["detail"]


@pytest.mark.parametrize("query", ["", "the and of", "zzyzx", "\0", "C++", "None", "é" * 8000])
def test_any_text_is_a_query(ask: Asks, query: str) -> None:
    """Whatever it is, there is an answer, if only that nothing is found."""
    answer = ask().post("/search", json={"query": query})
    assert answer.status_code == 200
    assert answer.json()["query"] == query


def test_an_answer_has_citations_sentences_and_timings(ask: Asks) -> None:
    """The document of `answer --json` with its stages in milliseconds."""
    found = ask().post("/answer", json={"query": WARRANTY}).json()
    assert "30 months" in found["answer"]
    assert found["answer_mode"] == "extractive"
    assert found["citations"][0]["file_path"].endswith("warranty-and-service.md")
    assert found["sentences"]
    assert all(sentence["supported"] for sentence in found["sentences"])
    assert found["metrics"]["timings"]["total_ms"] > 0


def test_a_stream_gives_sources_then_words_then_the_checked_answer(ask: Asks, model: Any) -> None:
    """The order in which a page can show them."""
    model(FakeChat("Marmalade needs bitter oranges [1]."))
    client = ask(settings={"llm": "auto"})
    answer = client.post("/answer", json={"query": "What does marmalade need?", "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = events(answer.text)
    assert [name for name, _ in told] == ["sources", *["token"] * 5, "answer"]
    assert told[0][1]["retrieved_chunks"]
    assert "".join(data["text"] for name, data in told if name == "token") == (
        "Marmaladeneedsbitteroranges[1]."
    )
    last = told[-1][1]
    assert last["answer"] == "Marmalade needs bitter oranges [1]."
    assert last["citations"][0]["file_path"] == "corpus/notes/jam.md"
    assert last["metrics"]["timings"]["generate_ms"] is not None


def test_a_stream_tells_an_error_as_an_event(ask: Asks, model: Any) -> None:
    """Its status is out already; the event is a problem with its remedy."""
    from ragmachine.llm.chat import ModelUnavailableError

    def fail(_: str) -> str:
        raise ModelUnavailableError("no server answers", remedy="start it")

    model(FakeChat(fail))
    client = ask(settings={"llm": "ollama"})
    told = events(client.post("/answer", json={"query": WARRANTY, "stream": True}).text)
    assert told[-1][0] == "error"
    assert told[-1][1]["code"] == "model_unavailable"
    assert "start it" in told[-1][1]["detail"]


def test_a_model_that_must_answer_and_cannot_is_a_503(ask: Asks, model: Any) -> None:
    """The same without a stream."""
    from ragmachine.llm.chat import ModelUnavailableError

    def fail(_: str) -> str:
        raise ModelUnavailableError("no server answers", remedy="start it")

    model(FakeChat(fail))
    answer = ask(settings={"llm": "ollama"}).post("/answer", json={"query": WARRANTY})
    assert (answer.status_code, answer.json()["code"]) == (503, "model_unavailable")


def test_a_query_is_cut_into_its_parts_and_answered(ask: Asks) -> None:
    """One flat document: parts, answer, citations with ids, lines and snippets."""
    asked = {"question": "At what bar does the pump run? How long to boil marmalade?", "top_k": 4}
    found = ask().post("/query", json=asked).json()
    assert found["sub_queries"] == ["At what bar does the pump run", "How long to boil marmalade"]
    cited = {citation["source"] for citation in found["citations"]}
    assert cited == {"corpus/notes/pump.md", "corpus/notes/jam.md"}
    citation = found["citations"][0]
    assert citation["lines"][0] <= citation["lines"][1]
    assert re.fullmatch("[0-9a-f]{64}", citation["chunk_id"])
    assert {"plan_ms", "search_ms", "generate_ms", "total_ms"} <= found["timings"].keys()


def test_a_question_in_parts_is_answered_from_its_parts_where_answers_are_kept(
    ask: Asks, model: Any
) -> None:
    """What is kept was made of the merged passages, and its citations are among them."""
    fake = model(FakeChat("The warranty is 30 months [1]. There is more [2]. Boil it [3]."))
    client = ask(settings={"llm": "auto", "answer_cache": True, "answer_cache_threshold": 1.0})
    question = (
        "How long to boil marmalade,"
        " and how long is the warranty of a Limpet 3 under the terms of service?"
    )

    def cited(**asked: bool) -> list[str]:
        body = {"question": question, "top_k": 3, **asked}
        return [row["chunk_id"] for row in client.post("/query", json=body).json()["citations"]]

    merged = cited(generate=False)
    assert merged != cited(generate=False, decompose=False)
    assert [cited(), cited()] == [merged, merged]
    assert len(fake.asked) == 1


def test_a_query_without_generation_lists_passages(ask: Asks) -> None:
    """`generate: false` asks nobody to write."""
    asked = {"question": WARRANTY, "top_k": 2, "generate": False, "decompose": False}
    found = ask().post("/query", json=asked).json()
    assert found["answer"] is None
    assert found["sub_queries"] == [WARRANTY]
    assert [row["number"] for row in found["citations"]] == [1, 2]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({}, "query"), ({"query": 5}, "query"), ({"query": "x", "k": 0}, "k"),
        ({"query": "x", "k": True}, "k"), ([], "the body"), ("x", "the body"),
        ({"query": "x", "k": 101}, "k"), ({"query": "x", "k": "5"}, "k"),
        ({"query": "x", "K": 5}, "K"), ({"query": "x" * 8001}, "query"),
        ({"query": "x", "filter": "y" * 1001}, "filter"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_search_is_refused(ask: Asks, asked: Any, field: str) -> None:
    """Missing, of the wrong type, out of range or misspelt: 422, and the field is named."""
    answer = ask().post("/search", json=asked)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "invalid_request"
    assert answer.json()["detail"].startswith(f"{field}: ")
    assert "docs" in answer.json()["remedy"]


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 422), (b"\xff{", 400), (b"[" * 100_000, 400), (b'{"query": "\\ud800"}', 422)],
    ids=["half", "no text", "deep", "surrogate"],
)
def test_a_body_that_is_no_json_is_refused(ask: Asks, body: bytes, status: int) -> None:
    """With a problem, never with a 500."""
    headers = {"content-type": "application/json"}
    answer = ask().post("/search", content=body, headers=headers)
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_a_request_id_is_kept_or_made(ask: Asks) -> None:
    """It is in the header and in the document; one that could forge a log line is replaced."""
    client = ask()
    answer = client.post("/search", json={"query": "x"}, headers={"x-request-id": "abc-1"})
    assert answer.headers["x-request-id"] == answer.json()["request_id"] == "abc-1"
    for odd in ('a"b', "x" * 65, "a b"):
        made = client.get("/health", headers={"x-request-id": odd}).headers["x-request-id"]
        assert re.fullmatch("[0-9a-f]{32}", made)


def test_an_unknown_path_and_a_wrong_method_say_what_to_do(ask: Asks) -> None:
    """Problems like all others."""
    client = ask()
    for answer, status in ((client.get("/nothing"), 404), (client.get("/search"), 405)):
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"
        assert "/docs" in answer.json()["remedy"]
        assert answer.json()["request_id"] == answer.headers["x-request-id"]


# --- sources


def test_lines_of_a_source_are_those_of_the_file(ask: Asks) -> None:
    """Both ends are included, and the last may lie beyond the file's."""
    client = ask()
    place = "/source/corpus/notes/jam.md"
    found = client.get(place, params={"start_line": 3, "end_line": 99}).json()
    assert found["text"] == "Marmalade needs bitter oranges.\nBoil it for 40 minutes.\n"
    assert (found["first_line"], found["last_line"], found["total_lines"]) == (3, 4, 4)
    assert client.get(place).json()["first_line"] == 1


def test_a_hits_lines_are_found_again(ask: Asks) -> None:
    """Name and lines of a hit lead to its text."""
    client = ask()
    hit = client.post("/search", json={"query": WARRANTY, "k": 1}).json()["retrieved_chunks"][0]
    lines = {"start_line": hit["first_line"], "end_line": hit["last_line"]}
    text = client.get(f"/source/{hit['file_path']}", params=lines).json()["text"]
    assert hit["text"] in text


@pytest.mark.parametrize(("first", "last"), [(5, 9), (3, 2), (10**8, None)])
def test_lines_that_are_not_there_are_a_416(ask: Asks, first: int, last: int | None) -> None:
    """Rather than an empty text."""
    lines = {"start_line": first} | ({"end_line": last} if last else {})
    answer = ask().get("/source/corpus/notes/jam.md", params=lines)
    assert answer.status_code == 416
    assert "4 lines" in answer.json()["detail"]


def test_text_and_file_of_a_source(ask: Asks) -> None:
    """Plain text is shown, the file itself is saved; neither can act as a page."""
    client = ask()
    place = "/source/corpus/notes/%3Cscript%3Ealert(1)%3C%2Fscript%3E.md"
    shown = client.get(place, params={"format": "text"})
    assert shown.headers["content-type"] == "text/plain; charset=utf-8"
    saved = client.get(place, params={"format": "file"})
    assert saved.content == shown.content
    assert saved.headers["content-disposition"].startswith("attachment")
    for answer in (shown, saved):
        assert "sandbox" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"


# --- its own state


def test_health_names_the_parts(ask: Asks) -> None:
    """Index, other collections, queue and jobs."""
    found = ask().get("/health").json()
    assert found["status"] == "ok"
    assert found["components"].keys() == {"index", "collections", "generation", "jobs"}


def test_without_an_index_it_lives_and_is_not_ready(ask: Asks, tmp_path: Path) -> None:
    """/health is 200 and says so; /ready and /search are 503 and say what to type."""
    client = ask(tmp_path)
    assert client.get("/health").json()["status"] == "degraded"
    for answer in (client.get("/ready"), client.post("/search", json={"query": "x"})):
        assert (answer.status_code, answer.json()["code"]) == (503, "index_missing")
        assert "index" in answer.json()["remedy"]


def test_a_damaged_index_is_a_503(ask: Asks, indexed: Path, tmp_path: Path) -> None:
    """The file is named; nothing is answered from it."""
    import shutil

    shutil.copytree(indexed, tmp_path / "copy")
    (damaged,) = (tmp_path / "copy" / "index").glob("gen-*/documents.bin")
    damaged.write_bytes(b"x")
    answer = ask(tmp_path / "copy").get("/ready")
    assert (answer.status_code, answer.json()["code"]) == (503, "index_corrupt")
    assert "documents.bin" in answer.json()["detail"]


def test_stats_count_files_and_chunks(ask: Asks) -> None:
    """As the build counted them."""
    found = ask().get("/stats").json()
    assert found["index"]["files"] > 20
    assert found["index"]["corpus_root"] == "corpus"
    assert found["limits"]["answers_at_once"] == 1


def test_metrics_count_requests_stages_and_cache_hits(ask: Asks) -> None:
    """In Prometheus's format, by route and not by path."""
    client = ask(is_fresh=True)
    for _ in range(2):
        client.post("/search", json={"query": "bitter oranges", "k": 2})
    client.get("/source/corpus/notes/jam.md")
    text = client.get("/metrics").text
    assert 'ragmachine_requests_total{method="POST",route="/search",status="200"} 2.0' in text
    assert 'route="/source/{path:path}"' in text
    assert "jam.md" not in text
    assert 'ragmachine_stage_seconds_count{stage="search"} 2.0' in text
    assert 'ragmachine_cache_lookups_total{cache="query",outcome="hit"} 1.0' in text
    assert "ragmachine_generation_queue_length 0.0" in text


def test_an_explained_search_is_no_look_up(ask: Asks) -> None:
    """It leaves the cache out on purpose, which is no miss."""
    client = ask(is_fresh=True)
    client.post("/search", json={"query": "bitter oranges", "explain": True})
    text = client.get("/metrics").text
    assert 'ragmachine_stage_seconds_count{stage="search"} 1.0' in text
    assert 'outcome="' not in text


def test_metrics_are_seconds_and_percentiles_by_nearest_rank() -> None:
    """Of 20 times the 99th percentile is the longest; a method that nobody knows has no series."""
    metrics = Metrics()
    for spent_ms in range(20, 0, -1):
        metrics.stages({"search": spent_ms})
    metrics.request("BREW", "/search", 405, 0.001)
    expected = {"count": 20, "p50_ms": 10, "p95_ms": 19, "p99_ms": 20}
    assert metrics.timings()["search"] == expected
    text = metrics.text().decode()
    assert re.search(r'ragmachine_stage_seconds_sum\{stage="search"\} 0\.21\d*\n', text)
    assert 'method="other"' in text
    assert "BREW" not in text


def test_metrics_count_a_models_tokens(ask: Asks, model: Any) -> None:
    """What it read, and what it wrote."""
    model(FakeChat("Marmalade needs bitter oranges [1]."))
    client = ask(settings={"llm": "auto"})
    client.post("/answer", json={"query": "What does marmalade need?"})
    found = re.findall(
        r'ragmachine_tokens_total\{direction="(\w+)"\} ([\d.]+)', client.get("/metrics").text
    )
    counted = {name: float(value) for name, value in found}
    assert counted["prompt"] > counted["answer"] > 0


def test_timings_are_percentiles_of_each_stage(ask: Asks) -> None:
    """Ordered, and over as many requests as there were."""
    client = ask(is_fresh=True)
    for _ in range(3):
        client.post("/search", json={"query": "pump"})
    found = client.get("/timings").json()["timings"]["/search"]
    assert found["count"] == 3
    assert 0 < found["p50_ms"] <= found["p95_ms"] <= found["p99_ms"]


def test_docs_need_nothing_from_outside(ask: Asks) -> None:
    """Every path and document is described, without scripts or addresses of others."""
    client = ask()
    page = client.get("/docs").text
    for path in client.get("/openapi.json").json()["paths"]:
        assert path in page
    assert "<script" not in page
    assert not re.findall(r"(?:src|href)=\"(?!/|#)", page)
    assert client.get("/static/docs.css").status_code == 200


def test_the_page_is_served(ask: Asks) -> None:
    """`/` is HTML of this server."""
    answer = ask().get("/")
    assert answer.headers["content-type"].startswith("text/html")
    assert "ragmachine" in answer.text
