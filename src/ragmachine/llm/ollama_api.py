"""One Ollama server: whether it listens, the official client for it, and its failures in words.

The official client takes half a second to import, so it is imported when a server is known to
listen, and not before: without a server a question costs milliseconds.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from ragmachine.errors import ModelError

from .chat import DroppedConnectionError, ModelUnavailableError
from .endpoint import Endpoint, parse_host

if TYPE_CHECKING:
    import ollama

_NOT_FOUND = 404
_SHOWN_CHARS = 200
_OUT_OF_MEMORY = re.compile(
    r"out of memory|requires more system memory|(?:not enough|insufficient) memory"
    r"|(?:unable|failed) to allocate|cannot allocate|signal: killed",
    re.IGNORECASE,
)


def probe(endpoint: Endpoint, timeout_s: float) -> bool:
    """Open and close one connection: tells in milliseconds whether anything listens."""
    try:
        socket.create_connection((endpoint.host, endpoint.port), timeout=timeout_s).close()
    except (OSError, UnicodeError, OverflowError):
        return False
    return True


class ThinkRefusedError(Exception):
    """The server or the model does not know the `think` parameter."""


class OllamaServer:
    """A server, as one model's client meets it.

    Args:
        model: what it is asked for, to be named in errors.
        host: as in ``OLLAMA_HOST``, which is read at each call when this is None.
        connect_timeout_s: longest wait for a connection, in seconds.
    """

    def __init__(self, model: str, host: str | None, connect_timeout_s: float) -> None:
        self._model = model
        self._host = host
        self._connect_timeout_s = connect_timeout_s

    @property
    def endpoint(self) -> Endpoint:
        """Where it listens.

        Raises: ModelUnavailableError: what names it is no address.
        """
        return parse_host(os.environ.get("OLLAMA_HOST") if self._host is None else self._host)

    @contextmanager
    def opened(self, timeout_s: float) -> Iterator[ollama.Client]:
        """A client that is closed in the end; its failures are left as they are.

        Args:
            timeout_s: longest silence, in seconds.
        Raises: ModelUnavailableError: nothing listens.
        """
        endpoint = self.endpoint
        if not probe(endpoint, self._connect_timeout_s):
            raise self._no_server()
        import ollama  # 0.5 s, hence not at the top

        client = ollama.Client(
            endpoint.url,
            timeout=(self._connect_timeout_s, timeout_s, timeout_s, None),
            trust_env=not endpoint.is_loopback,
        )
        with ExitStack() as stack:
            stack.callback(getattr(client, "close", lambda: None))  # since ollama 0.6
            yield client

    @contextmanager
    def mapped_errors(self, timeout_s: float) -> Iterator[None]:
        """Turn every failure of the client into a ModelError, or into a ThinkRefusedError."""
        import httpx
        import ollama

        try:
            yield
        except ollama.ResponseError as error:
            raise self._refused(error) from None
        except httpx.TimeoutException:
            raise ModelUnavailableError(
                f"the Ollama server at {self.endpoint.url} was silent for"
                f" {round(timeout_s, 2):g} s",
                remedy="restart `ollama serve`, or ask a smaller model",
            ) from None
        except (httpx.NetworkError, httpx.RemoteProtocolError, ConnectionError) as error:
            if isinstance(error, httpx.ConnectError) or type(error) is ConnectionError:
                raise self._no_server() from None  # the client's own word for ConnectError
            raise self.dropped() from None
        except (httpx.HTTPError, ValueError, TypeError, AttributeError):
            # Not JSON, or JSON of another shape: the client lets its own surprise through.
            raise ModelError(
                f"the Ollama server sent no valid answer for {self._model}",
                remedy="update Ollama, and see that OLLAMA_HOST names it",
            ) from None

    def dropped(self) -> DroppedConnectionError:
        """The error for an answer without an end."""
        return DroppedConnectionError(
            f"the Ollama server broke off its answer for {self._model}",
            remedy="restart `ollama serve`, and update it if this goes on",
        )

    def _no_server(self) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"no Ollama server answers at {self.endpoint.url}",
            remedy=f"start it with `ollama serve`, then type `ragmachine pull {self._model}`",
        )

    def _refused(self, error: ollama.ResponseError) -> Exception:
        message = " ".join(str(error.error).split())[:_SHOWN_CHARS]
        if "think" in message.lower() and error.status_code != _NOT_FOUND:
            return ThinkRefusedError(message)
        if error.status_code == _NOT_FOUND:
            return ModelUnavailableError(
                f"the Ollama server has no model {self._model}",
                remedy=f"type `ragmachine pull {self._model}`",
            )
        if "manifest" in message and "not exist" in message:
            return ModelError(
                f"there is no model {self._model} to be pulled",
                remedy="see the names at ollama.com/library",
            )
        if _OUT_OF_MEMORY.search(message):
            return ModelUnavailableError(
                f"the model {self._model} does not fit into the memory of the Ollama server",
                remedy="ask a smaller one with --model, or show it less with --context_chars",
            )
        return ModelError(
            f"the Ollama server refused: {message or f'status {error.status_code}'}",
            remedy="see the log of `ollama serve`, or ask another model",
        )
