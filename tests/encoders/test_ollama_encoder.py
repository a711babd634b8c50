"""OllamaEncoder against a loopback server, through the official client."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from embedding_server import FakeEmbedder

from ragmachine.encoders import EncoderUnavailableError, OllamaEncoder
from ragmachine.errors import ModelError


def client(embedder: FakeEmbedder, **options: Any) -> OllamaEncoder:
    """An encoder that asks the fake server."""
    return OllamaEncoder("tiny", host=embedder.host, **options)


def free_port() -> int:
    """A port of the loopback address on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_vectors_are_scaled_to_length_one(embedder: FakeEmbedder) -> None:
    """(3, 4, 0) becomes (0.6, 0.8, 0)."""
    vectors = client(embedder).encode(["abc"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [[0.6, 0.8, 0]], atol=1e-6)


def test_texts_go_out_in_batches_and_come_back_in_order(embedder: FakeEmbedder) -> None:
    """Five texts, two at once: three requests, and rows in the order of the texts."""
    vectors = client(embedder, batch_size=2).encode(["a" * n for n in (3, 1, 2, 0, 5)])
    assert [len(request["input"]) for request in embedder.requests] == [2, 2, 1]
    np.testing.assert_allclose(4 * vectors[:, 0] / vectors[:, 1], [3, 1, 2, 0, 5], atol=1e-5)


def test_what_the_server_is_asked(embedder: FakeEmbedder) -> None:
    """Model, cut, keep-alive and prefixes; 2 tokens are 8 characters, prefix not counted."""
    encoder = client(embedder, keep_alive="3m", query_prefix="q: ", text_prefix="d: ")
    encoder.encode(["x" * 20], max_tokens=2)
    encoder.encode_query("why?")
    first, second = embedder.requests
    assert first["path"] == "/api/embed"
    assert (first["model"], first["truncate"], first["keep_alive"]) == ("tiny", True, "3m")
    assert first["input"] == ["d: xxxxxxxx"]
    assert second["input"] == ["q: why?"]


def test_dimensions_are_found_out_once(embedder: FakeEmbedder) -> None:
    """One word is encoded for it, and no texts need no further request."""
    encoder = client(embedder)
    assert (encoder.dimensions, encoder.dimensions) == (3, 3)
    assert encoder.encode([]).shape == (0, 3)
    assert len(embedder.requests) == 1


def test_the_name_holds_the_digest_of_the_model(embedder: FakeEmbedder) -> None:
    """A model pulled anew, or other prefixes, make other vectors."""
    assert client(embedder).name == "ollama-tiny:latest-0123456789ab"
    prefixed = client(embedder, query_prefix="q: ").name
    embedder.digest = "f" * 64
    assert len({client(embedder).name, prefixed, "ollama-tiny:latest-0123456789ab"}) == 3


def test_a_model_that_is_not_listed_has_no_name(embedder: FakeEmbedder) -> None:
    """The pull command is the remedy."""
    with pytest.raises(EncoderUnavailableError) as caught:
        _ = OllamaEncoder("other", host=embedder.host).name
    assert caught.value.remedy == "type `ollama pull other`"


def test_no_server_is_quick_and_says_what_to_type() -> None:
    """A closed port costs milliseconds and gives the two commands that help."""
    port = free_port()
    started = time.perf_counter()
    with pytest.raises(EncoderUnavailableError) as caught:
        OllamaEncoder("tiny", host=f"127.0.0.1:{port}").encode(["a"])
    assert time.perf_counter() - started < 0.5
    assert caught.value.message == f"no Ollama server answers at http://127.0.0.1:{port}"
    assert caught.value.remedy == "start it with `ollama serve`, then type `ollama pull tiny`"


def test_no_server_never_imports_the_client() -> None:
    """The client library stays unimported when nothing listens."""
    code = (
        "import sys\n"
        "from ragmachine.encoders import OllamaEncoder\n"
        "from ragmachine.errors import ModelError\n"
        "try:\n"
        "    OllamaEncoder().encode(['a'])\n"
        "except ModelError:\n"
        "    print('ollama' in sys.modules, 'httpx' in sys.modules)\n"
    )
    environment = {**os.environ, "OLLAMA_HOST": f"127.0.0.1:{free_port()}"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.split() == ["False", "False"]


def test_the_environment_names_the_host(
    embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OLLAMA_HOST is read when no host is given, and no proxy stands before the loopback."""
    monkeypatch.setenv("OLLAMA_HOST", embedder.host)
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert OllamaEncoder("tiny").encode(["abc"]).shape == (1, 3)


def test_missing_model(embedder: FakeEmbedder) -> None:
    """A 404 becomes the pull command."""
    embedder.mode = "missing"
    with pytest.raises(EncoderUnavailableError) as caught:
        client(embedder).encode(["a"])
    assert caught.value.remedy == "type `ollama pull tiny`"


def test_a_model_without_embeddings(embedder: FakeEmbedder) -> None:
    """The server's own words are passed on, on one line."""
    embedder.mode = "refuse"
    with pytest.raises(ModelError, match="refused: this model does not support embeddings"):
        client(embedder).encode(["a"])


def test_silence_times_out(embedder: FakeEmbedder) -> None:
    """A server that accepts and then says nothing is given up after timeout_s."""
    embedder.mode = "hang"
    with pytest.raises(EncoderUnavailableError, match=r"silent for 0\.15 s"):
        client(embedder, timeout_s=0.15).encode(["a"])


@pytest.mark.parametrize("mode", ["garbage", "shape", "ragged", "few", "nan"])
def test_malformed_answers(embedder: FakeEmbedder, mode: str) -> None:
    """What is no matrix of numbers, a row a text, is one line of error."""
    embedder.mode = mode
    with pytest.raises(ModelError, match="no valid vectors for tiny"):
        client(embedder).encode(["a", "b"])
