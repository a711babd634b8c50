"""The built-in tokenizer, and the names in a question."""

from __future__ import annotations

import pytest

from ragmachine.generation.words import content_words, exact_names, split_terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("the and of", [], id="stopwords"),
        pytest.param("caching caches cached cache", ["cach"] * 4, id="endings meet"),
        pytest.param("policies policy", ["policy"] * 2, id="ies and y"),
        pytest.param("class status", ["class", "status"], id="s that is no plural"),
        pytest.param("running", ["run"], id="doubled consonant"),
        pytest.param("max_tokens", ["max_tokens", "max", "token"], id="snake case"),
        pytest.param("HTTPServer2", ["httpserver2", "http", "server", "2"], id="camel case"),
        pytest.param("Über über", ["über"] * 2, id="case of other letters"),
        pytest.param("合同法", ["合同", "同法"], id="pairs of Han"),
        pytest.param("0.10.1", ["0.10.1"], id="version stays whole"),
        pytest.param("", [], id="empty"),
    ],
)
def test_split_terms(text, expected):
    """Words become stems, identifiers also their parts."""
    assert split_terms(text) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("what is max_tokens", ["max_tokens"], id="snake case"),
        pytest.param("what does getValue do", ["getValue"], id="camel case"),
        pytest.param("is --max-len a flag", ["--max-len"], id="flag"),
        pytest.param("what is in conf/app.toml", ["conf/app.toml"], id="path"),
        pytest.param("where is Engine.step", ["Engine.step"], id="dotted"),
        pytest.param("what does `x y` mean", ["x y"], id="backticks"),
        pytest.param('who says "no port"', ["no port"], id="quotes"),
        pytest.param("what doesn't it do, and why isn't it", [], id="apostrophes quote nothing"),
        pytest.param("what is a default port", [], id="plain words"),
    ],
)
def test_exact_names(question, expected):
    """Identifiers and quoted strings are found as written."""
    assert exact_names(question) == expected


def test_content_words_keep_their_form():
    """Distinct words as written, without stopwords."""
    assert content_words("Where is the Flux, the Capacitor and the Flux?") == ["Flux", "Capacitor"]
