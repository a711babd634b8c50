"""Loopback servers that speak Ollama's API, or an endpoint's, and misbehave in every known way."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import endpoint_server
import pytest

from loopback import listening
from ragmachine.llm import LocalChat


class FakeOllama:
    """Holds what the server shall do next and what it was asked.

    Attributes:
        mode: ``answer``, or the misbehaviour: ``missing``, ``hang``, ``garbage``, ``shape``,
            ``broken``, ``refuse_think``, ``refuse``.
        drops: how many more requests to hang up on, with no answer at all.
        pieces: the answer, one streamed part each.
        done_reason: ``stop`` or ``length``.
        error: its own words when it refuses.
        counts: tokens that it claims to have read and written.
        limit_tokens: what ``/api/show`` says that the model was trained for; None for no answer.
        pulled: reports of ``/api/pull``.
        requests: bodies received, oldest first, but for those to ``/api/show``.
        shows: how often ``/api/show`` was asked.
    """

    def __init__(self) -> None:
        self.mode = "answer"
        self.pieces = ["Forty", "-two [1]."]
        self.done_reason = "stop"
        self.drops = 0
        self.error = "unknown tensor\nin layer 3"
        self.counts: dict[str, int] = {}
        self.limit_tokens: int | None = 32768
        self.pulled: list[dict[str, Any]] = []
        self.shows = 0
        self.requests: list[dict[str, Any]] = []
        self.released = threading.Event()
        self.host = ""

    def parts(self) -> list[dict[str, Any]]:
        """The body as Ollama streams it: one part per piece, then the closing part."""
        parts = [self._part(piece, False) for piece in self.pieces]
        return [*parts, {**self._part("", True), "done_reason": self.done_reason, **self.counts}]

    def whole(self) -> dict[str, Any]:
        """The body as Ollama sends it without streaming."""
        whole = self._part("".join(self.pieces), True)
        return {**whole, "done_reason": self.done_reason, **self.counts}

    def shown(self) -> str:
        """The body of ``/api/show``."""
        facts = {"general.architecture": "toy", "toy.context_length": self.limit_tokens}
        return json.dumps({"model_info": facts} if self.limit_tokens else {})

    def _part(self, text: str, is_done: bool) -> dict[str, Any]:
        return {
            "model": "tiny:1b",
            "created_at": "2025-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": text},
            "done": is_done,
        }


class _Handler(BaseHTTPRequestHandler):
    fake: FakeOllama

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fake = self.fake
        if self.path == "/api/show":
            fake.shows += 1
            return self._send(200, fake.shown())
        fake.requests.append({**body, "path": self.path})
        if fake.drops:
            fake.drops -= 1
            self.close_connection = True
            return None
        if fake.mode == "hang":
            fake.released.wait(5)
            return None
        if self.path == "/api/pull":
            return self._send(200, "".join(json.dumps(part) + "\n" for part in fake.pulled))
        if fake.mode == "missing":
            self._send(404, json.dumps({"error": "model 'tiny:1b' not found"}))
        elif fake.mode == "refuse":
            self._send(500, json.dumps({"error": fake.error}))
        elif fake.mode == "refuse_think" and "think" in body:
            self._send(400, json.dumps({"error": '"tiny:1b" does not support thinking'}))
        elif fake.mode == "garbage":
            self._send(200, "<html>proxy says hello</html>\n")
        elif fake.mode == "shape":
            self._send(200, "[1, 2, 3]\n")
        elif body["stream"]:
            parts = fake.parts()[: 1 if fake.mode == "broken" else None]
            self._send(200, "".join(json.dumps(part) + "\n" for part in parts))
        else:
            self._send(200, json.dumps(fake.whole()))
        return None

    def _send(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@pytest.fixture
def server() -> Iterator[FakeOllama]:
    """A running fake server on a free port of the loopback address."""
    fake = FakeOllama()
    with listening(_Handler, fake) as fake.host:
        yield fake
        fake.released.set()


@pytest.fixture
def endpoint(monkeypatch):
    """A running endpoint, named by the environment together with a key."""
    with endpoint_server.serving() as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
        yield fake


@pytest.fixture(scope="session")
def local() -> Iterator[LocalChat]:
    """The packaged model in this process, loaded when it is first asked."""
    chat = LocalChat(threads=1)
    yield chat
    chat.close()
