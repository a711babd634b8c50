"""The API page: each of its examples is asked, and answered as it says."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from live import Asks, pipeline_of

from ragmachine.commands.table import find_command

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "API.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```http\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the sample where the page has it."""
    root = tmp_path_factory.mktemp("page")
    shutil.copytree(ROOT / "data" / "sample", root / "data" / "sample")
    pipeline_of(root).index(root / "data" / "sample")
    return root


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.splitlines()[0])
def test_an_example_is_answered_as_it_says(ask: Asks, sample: Path, example: str) -> None:
    """Its first line and its body are sent, the lines below are compared."""
    asked, _, told = example.strip().partition("\n\n")
    first, _, body = asked.partition("\n")
    method, path = first.split()
    client = ask(sample, build=lambda *_: {})
    assert told
    answer = client.request(method, path, json=json.loads(body) if body else None)
    for line in told.splitlines():
        status, place, expected = re.fullmatch(r"(\d+) (\S+) = (.*)", line).groups()  # type: ignore[union-attr]
        assert answer.status_code == int(status)
        assert shown(answer.json(), place) == expected


def shown(document: Any, place: str) -> str:
    """What stands at a place of a document, as the page writes it."""
    for part in place.split("."):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document if isinstance(document, str) else json.dumps(document)


def test_the_page_has_examples_of_each_kind() -> None:
    """None is lost to a change of the page's form."""
    assert len(EXAMPLES) >= 8


def test_the_pages_options_exist() -> None:
    """Every `--option` is one of `serve`."""
    known = {option.name for option in find_command("serve").options}
    named = set(re.findall(r"`--(\w+)`", PAGE))
    assert named
    assert named <= known


def test_the_pages_paths_exist(ask: Asks) -> None:
    """Every path in backquotes is routed."""
    paths = ask().get("/openapi.json").json()["paths"]
    known = {path.partition("{")[0].rstrip("/") or "/" for path in paths}
    known |= {"/", "/docs", "/openapi.json", "/mcp"}
    named = set(re.findall(r"`(?:GET |POST |DELETE )?(/[\w/.]*)`", PAGE))
    assert named
    assert named <= known
