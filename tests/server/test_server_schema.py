"""Requests made up from the OpenAPI document: no 5xx, and no answer that it does not announce."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from live import PATIENCE_S, Asks, pipeline_of, serving

from ragmachine.server.app import create_app
from ragmachine.server.jobs import Target

schemathesis = pytest.importorskip("schemathesis", reason="a dependency of development")

EXAMPLES = 5
# A filter is more than its schema says, and a chat's last message must be a question.
NOT_CHECKED = ("positive_data_acceptance",)


def build(target: Target, on_file: Callable[[int], None], is_stopped: Callable[[], bool]) -> Any:
    """Nothing is indexed here."""
    return {}


@pytest.fixture(scope="module")
def api(indexed: Path) -> Iterator[Any]:
    """The document of a server over a small index."""
    pipeline = pipeline_of(indexed, encoder="ollama:none", ollama_host="127.0.0.1:9")
    with serving(create_app(pipeline, build=build)) as server:
        yield schemathesis.openapi.from_url(f"{server.url}/openapi.json", timeout=PATIENCE_S)


# An upload would write into the folder that other tests read.
ASKED = [
    ("POST", "/search"), ("POST", "/answer"), ("POST", "/query"), ("GET", "/source/{path}"),
    ("POST", "/ingest"), ("DELETE", "/sources/{tag}"), ("GET", "/jobs/{job_id}"),
    ("GET", "/health"), ("GET", "/ready"), ("GET", "/collections"),
    ("GET", "/stats"), ("GET", "/metrics"), ("GET", "/timings"), ("GET", "/v1/models"),
    ("POST", "/v1/chat/completions"), ("POST", "/v1/embeddings"),
]  # fmt: skip
# They take nothing, so that nothing can be wrong.
WITHOUT_INPUT = ("/health", "/ready", "/collections", "/metrics", "/timings", "/v1/models")
POSITIVE, NEGATIVE = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
CASES = [
    pytest.param(method, path, mode, id=f"{method}-{path}-{mode.value}")
    for method, path in ASKED
    for mode in ((POSITIVE,) if path in WITHOUT_INPUT else (POSITIVE, NEGATIVE))
]


@pytest.mark.parametrize(("method", "path", "mode"), CASES)
def test_answers_are_those_of_the_document(api: Any, method: str, path: str, mode: Any) -> None:
    """Whatever is asked, with right values and wrong ones."""
    from schemathesis.checks import CHECKS

    excluded = [check for check in CHECKS.get_all() if check.__name__ in NOT_CHECKED]

    @given(case=api[path][method].as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask_and_check(case: Any) -> None:
        case.call_and_validate(excluded_checks=excluded)

    ask_and_check()


@pytest.mark.parametrize("path", WITHOUT_INPUT)
def test_what_takes_nothing_announces_no_input(api: Any, path: str) -> None:
    """So wrong values are made up for every route that takes any."""
    operation = api.raw_schema["paths"][path]["get"]
    assert operation.keys() & {"parameters", "requestBody"} == set()


def test_the_document_announces_every_route(ask: Asks) -> None:
    """The routes of the issue, each with a problem for what may go wrong."""
    document = ask().get("/openapi.json").json()
    routes = {
        (method.upper(), path) for path, methods in document["paths"].items() for method in methods
    }
    assert routes >= {
        ("POST", "/search"), ("POST", "/answer"), ("POST", "/query"), ("POST", "/ingest"),
        ("POST", "/ingest/upload"), ("GET", "/jobs/{job_id}"), ("DELETE", "/sources/{tag}"),
        ("GET", "/source/{path}"), ("GET", "/health"), ("GET", "/ready"), ("GET", "/stats"),
        ("GET", "/metrics"), ("GET", "/timings"), ("POST", "/v1/chat/completions"),
        ("GET", "/v1/models"), ("POST", "/v1/embeddings"), ("GET", "/collections"),
    }  # fmt: skip
    for methods in document["paths"].values():
        for operation in methods.values():
            problem = operation["responses"]["422"]["content"]["application/problem+json"]
            assert problem["schema"]["$ref"] == "#/components/schemas/Problem"
    assert document["components"]["schemas"]["Problem"]["properties"].keys() >= {"remedy", "code"}
