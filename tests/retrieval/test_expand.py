"""Synonyms of a query from a model."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.errors import ModelError
from ragmachine.retrieval.expand import SynonymExpander, parse_terms


class FakeModel:
    """Answers every prompt with one text, or raises; remembers the prompts."""

    def __init__(self, answer="fetch, download"):
        self.answer = answer
        self.prompts = []

    def __call__(self, prompt):
        """Give the answer."""
        self.prompts.append(prompt)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def cache_path(tmp_path):
    """A cache file that does not exist yet, in a folder that does not either."""
    return tmp_path / "cache" / "synonyms.json"


def make_expander(model, cache_path=None, name="tiny:1b"):
    """An expander over a fake model."""
    return SynonymExpander(model, cache_path=cache_path, model=name)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("Fetch, download,pull", ["fetch", "download", "pull"], id="commas"),
        pytest.param("fetch; download", ["fetch", "download"], id="semicolons"),
        pytest.param("fetch\ndownload\n", ["fetch", "download"], id="lines"),
        pytest.param("1. fetch\n2) download\n", ["fetch", "download"], id="numbered"),
        pytest.param("- fetch\n* `download`\n• pull", ["fetch", "download", "pull"], id="bullets"),
        pytest.param('["fetch", "http_get"]', ["fetch", "http_get"], id="JSON list"),
        pytest.param(
            '```json\n{"words": ["fetch", "pull"]}\n```', ["fetch", "pull"], id="JSON map"
        ),
        pytest.param("[1] fetch, pull", ["fetch", "pull"], id="not JSON after all"),
        pytest.param("Sure! Here are some words:\nfetch, pull", ["fetch", "pull"], id="preamble"),
        pytest.param("Synonyms: fetch, pull.", ["fetch", "pull"], id="label and full stop"),
        pytest.param("fetch, fetch, FETCH", ["fetch"], id="repeats"),
        pytest.param("load, loads, Load", ["loads"], id="words of the query"),
        pytest.param("max length", ["max", "length"], id="two words count singly"),
        pytest.param("a, x, ok", ["ok"], id="one letter is too short"),
        pytest.param("x" * 41 + ", ok", ["ok"], id="41 letters are too long"),
        pytest.param("42, 3.14, c++, a-b, v2", ["v2"], id="numbers and symbols"),
        pytest.param("büro, 文件", ["büro", "文件"], id="other scripts"),
        pytest.param(
            "bb, cc, dd, ee, ff, gg, hh",
            ["bb", "cc", "dd", "ee", "ff", "gg"],
            id="six at most",
        ),
        pytest.param("I cannot think of any other words for that.", [], id="chatter"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_parse_terms(answer, expected):
    """Usable words are found in whatever shape a small model writes them."""
    assert parse_terms(answer, "load a file") == expected


@given(st.text(max_size=200), st.text(max_size=50))
def test_parse_terms_holds_its_promises(answer, query):
    """Any answer gives at most six lower-case words of 2 to 40 characters, each once."""
    terms = parse_terms(answer, query)
    assert len(terms) == len(set(terms)) <= 6
    assert all(2 <= len(term) <= 40 and term == term.lower() for term in terms)


def test_prompt_holds_the_query():
    """The query, braces and all, is put into the prompt."""
    model = FakeModel()
    make_expander(model).expand("what is {a}  in\nb?")
    assert "what is {a} in b?" in model.prompts[0]


def test_blank_query_asks_nothing():
    """A blank query has no synonyms."""
    model = FakeModel()
    assert make_expander(model).expand(" \n") == []
    assert model.prompts == []


def test_same_query_is_asked_once():
    """Without a file the answers are still remembered."""
    model = FakeModel()
    expander = make_expander(model)
    assert expander.expand("load") == expander.expand(" load ") == ["fetch", "download"]
    assert len(model.prompts) == 1


def test_cache_file_serves_the_next_process(cache_path):
    """A new expander reads what an older one wrote, and does not ask."""
    make_expander(FakeModel(), cache_path).expand("load")
    other = FakeModel("never")
    assert make_expander(other, cache_path).expand("load") == ["fetch", "download"]
    assert other.prompts == []


def test_another_model_has_its_own_entries(cache_path):
    """The key holds the model's name."""
    make_expander(FakeModel(), cache_path).expand("load")
    assert make_expander(FakeModel("pull"), cache_path, "big:9b").expand("load") == ["pull"]


