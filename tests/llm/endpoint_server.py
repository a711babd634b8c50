"""An endpoint that speaks OpenAI's chat completions and can misbehave in every known way."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import listening


class FakeEndpoint:
    """Holds what the server shall do next and what it was asked.

    Attributes:
        refusals: status, body and headers of the next answers, before it answers properly.
        drops: how many more requests to hang up on, with no answer at all.
        mode: ``answer``, or ``hang``, ``garbage``, ``shape``, ``broken``.
        pieces: the answer, one event each.
        finish_reason: ``stop`` or ``length``.
        requests: bodies received, oldest first.
        headers: headers received, oldest first.
        url: the base URL.
    """

    def __init__(self) -> None:
        self.refusals: list[tuple[int, Any, dict[str, str]]] = []
        self.drops = 0
        self.mode = "answer"
        self.pieces = ["Forty", "-two [1]."]
        self.finish_reason = "stop"
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()
        self.url = ""

    def refuse(self, status: int, body: Any = "", **headers: str) -> None:
        """Answer the next request so."""
        self.refusals.append((status, body, {k.replace("_", "-"): v for k, v in headers.items()}))

    def events(self) -> str:
        """The body of a streamed answer."""
        deltas = [{"delta": {"content": piece}, "finish_reason": None} for piece in self.pieces]
        if self.mode != "broken":
            deltas.append({"delta": {}, "finish_reason": self.finish_reason})
        lines = [f"data: {json.dumps({'choices': [delta]})}\n\n" for delta in deltas]
        usage = 'data: {"choices": [], "usage": {}}\n\n'
        return ": hello\n\n" + "".join(lines) + ("" if self.mode == "broken" else usage)

    def whole(self) -> str:
        """The body of an answer in one piece."""
        message = {"role": "assistant", "content": "".join(self.pieces)}
        choice = {"message": message, "finish_reason": self.finish_reason}
        return json.dumps({"choices": [choice]})


class _Handler(BaseHTTPRequestHandler):
    fake: FakeEndpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fake = self.fake
        fake.requests.append({**body, "path": self.path})
        fake.headers.append({name.lower(): value for name, value in self.headers.items()})
        if fake.drops:
            fake.drops -= 1
            self.close_connection = True
        elif fake.refusals:
            status, document, headers = fake.refusals.pop(0)
            text = document if isinstance(document, str) else json.dumps(document)
            self._send(status, text, headers)
        elif fake.mode == "hang":
            fake.released.wait(5)
        elif fake.mode == "garbage":
            self._send(
                200, "<html>proxy says hello</html>" if not body["stream"] else "data: <\n\n"
            )
        elif fake.mode == "shape":
            self._send(200, "[1, 2]" if not body["stream"] else "data: [1, 2]\n\n")
        else:
            self._send(200, fake.events() if body["stream"] else fake.whole())

    def _send(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@contextmanager
def serving() -> Iterator[FakeEndpoint]:
    """A running endpoint on a free port of the loopback address."""
    fake = FakeEndpoint()
    with listening(_Handler, fake) as address:
        fake.url = f"http://{address}/v1"
        try:
            yield fake
        finally:
            fake.released.set()
