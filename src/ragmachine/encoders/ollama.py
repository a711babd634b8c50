"""Embeddings from an Ollama server.

The official client takes half a second to import, so it is imported when a server is known to
listen, and not before.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ragmachine.errors import ModelError
from ragmachine.llm.endpoint import Endpoint, parse_host

from .encoder import EncoderUnavailableError, Vectors, normalise

if TYPE_CHECKING:
    import ollama

_NOT_FOUND = 404
_CHARS_PER_TOKEN = 4
_DIGEST_CHARS = 12
_Answer = TypeVar("_Answer")


class OllamaEncoder:
    """Asks one embedding model of one Ollama server.

    Args:
        model: name as ``ollama pull`` takes it.
        host: as in ``OLLAMA_HOST``, which is read when this is None.
        timeout_s: longest silence of the server over one batch, in seconds; loading counts.
        connect_timeout_s: longest wait for a connection, in seconds.
        keep_alive: how long the server keeps the model in memory after a batch.
        batch_size: texts of one request.
        query_prefix: put before a question.
        text_prefix: put before a document.
    """

    def __init__(
        self,
        model: str = "nomic-embed-text",
        host: str | None = None,
        *,
        timeout_s: float = 120.0,
        connect_timeout_s: float = 2.0,
        keep_alive: str = "10m",
        batch_size: int = 32,
        query_prefix: str = "",
        text_prefix: str = "",
    ) -> None:
        if batch_size < 1:
            raise ValueError("a batch holds at least one text")
        self._model = model
        self._host = host
        self._timeouts_s = (connect_timeout_s, timeout_s, timeout_s, None)
        self._keep_alive = keep_alive
        self._batch_size = batch_size
        self._prefixes = (query_prefix, text_prefix)

    @cached_property
    def name(self) -> str:
        """Model, the server's digest of it, and prefixes; see `Encoder.name`.

        The digest changes when ``ollama pull`` brings another version.
        """
        listed = self._ask(lambda client: client.list().models)
        wanted = self._model if ":" in self._model else f"{self._model}:latest"
        for one in listed:
            if one.model == wanted and one.digest:
                prefixes = repr(self._prefixes) if any(self._prefixes) else ""
                return f"ollama-{wanted}-{one.digest[:_DIGEST_CHARS]}{prefixes}"
        raise self._missing_model()

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector, found by encoding a word; see `Encoder.dimensions`."""
        return int(self._encode(["word"]).shape[1])

    def encode(self, texts: Sequence[str], *, max_tokens: int | None = None) -> Vectors:
        """Encode documents; see `Encoder.encode`.

        The server has its own tokenizer: `max_tokens` cuts at four characters a token, and what is
        longer than the model's window is cut by the server.
        """
        end = None if max_tokens is None else _CHARS_PER_TOKEN * max_tokens
        written = [self._prefixes[1] + text[:end] for text in texts]
        if not written:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        batches = range(0, len(written), self._batch_size)
        rows = [self._encode(written[start : start + self._batch_size]) for start in batches]
        if len({part.shape[1] for part in rows}) != 1:
            raise self._malformed()
        return np.concatenate(rows)

    def encode_query(self, text: str) -> Vectors:
        """Encode a question; see `Encoder.encode_query`."""
        vector: Vectors = self._encode([self._prefixes[0] + text])[0]
        return vector

    def _encode(self, texts: Sequence[str]) -> Vectors:
        answer = self._ask(
            lambda client: (
                client.embed(
                    self._model, list(texts), truncate=True, keep_alive=self._keep_alive
                ).embeddings
            )
        )
        try:
            vectors = np.array(answer, dtype=np.float32)
        except ValueError:  # rows of different lengths
            raise self._malformed() from None
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise self._malformed()
        return normalise(vectors)

    def _ask(self, question: Callable[[ollama.Client], _Answer]) -> _Answer:
        written = os.environ.get("OLLAMA_HOST") if self._host is None else self._host
        endpoint = parse_host(written)
        self._probe(endpoint)
        import ollama  # 0.5 s, hence not at the top

        with ExitStack() as stack:
            client = ollama.Client(
                endpoint.url, timeout=self._timeouts_s, trust_env=not endpoint.is_loopback
            )
            stack.callback(getattr(client, "close", lambda: None))  # since ollama 0.6
            stack.enter_context(self._mapped_errors(endpoint))
            return question(client)

    def _probe(self, endpoint: Endpoint) -> None:
        """Open and close one connection: tells in milliseconds whether anything listens."""
        try:
            address = (endpoint.host, endpoint.port)
            socket.create_connection(address, timeout=self._timeouts_s[0]).close()
        except (OSError, UnicodeError, OverflowError):
            raise self._no_server(endpoint) from None

    @contextmanager
    def _mapped_errors(self, endpoint: Endpoint) -> Iterator[None]:
        import httpx
        import ollama

        try:
            yield
        except ollama.ResponseError as error:
            if error.status_code == _NOT_FOUND:
                raise self._missing_model() from None
            said = " ".join(str(error.error).split())[:200]
            raise ModelError(
                f"the Ollama server refused: {said or f'status {error.status_code}'}",
                remedy="see the log of `ollama serve`, or name a model that makes embeddings",
            ) from None
        except httpx.TimeoutException:
            raise EncoderUnavailableError(
                f"the Ollama server at {endpoint.url} was silent for {self._timeouts_s[1]:g} s",
                remedy="restart `ollama serve`, or name a smaller model",
            ) from None
        except (ConnectionError, httpx.ConnectError):
            raise self._no_server(endpoint) from None
        except (httpx.HTTPError, ValueError, TypeError, AttributeError):
            # Not JSON, or JSON of another shape: the client lets its own surprise through.
            raise self._malformed() from None

    def _no_server(self, endpoint: Endpoint) -> EncoderUnavailableError:
        return EncoderUnavailableError(
            f"no Ollama server answers at {endpoint.url}",
            remedy=f"start it with `ollama serve`, then type `ollama pull {self._model}`",
        )

    def _missing_model(self) -> EncoderUnavailableError:
        return EncoderUnavailableError(
            f"the Ollama server has no model {self._model}",
            remedy=f"type `ollama pull {self._model}`",
        )

    def _malformed(self) -> ModelError:
        return ModelError(
            f"the Ollama server sent no valid vectors for {self._model}",
            remedy="update Ollama, or name a model that makes embeddings",
        )
