"""The demonstration: it ends well over this code, and it can tell when something does not hold."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi", reason="the extra server")

CHECKOUT = Path(__file__).resolve().parents[2]
BENCHMARKS = CHECKOUT / "benchmarks"


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Its steps as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("demo_steps")


def test_everything_holds() -> None:
    """It walks through all steps over a real server, each with a figure, and ends with 0."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "demo.py")],
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    heads = [line for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert [head.partition(".")[0] for head in heads] == list("123456")
    assert done.stdout.count("  holds: ") >= 18
    assert done.stdout.endswith("Everything holds.\n")


def test_what_does_not_hold_is_told_and_fails(
    steps: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1, and the promise that is broken is named."""
    demo = importlib.import_module("demo")

    def walk(folder: Path, llm: str) -> None:
        steps.holds(False, "water runs uphill")

    monkeypatch.setattr(demo, "walk", walk)
    monkeypatch.setattr(sys, "argv", ["demo.py"])
    assert demo.main() == 1
    assert "DOES NOT HOLD: water runs uphill" in capsys.readouterr().err


CITED = {
    "file_path": "data/sample/a.md", "first_line": 1, "last_line": 1,
    "first_character_index": 0, "last_character_index": 9, "number": 1,
}  # fmt: skip


def answering(answers: dict[str, Any]) -> Callable[[httpx.Request], httpx.Response]:
    """A server that knows a few paths; a list is given one after another, the last again."""

    def answer(request: httpx.Request) -> httpx.Response:
        known = answers[request.url.path]
        if isinstance(known, list):
            known = known.pop(0) if len(known) > 1 else known[0]
        return httpx.Response(200, json=known)

    return answer


def walk_of(steps: ModuleType, folder: Path, answers: dict[str, Any]) -> Any:
    """The steps over such a server, whose corpus is one file."""
    corpus = folder / "data" / "sample"
    corpus.mkdir(parents=True)
    (corpus / "a.md").write_text("30 months\nand a day\n", encoding="utf-8")
    transport = httpx.MockTransport(answering(answers))
    client = httpx.Client(transport=transport, base_url="http://demo")
    return steps.Walk(client, corpus, has_model=True)


def answer_of(**changes: Any) -> dict[str, Any]:
    """A well cited answer, with changes."""
    return {
        "answer": "30 months [1].", "answer_mode": "extractive", "citations": [CITED],
        "sentences": [{"supported": True}], "refused": False, **changes,
    }  # fmt: skip


GOOD, REFUSED = answer_of(), answer_of(refused=True)
SOURCE = "/source/data/sample/a.md"


@pytest.mark.parametrize(
    ("answers", "lines", "is_well"),
    [
        pytest.param([GOOD, REFUSED], "30 months\n", True, id="well"),
        pytest.param([GOOD, REFUSED], "and a day\n", False, id="other-lines"),
        pytest.param([answer_of(citations=[]), REFUSED], "30 months\n", False, id="no-citation"),
        pytest.param(
            [answer_of(sentences=[{"supported": True}, {"supported": False}]), REFUSED],
            "30 months\n", False, id="unsupported",
        ),
        pytest.param([GOOD, GOOD], "30 months\n", False, id="made-up"),
    ],
)  # fmt: skip
def test_the_step_of_the_answer_notices(
    steps: ModuleType, tmp_path: Path, answers: list[Any], lines: str, is_well: bool
) -> None:
    """A citation of other lines, none, a sentence without support, and what nobody can know."""
    walk = walk_of(steps, tmp_path, {"/answer": list(answers), SOURCE: {"text": lines}})
    if is_well:
        walk.answer()
    else:
        with pytest.raises(steps.BrokenPromiseError):
            walk.answer()


def searched(*, cached: bool, ms: float, text: str = "a") -> dict[str, Any]:
    """A search's answer."""
    metrics = {"cached": cached, "search_time_ms": ms}
    return {"query": "q", "retrieved_chunks": [{"text": text}], "metrics": metrics}


@pytest.mark.parametrize(
    ("warm", "is_well"),
    [
        pytest.param(searched(cached=True, ms=1), True, id="well"),
        pytest.param(searched(cached=False, ms=1), False, id="not-cached"),
        pytest.param(searched(cached=True, ms=9), False, id="slower"),
        pytest.param(searched(cached=True, ms=1, text="b"), False, id="other-passages"),
    ],
)
def test_the_step_of_the_caches_notices(
    steps: ModuleType, tmp_path: Path, warm: dict[str, Any], is_well: bool
) -> None:
    """A cache that is not used, saves nothing, or gives something else."""
    walk = walk_of(steps, tmp_path, {"/search": warm})
    cold = [searched(cached=False, ms=5)]
    if is_well:
        walk.caches(cold, "again")
    else:
        with pytest.raises(steps.BrokenPromiseError):
            walk.caches(cold, "again")


@pytest.mark.parametrize(("outcome", "is_well"), [("hit", True), ("miss", False)])
def test_the_step_of_a_models_answer_notices(
    steps: ModuleType, tmp_path: Path, outcome: str, is_well: bool
) -> None:
    """A model that is asked again for what it answered before."""

    def timed(cache: str) -> dict[str, Any]:
        return answer_of(
            metrics={"timings": {"answer_cache": cache, "total_ms": 1.0, "answer_tokens": 3}}
        )

    walk = walk_of(steps, tmp_path, {"/answer": [timed("miss"), timed(outcome)]})
    if is_well:
        walk.answer_cache()
    else:
        with pytest.raises(steps.BrokenPromiseError):
            walk.answer_cache()


def test_a_job_that_fails_ends_the_walk(steps: ModuleType, tmp_path: Path) -> None:
    """With the error that it tells."""
    failed = {"state": "failed", "error": {"detail": "no space"}}
    walk = walk_of(
        steps, tmp_path, {"/ready": {"remedy": "index it"}, "/ingest": failed}
    )  # fmt: skip
    with pytest.raises(steps.BrokenPromiseError, match="no space"):
        walk.ingest()
