"""The setting `llm` as people type it."""

from __future__ import annotations

import pytest

from ragmachine.errors import UsageError
from ragmachine.generators import (
    Generator,
    check_keep_alive,
    is_model_required,
    parse_generators,
)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("auto", []),
        ("ollama", [("ollama", "")]),
        (" ollama , local,extractive ", [("ollama", ""), ("local", ""), ("extractive", "")]),
        ("ollama:qwen3:4b,openai:gpt/x", [("ollama", "qwen3:4b"), ("openai", "gpt/x")]),
        ("local:a b.gguf,local", [("local", "a b.gguf"), ("local", "")]),
        ("ollama,local,ollama", [("ollama", ""), ("local", "")]),
    ],
)
def test_generators_come_in_the_order_given(written, expected):
    """Each once, with its own model where one stands behind a colon."""
    assert list(parse_generators(written)) == [Generator(*one) for one in expected]


@pytest.mark.parametrize(
    "written",
    ["", "gpt", "auto,local", "ollama,,local", "ollama:", "extractive:x", "Ollama", "ollama local"],
)
def test_what_is_no_generator(written):
    """Is refused with the choices and an example."""
    with pytest.raises(UsageError, match="llm must be auto, or one or more of") as caught:
        parse_generators(written)
    assert "ollama:qwen3:4b,local,extractive" in caught.value.remedy


def test_nothing_comes_after_quoting():
    """It always answers."""
    with pytest.raises(UsageError, match="names local after extractive"):
        parse_generators("ollama,extractive,local")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("auto", False),
        ("extractive", False),
        ("ollama,extractive", False),
        ("ollama", True),
        ("ollama,local", True),
    ],
)
def test_when_only_a_model_will_do(written, expected):
    """When at least one is named, and quoting is not."""
    assert is_model_required(written) is expected


@pytest.mark.parametrize("written", ["10m", "0", "-1", "1h30m", "1.5h", "300", "500ms", "-1m"])
def test_durations(written):
    """As Ollama reads them."""
    check_keep_alive(written)


@pytest.mark.parametrize("written", ["", "soon", "10 m", "10x", "m", "1h30"])
def test_what_is_no_duration(written):
    """Is refused before a question is asked."""
    with pytest.raises(UsageError, match="must be a duration"):
        check_keep_alive(written)
