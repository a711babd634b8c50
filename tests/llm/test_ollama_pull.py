"""Pulling a model through Ollama, against a loopback server."""

from __future__ import annotations

import pytest

from ragmachine.errors import ModelError
from ragmachine.llm.chat import ModelUnavailableError
from ragmachine.llm.ollama_pull import PullProgress, pull_model

LARGE = {"status": "pulling aa", "digest": "sha256:aa", "total": 100}
SMALL = {"status": "pulling bb", "digest": "sha256:bb", "total": 10}


def test_progress_is_the_sum_of_all_files(server):
    """Each report of a file replaces the one before."""
    server.pulled = [
        {"status": "pulling manifest"},
        LARGE,
        {**LARGE, "completed": 60},
        {**SMALL, "completed": 10},
        {**LARGE, "completed": 100},
        {"status": "success"},
    ]
    seen = []
    pull_model("tiny:1b", server.host, on_progress=seen.append)
    assert [(report.done_bytes, report.total_bytes) for report in seen] == [
        (0, 0), (0, 100), (60, 100), (70, 110), (110, 110), (110, 110),
    ]  # fmt: skip
    assert seen[-1] == PullProgress("success", 110, 110)
    assert server.requests[0]["model"] == "tiny:1b"


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        pytest.param(
            [{"status": "pulling manifest"}, {"error": "pull model manifest: file does not exist"}],
            "there is no model tiny:1b to be pulled",
            id="nobody has it",
        ),
        pytest.param([{"error": "max retries exceeded"}], "refused: max retries", id="no network"),
        pytest.param([{"error": "I think not"}], "refused: I think not", id="odd words"),
        pytest.param([LARGE], "broke off", id="ends too soon"),
    ],
)
def test_a_pull_that_fails(server, reports, said):
    """Is an error, whatever was pulled before."""
    server.pulled = reports
    with pytest.raises(ModelError, match=said):
        pull_model("tiny:1b", server.host)


def test_no_server():
    """The same error as for a question."""
    with pytest.raises(ModelUnavailableError, match="no Ollama server answers"):
        pull_model("tiny:1b", "127.0.0.1:9")


def test_a_failing_listener(server):
    """A closed pipe on our side is not reported as a failure of the server."""
    server.pulled = [{"status": "success"}]

    def closed(_):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        pull_model("tiny:1b", server.host, on_progress=closed)