def test_returned_list_is_the_callers(cache_path):
    """Changing the result does not change the cache."""
    expander = make_expander(FakeModel(), cache_path)
    expander.expand("load").clear()
    assert expander.expand("load") == ["fetch", "download"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"{", id="cut"),
        pytest.param(b"\xff\xfe\x00", id="not UTF-8"),
        pytest.param(b"[1, 2]", id="a list"),
        pytest.param(b"", id="empty"),
        pytest.param(b"[" * 100_000, id="too deep"),
    ],
)
def test_damaged_cache_is_replaced(cache_path, content):
    """A file that is no cache is written anew, without a word."""
    cache_path.parent.mkdir()
    cache_path.write_bytes(content)
    assert make_expander(FakeModel(), cache_path).expand("load") == ["fetch", "download"]
    assert list(json.loads(cache_path.read_text()).values()) == [["fetch", "download"]]


def test_entries_of_another_shape_are_ignored(cache_path):
    """Only lists of words are taken from a file."""
    make_expander(FakeModel(), cache_path).expand("load")
    key = next(iter(json.loads(cache_path.read_text())))
    cache_path.write_text(json.dumps({key: "fetch", "other": [1]}))
    assert make_expander(FakeModel("pull"), cache_path).expand("load") == ["pull"]


def test_cache_is_bounded(cache_path):
    """At 5,000 entries the oldest gives way."""
    cache_path.parent.mkdir()
    cache_path.write_text(json.dumps({f"k{n}": ["x1"] for n in range(5000)}))
    make_expander(FakeModel(), cache_path).expand("load")
    entries = json.loads(cache_path.read_text())
    assert len(entries) == 5000
    assert "k0" not in entries
    assert "k1" in entries


def test_two_writers_keep_each_others_entries(cache_path):
    """An entry that another process wrote in between is not lost."""
    first, second = (make_expander(FakeModel(), cache_path) for _ in range(2))
    first.expand("load")
    second.expand("save")
    first.expand("open")
    assert len(json.loads(cache_path.read_text())) == 3


def test_write_is_atomic(cache_path, monkeypatch):
    """A write that fails leaves the old file whole and nothing beside it."""
    make_expander(FakeModel(), cache_path).expand("load")
    before = cache_path.read_bytes()

    def refuse(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    assert make_expander(FakeModel(), cache_path).expand("save") == ["fetch", "download"]
    assert cache_path.read_bytes() == before
    assert sorted(path.name for path in cache_path.parent.iterdir()) == [
        cache_path.name,
        f"{cache_path.name}.lock",
    ]


def test_unwritable_cache_costs_nothing(tmp_path):
    """A cache path that cannot be written is as good as none."""
    blocked = tmp_path / "file"
    blocked.write_text("x")
    assert make_expander(FakeModel(), blocked / "c.json").expand("load") == ["fetch", "download"]


def test_failing_model_is_asked_once(cache_path):
    """After one ModelError no query asks again, and none has synonyms."""
    model = FakeModel(ModelError("no server"))
    expander = make_expander(model, cache_path)
    assert expander.expand("load") == expander.expand("save") == []
    assert len(model.prompts) == 1
    assert not cache_path.exists()


def test_cached_queries_survive_a_failing_model(cache_path):
    """What is on disk needs no model."""
    make_expander(FakeModel(), cache_path).expand("load")
    expander = make_expander(FakeModel(ModelError("no server")), cache_path)
    assert expander.expand("save") == []
    assert expander.expand("load") == ["fetch", "download"]
