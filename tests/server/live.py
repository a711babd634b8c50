"""A server on a free port of the loopback address, and models that keep a test waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.testclient import TestClient

from ragmachine.llm.chat import Message, Reply
from ragmachine.server.served import ServedPipeline
from ragmachine.server.service import Service
from ragmachine.settings import load_settings

PATIENCE_S = 20.0
Asks = Callable[..., TestClient]


def pipeline_of(root: Path, **settings: Any) -> ServedPipeline:
    """A pipeline of a project, out of reach of this machine's settings."""
    given = {
        "project_root": str(root), "index_dir": str(root / "index"), "workers": 1,
        "target_dir": str(root / "corpus"), "llm": "extractive", **settings,
    }  # fmt: skip
    return ServedPipeline(load_settings(given, {"HOME": str(root), "XDG_CONFIG_HOME": str(root)}))


def index_side_by_side(root: Path, texts: Mapping[str, str]) -> None:
    """Index a file of its own for each name of a collection, "" being the one without a name."""
    for name, text in texts.items():
        folder = root / (name or "corpus")
        folder.mkdir(parents=True)
        (folder / "a.md").write_text(text)
        pipeline_of(root, collection=name).index(folder)


@dataclass
class Live:
    """A server that runs.

    Attributes:
        url: where.
        service: its state.
    """

    url: str
    service: Service

    def client(self, **options: Any) -> httpx.Client:
        """A client that waits for what is slow on a busy machine."""
        return httpx.Client(base_url=self.url, timeout=PATIENCE_S, **options)


@contextmanager
def serving(app: Any) -> Iterator[Live]:
    """Serve an application until the block ends."""
    config = uvicorn.Config(
        app, port=0, log_config=None, lifespan="on", ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Live(f"http://127.0.0.1:{port}", app.state.service)
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
    assert not thread.is_alive()


def until(is_so: Callable[[], Any]) -> None:
    """Wait for something."""
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


@dataclass
class SlowChat:
    """A model that writes a word whenever it is let.

    Attributes:
        words: what it writes.
        name: what it is called.
        begun: set by each question.
        go: lets words pass while it is set.
        pause_s: before each word, for a server that has to notice something meanwhile.
        asked: questions so far; `most_at_once` of them ran together.
        told: words that were taken.
    """

    words: Sequence[str] = ("Oranges ", "are ", "bitter ", "[1].")
    name: str = "slow:1b"
    begun: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    pause_s: float = 0.0
    asked: int = 0
    at_once: int = 0
    most_at_once: int = 0
    told: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        on_token: Callable[[str], None] | None = None,
        **_: Any,
    ) -> Reply:
        """Write the words."""
        with self._lock:
            self.asked += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.set()
        try:
            for word in self.words:
                assert self.go.wait(PATIENCE_S)
                time.sleep(self.pause_s)
                if on_token:
                    on_token(word)
                self.told.append(word)
        finally:
            with self._lock:
                self.at_once -= 1
        return Reply("".join(self.words), False, self.name)

    def count_tokens(self, text: str) -> int:
        """Four characters a token."""
        return len(text) // 4
