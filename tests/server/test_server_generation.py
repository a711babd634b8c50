"""The queue before the model, clients that leave, generations that change under a server."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from live import PATIENCE_S, Live, SlowChat, pipeline_of, until

from ragmachine.server.generation import AbandonedError, GenerationQueue
from ragmachine.server.problems import ProblemError

ASKED = {"query": "What does marmalade need?", "k": 3}
STREAMED = {**ASKED, "stream": True}
# a model that takes seconds to say all: a server has long noticed by then who left
LONG, PAUSE_S = ("Oranges ",) * 200, 0.05


@pytest.fixture
def chat(model: Any) -> Iterator[SlowChat]:
    """A model that waits; let go at the end, so that no thread is left."""
    slow = model(SlowChat())
    yield slow
    slow.go.set()


class Asker(threading.Thread):
    """Asks for an answer in a thread of its own."""

    def __init__(self, server: Live, asked: dict[str, Any] = ASKED) -> None:
        super().__init__()
        self.server, self.asked = server, asked
        self.answer: httpx.Response | None = None
        self.start()

    def run(self) -> None:
        """Ask; a server that ends cuts the connection."""
        with suppress(httpx.RemoteProtocolError), self.server.client() as client:
            self.answer = client.post("/answer", json=self.asked)


def test_one_question_at_a_time_and_the_rest_wait(live: Any, chat: SlowChat) -> None:
    """Each is answered in the end; never two at once."""
    server: Live = live(settings={"llm": "auto"}, answers_at_once=1, answers_waiting=3)
    askers = [Asker(server) for _ in range(3)]
    queue = server.service.queue
    until(lambda: queue.running == 1 and queue.queued == 2)
    chat.go.set()
    for asker in askers:
        asker.join(PATIENCE_S)
        assert asker.answer is not None
        assert asker.answer.json()["answer"] == "Oranges are bitter [1]."
    assert (chat.asked, chat.most_at_once) == (3, 1)
    assert (queue.queued, queue.running) == (0, 0)


def test_a_full_queue_refuses_and_searches_go_on(live: Any, chat: SlowChat) -> None:
    """503 with Retry-After, before a stream begins as well; a search does not wait."""
    server: Live = live(settings={"llm": "auto"}, answers_at_once=1, answers_waiting=1)
    askers = [Asker(server), Asker(server)]
    until(lambda: server.service.queue.queued == 1)
    with server.client() as client:
        refused = client.post("/answer", json=ASKED)
        assert (refused.status_code, refused.json()["code"]) == (503, "queue_full")
        # one runs and one waits; until an answer has been timed, each is taken for one of 5 s
        assert refused.headers["retry-after"] == "10"
        streamed = client.post("/answer", json=STREAMED)
        assert (streamed.status_code, streamed.headers["retry-after"]) == (503, "10")
        assert streamed.json()["retry_after"] == 10
        assert client.post("/search", json=ASKED).status_code == 200
        assert client.get("/health").json()["components"]["generation"]["waiting"] == 1
        assert "ragmachine_generation_queue_length 1.0" in client.get("/metrics").text
    chat.go.set()
    for asker in askers:
        asker.join(PATIENCE_S)


def test_a_queue_that_fills_up_after_a_stream_began_is_told_in_it(
    live: Any, chat: SlowChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another question took the place during the search: the event says when to ask again."""
    server: Live = live(settings={"llm": "auto"}, answers_at_once=1, answers_waiting=0)
    queue, looks = server.service.queue, []
    full = queue.admit
    monkeypatch.setattr(queue, "admit", lambda: looks.append(1) if not looks else full())
    with server.client() as client:
        first = Asker(server)
        until(chat.begun.is_set)
        looks.clear()
        told = client.post("/answer", json=STREAMED)
        assert told.status_code == 200
        name, _, data = told.text.split("\n\n")[1].partition("\ndata: ")
        assert (name, json.loads(data)["code"]) == ("event: error", "queue_full")
        assert json.loads(data)["retry_after"] == 5
    chat.go.set()
    first.join(PATIENCE_S)


