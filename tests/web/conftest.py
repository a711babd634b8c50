"""A browser, and servers for it: a real process, and applications whose model a test holds back."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="the extra server")
pytest.importorskip("playwright", reason="the browser tests need playwright")

from playwright.sync_api import sync_playwright

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "server"))  # its servers and models serve here as well: hence the E402

from browsing import ARGUMENTS, NAMES, PATIENCE_MS, Visit  # noqa: E402
from live import SlowChat, pipeline_of, serving  # noqa: E402

from ragmachine.server.app import create_app  # noqa: E402
from ragmachine.server.options import ServerOptions  # noqa: E402
from ragmachine.wiring import chat_models  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SAMPLE = TESTS.parent / "data" / "sample"
PLANTED = "<script>window.planted=1<.md"
TEXTS = {
    PLANTED: (
        "# Odd\n\n🦑🦑🦑🦑🦑🦑🦑🦑 The squid said <script>window.planted=1</script> and"
        ' <img src=x onerror="window.planted=1"> twice.\nA squid lives for 3 years.\n'
    ),
    "long.md": "# Log\n\n" + "Nothing happened.\n\n" * 200 + "The foghorn weighs 77 kilograms.\n",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a browser the tests of this folder are skipped, and say why; not so in CI."""
    if browser_path() or os.environ.get("CI"):
        return
    skipped = pytest.mark.skip(reason="no chromium: apt-get install chromium")
    for item in items:
        if Path(__file__).parent in item.path.parents and "browser" in item.fixturenames:
            item.add_marker(skipped)


def browser_path() -> str | None:
    """Where the browser is."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose folder ``corpus`` is indexed in ``index``."""
    root = tmp_path_factory.mktemp("page")
    shutil.copytree(SAMPLE, root / "corpus", ignore=shutil.ignore_patterns("__*"))
    for name, text in TEXTS.items():
        (root / "corpus" / name).write_text(text, encoding="utf-8")
    write_pdf(root / "corpus" / "manual.pdf")
    pipeline_of(root).index("corpus")
    return root


def write_pdf(path: Path) -> None:
    """Two pages; the second says how long the chain is."""
    canvas = pytest.importorskip("reportlab.pdfgen.canvas").Canvas(str(path))
    for text in ("Keep the moored buoy dry.", "The mooring chain of a buoy is 14 metres long."):
        canvas.drawString(72, 740, text)
        canvas.showPage()
    canvas.save()


@pytest.fixture(scope="module")
def served(corpus: Path) -> Iterator[str]:
    """The address of a process that serves the project."""
    steering = ("RAG_", "OPENAI_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    words = ["serve", "--port", "0", "--llm", "extractive", "--index_dir", str(corpus / "index")]
    own = {"RAG_PROJECT_ROOT": str(corpus), "RAG_WORKERS": "1", "XDG_CONFIG_HOME": str(corpus)}
    log = corpus / "serve.log"  # a pipe that nobody reads would stop the server when it is full
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "src", *words], cwd=TESTS.parent, env={**kept, **own},
            stderr=stderr, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    try:
        end = time.monotonic() + PATIENCE_MS / 1000
        while process.poll() is None and "\n" not in log.read_text("utf-8"):
            assert time.monotonic() < end, "the server does not start"
            time.sleep(0.05)
        line = log.read_text("utf-8").splitlines()[0]
        assert "serving on http://" in line
        yield line.split()[-1]
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser a module: while it is there, its thread is taken to run an event loop."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=browser_path(), args=ARGUMENTS, timeout=PATIENCE_MS
        )
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Opens pages, each in a profile of its own; what goes wrong in one fails the test."""
    opened: list[Visit] = []
    folder = Path(os.environ.get("PAGE_SCREENSHOTS") or tmp_path)

    def make(url: str, **options: Any) -> Visit:
        made = Visit(browser, url, folder, **options)
        opened.append(made)
        return made

    yield make
    for made in opened:
        faults = made.faults
        made.close()
        assert not faults


@pytest.fixture
def app(corpus: Path) -> Iterator[Callable[..., str]]:
    """Serves an application from this process; gives its address."""
    with contextlib.ExitStack() as stack:

        def make(root: Path = corpus, *, llm: str = "ollama", **options: Any) -> str:
            pipeline = pipeline_of(root, llm=llm, ollama_host="127.0.0.1:9")  # nobody is there
            return stack.enter_context(serving(create_app(pipeline, ServerOptions(**options)))).url

        yield make


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> SlowChat:
    """The model of `app`: writes a word whenever it is let."""
    chat = SlowChat()
    monkeypatch.setattr(chat_models, "make_client", lambda settings: chat)
    return chat
