"""Which generators the settings make, and what a pipeline does when they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmachine.errors import ModelError
from ragmachine.llm import ChatChain, LocalChat, OllamaChat, OpenAIChat
from ragmachine.settings import load_settings
from ragmachine.wiring.chat_models import make_chain, make_client

NOBODY = "127.0.0.1:9"


def chain(environment, monkeypatch, **settings):
    """What is made of settings and variables."""
    for name in ("OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return make_chain(load_settings(settings, {}))


@pytest.mark.parametrize(
    ("environment", "settings", "name"),
    [
        pytest.param({}, {}, "qwen3:0.6b", id="auto is Ollama"),
        pytest.param({}, {"gguf": "x/Tiny.gguf"}, "qwen3:0.6b,tiny", id="and a file"),
        pytest.param(
            {"OPENAI_BASE_URL": "http://x", "OPENAI_MODEL": "big"}, {"gguf": "tiny.gguf"},
            "qwen3:0.6b,big,tiny", id="and an endpoint between them",
        ),
        pytest.param({}, {"llm": "local,ollama"}, "smollm2-135m,qwen3:0.6b", id="in order"),
        pytest.param({}, {"llm": "ollama:a:1b,openai:b,local:C.gguf"}, "a:1b,b,c", id="models"),
        pytest.param({}, {"llm": "openai", "model": "m"}, "m", id="endpoint by the setting"),
        pytest.param({"OPENAI_MODEL": "e"}, {"llm": "openai"}, "e", id="endpoint by the variable"),
        pytest.param(
            {"OPENAI_MODEL": "e"}, {"llm": "openai", "model": "m"}, "m", id="the setting first"
        ),
        pytest.param({}, {"llm": "extractive"}, "qwen3:0.6b", id="a model all the same"),
    ],
)  # fmt: skip
def test_models_in_order(environment, settings, name, monkeypatch):
    """Their names tell."""
    assert chain(environment, monkeypatch, **settings).name == name


@pytest.mark.parametrize(
    ("llm", "kind"),
    [
        ("ollama", OllamaChat),
        ("openai,extractive", OpenAIChat),
        ("local", LocalChat),
        ("ollama,local", ChatChain),
    ],
)
def test_one_generator_is_no_chain(llm, kind, monkeypatch):
    """Its errors are then not prefixed with its name."""
    assert isinstance(chain({}, monkeypatch, llm=llm), kind)


def test_quoting_asks_no_model():
    """Nothing is made for it."""
    assert make_client(load_settings({"llm": "extractive"}, {})) is None


def test_a_file_is_looked_for_here_and_in_the_project(tmp_path, monkeypatch):
    """As it was typed, else below the project root."""
    (tmp_path / "root").mkdir()
    monkeypatch.chdir(tmp_path)
    settings = load_settings({"llm": "local", "gguf": "m.gguf", "project_root": "root"}, {})
    with pytest.raises(ModelError, match=r"root/m\.gguf cannot be read"):
        make_chain(settings).count_tokens("x")
    Path("m.gguf").write_bytes(b"none")
    with pytest.raises(ModelError, match=r"^m\.gguf is no GGUF file"):
        make_chain(settings).count_tokens("x")


@pytest.fixture
def indexed(project, monkeypatch):
    """A project with one page and no model to be had."""
    monkeypatch.setenv("OLLAMA_HOST", NOBODY)
    project.write("a.md", "# Pump\n\nThe Limpet pump has a warranty of five years.\n")
    project.index()
    return project


@pytest.mark.parametrize("llm", ["auto", "ollama,extractive", "ollama,openai,extractive"])
def test_quoting_stands_in_where_it_may(indexed, llm):
    """With one line about each that failed."""
    answer = indexed.pipeline(llm=llm).answer("How long is the warranty of the Limpet pump?")
    assert answer.mode == "extractive"
    assert "no Ollama server answers" in answer.notice
    assert ("openai: no endpoint is named" in answer.notice) == ("openai" in llm)


@pytest.mark.parametrize("llm", ["ollama", "ollama,openai", "openai"])
def test_a_model_that_must_be_is_an_error(indexed, llm):
    """Quoting was not named."""
    with pytest.raises(ModelError):
        indexed.pipeline(llm=llm).answer("How long is the warranty of the Limpet pump?")