def test_a_reader_of_a_stream_that_leaves_stops_the_model(live: Any, chat: SlowChat) -> None:
    """At its next word; the place is free for the next question."""
    chat.words, chat.pause_s = LONG, PAUSE_S
    server: Live = live(settings={"llm": "auto"})
    with server.client() as client, client.stream("POST", "/answer", json=STREAMED) as answer:
        lines = answer.iter_lines()
        next(lines)
        until(chat.begun.is_set)
    assert server.service.queue.running == 1
    chat.go.set()
    until(lambda: server.service.queue.running == 0)
    assert len(chat.told) < len(chat.words)


def test_a_client_that_leaves_without_a_stream_stops_the_model(live: Any, chat: SlowChat) -> None:
    """It is noticed although nothing is being sent."""
    chat.words, chat.pause_s = LONG, PAUSE_S
    server: Live = live(settings={"llm": "auto"})
    body = json.dumps(ASKED).encode()
    head = b"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as wire:
        wire.sendall(head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        until(chat.begun.is_set)
    assert server.service.queue.running == 1
    chat.go.set()
    until(lambda: server.service.queue.running == 0)
    assert len(chat.told) < len(chat.words)


def test_one_who_leaves_the_queue_is_never_asked_for(live: Any, chat: SlowChat) -> None:
    """The model is not asked for the sake of nobody."""
    server: Live = live(settings={"llm": "auto"})
    first = Asker(server)
    until(chat.begun.is_set)
    with ExitStack() as stack:
        client = stack.enter_context(server.client())
        answer = stack.enter_context(client.stream("POST", "/answer", json=STREAMED))
        lines = answer.iter_lines()  # kept: one that is dropped closes the connection
        next(lines)
        until(lambda: server.service.queue.queued == 1)
    until(lambda: server.service.queue.queued == 0)
    chat.go.set()
    first.join(PATIENCE_S)
    assert first.answer is not None
    assert first.answer.status_code == 200
    assert chat.asked == 1


def test_an_answer_has_a_longest_time(live: Any, chat: SlowChat) -> None:
    """503 when it is over, and the place comes back."""
    server: Live = live(settings={"llm": "auto"}, answer_timeout_s=0.2)
    with server.client() as client:
        answer = client.post("/answer", json=ASKED)
    assert (answer.status_code, answer.json()["code"]) == (503, "timeout")
    chat.go.set()
    until(lambda: server.service.queue.running == 0)


def test_words_come_as_they_are_written(live: Any, chat: SlowChat) -> None:
    """The passages are there before the model has written its first word."""
    server: Live = live(settings={"llm": "auto"})
    with server.client() as client, client.stream("POST", "/answer", json=STREAMED) as answer:
        lines = answer.iter_lines()
        assert next(lines) == "event: sources"
        assert chat.told == []
        chat.go.set()
        rest = list(lines)
    assert rest.count("event: token") == len(chat.words)


def test_a_server_that_ends_lets_no_answer_hang(indexed: Path, chat: SlowChat) -> None:
    """What runs is stopped at its next word, and the server is gone in time."""
    from live import serving

    from ragmachine.server.app import create_app

    chat.words, chat.pause_s = LONG, PAUSE_S
    app = create_app(pipeline_of(indexed, llm="auto"))
    with serving(app) as server:
        asker = Asker(server, STREAMED)
        until(chat.begun.is_set)
        chat.go.set()
    asker.join(PATIENCE_S)
    assert not asker.is_alive()
    until(lambda: chat.at_once == 0)
    assert len(chat.told) < len(chat.words)


def test_a_queue_that_closes_stops_what_runs_and_takes_nothing_more() -> None:
    """Whoever is asked to write notices at the next word."""
    begun = threading.Event()

    def write(tell: Callable[[str], None]) -> None:
        begun.set()
        for word in LONG:
            tell(word)
            time.sleep(PAUSE_S)

    async def close() -> None:
        queue = GenerationQueue(1, 1)
        asked = asyncio.ensure_future(queue.run(write))
        assert await asyncio.to_thread(begun.wait, PATIENCE_S)
        queue.close()
        with pytest.raises(AbandonedError):
            await asked
        with pytest.raises(ProblemError, match="going down"):
            await queue.run(write)

    asyncio.run(close())


# --- generations


PORTS = ("Ayr", "Bude", "Cowes")
METRES = re.compile(r"is (\d+) m")


def written(root: Path, number: int) -> None:
    """A corpus that says one number in every file, and has more files the larger it is."""
    names = [*PORTS, *(f"port{extra}" for extra in range(number))]
    for name in names:
        path = root / "corpus" / f"{name}.md"
        path.write_text(f"# Tide of {name}\n\nThe tide of {name} is {number} m.\n")
    pipeline_of(root).index("corpus")


def generations_in(route: str, document: dict[str, Any]) -> set[int]:
    """Every number that an answer says or was made from: one, where it is of one generation."""
    if route == "/query":
        said = [document["answer"], *(row["snippet"] for row in document["citations"])]
        return {int(number) for number in METRES.findall(" ".join(said))}
    rows = document["retrieved_chunks"]
    assert len(rows) >= len(PORTS)
    said = [document.get("answer", ""), *(row["text"] for row in rows)]
    numbers = {int(number) for number in METRES.findall(" ".join(said))}
    return numbers | {document["metrics"]["total_chunks"] - len(PORTS)}


def test_ten_rebuilds_under_load_lose_no_request_and_mix_no_answer(
    live: Any, tmp_path: Path
) -> None:
    """Whoever asks meanwhile, and by whichever route, gets all of one generation."""
    root = tmp_path / "project"
    (root / "corpus").mkdir(parents=True)
    written(root, 0)
    server: Live = live(root)
    seen: dict[str, set[int]] = {"/search": set(), "/answer": set(), "/query": set()}
    faults: list[object] = []
    done = threading.Event()

    def ask(route: str) -> None:
        question = {"/query": {"question": "tide of Ayr", "top_k": 5}}.get(
            route, {"query": "tide of Ayr, Bude and Cowes", "k": 20}
        )
        with server.client() as client:
            while not done.is_set():
                answer = client.post(route, json=question)
                found = generations_in(route, answer.json()) if answer.is_success else set()
                if len(found) != 1:
                    faults.append((route, found, answer.text))
                seen[route] |= found

    askers = [threading.Thread(target=ask, args=(route,)) for route in (*seen, "/search")]
    for asker in askers:
        asker.start()
    try:
        for number in range(1, 11):
            written(root, number)
            until(lambda number=number: faults or all(number in kept for kept in seen.values()))
    finally:
        done.set()
        for asker in askers:
            asker.join(PATIENCE_S)
    assert faults == []
    assert server.service.pipeline.swaps == 10


def test_a_generation_that_cannot_be_opened_leaves_the_last_one_answering(
    live: Any, tmp_path: Path
) -> None:
    """/health says so; the next good one is taken."""
    root = tmp_path / "project"
    (root / "corpus").mkdir(parents=True)
    (root / "corpus" / "a.md").write_text("# Tide\n\nThe tide is high.\n")
    pipeline_of(root).index("corpus")
    server: Live = live(root)
    with server.client() as client:
        assert client.get("/ready").status_code == 200
        (root / "corpus" / "a.md").write_text("# Tide\n\nThe tide is low.\n")
        # damaged before anybody can read it
        current = root / "index" / "CURRENT"
        held = current.read_text()
        pipeline_of(root).index("corpus", force=True)
        bad = root / "index" / current.read_text().strip() / "documents.bin"
        good = bad.read_bytes()
        assert held != current.read_text()
        bad.write_bytes(b"x")
        client.post("/search", json={"query": "tide"})
        until(lambda: client.get("/health").json()["status"] == "degraded")
        found = client.post("/search", json={"query": "tide"}).json()
        assert "high" in found["retrieved_chunks"][0]["text"]
        bad.write_bytes(good)
        server.service.pipeline.refresh()
        assert client.get("/health").json()["status"] == "ok"
        found = client.post("/search", json={"query": "tide"}).json()
        assert "low" in found["retrieved_chunks"][0]["text"]


def test_an_index_that_comes_later_is_found(live: Any, tmp_path: Path) -> None:
    """A server may be started before anything was indexed."""
    root = tmp_path / "project"
    (root / "corpus").mkdir(parents=True)
    (root / "corpus" / "a.md").write_text("# Tide\n\nThe tide is high.\n")
    server: Live = live(root)
    with server.client() as client:
        assert client.get("/ready").status_code == 503
        pipeline_of(root).index("corpus")
        assert client.get("/ready").status_code == 200
        assert json.loads(client.post("/search", json={"query": "tide"}).text)["retrieved_chunks"]
