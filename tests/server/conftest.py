"""A small project with an index, and applications that serve it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server")

from live import Asks, Live, pipeline_of, serving
from starlette.testclient import TestClient

from ragmachine.server.app import create_app
from ragmachine.server.options import ServerOptions
from ragmachine.wiring import chat_models

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
TEXTS = {
    "notes/jam.md": "# Jam\n\nMarmalade needs bitter oranges.\nBoil it for 40 minutes.\n",
    "notes/pump.md": "# Pump\n\nThe pump runs at 9 bar.\nIts seal lasts 2 years.\n",
    "notes/<script>alert(1)</script>.md": "# Odd\n\nText with <script>alert(2)</script>.\n",
}


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose folder ``corpus`` is indexed in ``index``; nobody changes it."""
    root = tmp_path_factory.mktemp("served")
    shutil.copytree(SAMPLE, root / "corpus" / "sample", ignore=shutil.ignore_patterns("__*"))
    for name, text in TEXTS.items():
        path = root / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    pipeline_of(root).index("corpus")
    return root


@pytest.fixture(scope="session")
def shared(indexed: Path) -> Iterator[TestClient]:
    """A client that tests share where they ask for nothing special; making one takes a while."""
    app = create_app(pipeline_of(indexed), ServerOptions())
    with TestClient(app, base_url="http://localhost") as client:
        yield client


@pytest.fixture
def ask(indexed: Path, shared: TestClient) -> Iterator[Asks]:
    """Makes a client of a served project; options of the server by name."""
    opened: list[TestClient] = []

    def make(
        root: Path = indexed,
        *,
        build: Any = None,
        settings: dict[str, Any] | None = None,
        is_fresh: bool = False,
        **options: Any,
    ) -> TestClient:
        if not (is_fresh or build or settings or options or root is not indexed):
            return shared
        app = create_app(
            pipeline_of(root, **(settings or {})), ServerOptions(**options), build=build
        )
        client = TestClient(app, base_url="http://localhost")
        client.__enter__()
        opened.append(client)
        return client

    yield make
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def live(indexed: Path) -> Iterator[Callable[..., Live]]:
    """Serves a project on a real socket, for what needs clients that leave or wait."""
    running: list[Any] = []

    def make(
        root: Path = indexed, *, settings: dict[str, Any] | None = None, **options: Any
    ) -> Live:
        app = create_app(pipeline_of(root, **(settings or {})), ServerOptions(**options))
        server = serving(app)
        running.append(server)
        return server.__enter__()

    yield make
    for server in running:
        server.__exit__(None, None, None)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """Has a fake model answer, whatever the settings say."""

    def use(fake: Any) -> Any:
        monkeypatch.setattr(chat_models, "make_client", lambda settings: fake)
        return fake

    return use
