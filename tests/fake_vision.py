"""Ollama's API with a vision model behind it that says what a test tells it about an image."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import listening

MODEL = "tiny-vision:1b"


class FakeVision:
    """Holds what the server shall do, and what it was asked.

    Attributes:
        answer: makes a transcript of an image (the bytes of its file).
        capabilities: what ``/api/show`` says that the model can do; None for an older server.
        mode: ``answer``, ``missing``, ``refuse``, ``hang``, or ``endless``: stopped by its length.
        counts: tokens that it claims to have read, for each request in turn; then none.
        requests: bodies of ``/api/chat``, oldest first.
        shows: how often ``/api/show`` was asked.
        host: as in ``OLLAMA_HOST``.
    """

    def __init__(self, answer: Callable[[bytes], str]) -> None:
        self.answer = answer
        self.capabilities: list[str] | None = ["completion", "vision"]
        self.mode = "answer"
        self.counts: list[int] = []
        self.requests: list[dict[str, Any]] = []
        self.shows = 0
        self.released = threading.Event()
        self.host = ""

    @property
    def images(self) -> list[bytes]:
        """The files of images received."""
        return [
            base64.b64decode(image, validate=True)
            for body in self.requests
            for message in body["messages"]
            for image in message.get("images", [])
        ]


class _Handler(BaseHTTPRequestHandler):
    fake: FakeVision

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fake = self.fake
        with suppress(BrokenPipeError, ConnectionResetError):
            if fake.mode == "missing":
                self._send(404, {"error": f"model '{body['model']}' not found"})
            elif self.path == "/api/show":
                fake.shows += 1
                known = {} if fake.capabilities is None else {"capabilities": fake.capabilities}
                facts = {"general.architecture": "toy", "toy.context_length": 131_072}
                self._send(200, {"model_info": facts, **known})
            elif self.path == "/api/chat":
                fake.requests.append(body)
                self._chat()
            else:
                self._send(404, {"error": "404 page not found"})

    def _chat(self) -> None:
        fake = self.fake
        if fake.mode == "refuse":
            self._send(500, {"error": "an error was encountered while running the model"})
            return
        if fake.mode == "hang":
            fake.released.wait(10)
            return
        text = fake.answer(fake.images[-1])
        middle = len(text) // 2
        read = fake.counts.pop(0) if fake.counts else 1
        end = {"done_reason": "length" if fake.mode == "endless" else "stop"}
        parts = [self._part(text[:middle], False), self._part(text[middle:], False)]
        parts.append({**self._part("", True), **end, "prompt_eval_count": read, "eval_count": 1})
        self._send(200, *parts)

    @staticmethod
    def _part(text: str, is_done: bool) -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        return {
            "model": MODEL, "created_at": "2025-01-01T00:00:00Z", "message": message,
            "done": is_done,
        }  # fmt: skip

    def _send(self, status: int, *documents: dict[str, Any]) -> None:
        data = "".join(json.dumps(document) + "\n" for document in documents).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@contextmanager
def seeing(answer: Callable[[bytes], str] | str) -> Iterator[FakeVision]:
    """A running server; a text is its answer about every image."""
    fake = FakeVision((lambda _: answer) if isinstance(answer, str) else answer)
    with listening(_Handler, fake) as fake.host:
        yield fake
        fake.released.set()
