"""A loopback server that speaks Ollama's ``/api/embed`` and ``/api/tags``, well or badly."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any


class FakeEmbedder:
    """What the server shall do, and what it was asked.

    Attributes:
        mode: ``answer``, or the misbehaviour: ``missing``, ``hang``, ``garbage``, ``shape``,
            ``ragged``, ``few``, ``nan``, ``refuse``.
        digest: of the model ``tiny:latest``, the only one that is there.
        requests: bodies received by ``/api/embed``, oldest first.
        host: where it listens.
    """

    def __init__(self) -> None:
        self.mode = "answer"
        self.digest = "0123456789abcdef" * 4
        self.requests: list[dict[str, Any]] = []
        self.released = threading.Event()
        self.host = ""

    def vectors(self, texts: list[str]) -> list[list[float]]:
        """(length, 4, 0) for each text, which is not of length 1."""
        vectors = [[float(len(text)), 4.0, 0.0] for text in texts]
        if self.mode == "ragged":
            vectors[-1] = [1.0]
        if self.mode == "nan":
            vectors[-1][0] = float("nan")
        return vectors[1:] if self.mode == "few" else vectors


class EmbedHandler(BaseHTTPRequestHandler):
    """Answers for `fake`, as its mode says."""

    fake: FakeEmbedder

    def do_GET(self) -> None:
        """``/api/tags``: the models that are there."""
        model = {"model": "tiny:latest", "digest": self.fake.digest, "size": 1}
        self._send(200, json.dumps({"models": [model]}))

    def do_POST(self) -> None:
        """``/api/embed``."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fake = self.fake
        fake.requests.append({**body, "path": self.path})
        if fake.mode == "hang":
            fake.released.wait(5)
        elif fake.mode == "missing":
            self._send(404, json.dumps({"error": "model 'tiny' not found, try pulling it first"}))
        elif fake.mode == "refuse":
            self._send(500, json.dumps({"error": "this model does not support\nembeddings"}))
        elif fake.mode == "garbage":
            self._send(200, "<html>proxy says hello</html>\n")
        elif fake.mode == "shape":
            self._send(200, "[1, 2, 3]\n")
        else:
            self._send(200, json.dumps({"embeddings": fake.vectors(body["input"])}))

    def _send(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""
