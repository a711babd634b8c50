"""Chat through an Ollama server; built by the pipeline only.

The official client takes half a second to import, so it is imported when a server is known to
listen, and not before: without a server a question costs milliseconds.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragmachine.errors import ModelError

from .chat import (
    Message,
    ModelUnavailableError,
    Reply,
    ThinkFilter,
    strip_thinking,
    trim_to_sentence,
)
from .endpoint import Endpoint, parse_host

if TYPE_CHECKING:
    import ollama

_CONTEXT_STEP = 1024
_MESSAGE_OVERHEAD_TOKENS = 16
_NOT_FOUND = 404


def estimate_context_tokens(messages: Sequence[Message], max_tokens: int) -> int:
    """Context window that holds the prompt and the answer, in tokens, a multiple of 1,024.

    Three ASCII characters are counted as one token and any other character as one whole, which
    is more than tokenizers need: a server whose window is too small drops the start of the
    prompt, the rules, without a word.
    """
    tokens = max_tokens
    for message in messages:
        ascii_chars = len(message.content.encode("ascii", "ignore"))
        tokens += _MESSAGE_OVERHEAD_TOKENS + ascii_chars // 3 + len(message.content) - ascii_chars
    return -(-tokens // _CONTEXT_STEP) * _CONTEXT_STEP


class OllamaChat:
    """Asks one model of one Ollama server.

    Args:
        model: name as ``ollama pull`` takes it.
        host: as in ``OLLAMA_HOST``, which is read when this is None.
        timeout_s: longest silence of the server, in seconds; loading the model counts.
        connect_timeout_s: longest wait for a connection, in seconds.
        keep_alive: how long the server keeps the model in memory after an answer.
    """

    def __init__(
        self,
        model: str = "qwen3:0.6b",
        host: str | None = None,
        timeout_s: float = 120.0,
        connect_timeout_s: float = 2.0,
        keep_alive: str = "10m",
    ) -> None:
        self.name = model
        self._host = host
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._keep_alive = keep_alive
        self._context_tokens = 0
        self._takes_think = True

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        on_token: Callable[[str], None] | None = None,
        schema: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> Reply:
        """Answer the last message; see `ChatClient.chat`.

        Tokens already given to `on_token` cannot be taken back when the server fails later.
        """
        endpoint = parse_host(os.environ.get("OLLAMA_HOST") if self._host is None else self._host)
        self._probe(endpoint)
        # A smaller window than last time would make the server load the model anew.
        needed = estimate_context_tokens(messages, max_tokens)
        self._context_tokens = max(self._context_tokens, needed)
        options = {
            "temperature": temperature,
            "num_predict": max_tokens,
            "num_ctx": self._context_tokens,
        }
        call = _Call(
            messages,
            options,
            schema=None if schema is None else dict(schema),
            timeout_s=self._timeout_s if timeout_s is None else timeout_s,
            is_streamed=on_token is not None,
        )
        try:
            raw, is_truncated = self._collect(endpoint, call, on_token)
        except _ThinkRefusedError:
            self._takes_think = False
            raw, is_truncated = self._collect(endpoint, call, on_token)
        text = strip_thinking(raw)
        if not text:
            raise ModelError(
                f"the model {self.name} gave an empty answer",
                remedy="allow it more tokens or try another model",
            )
        is_cut_prose = is_truncated and schema is None
        return Reply(trim_to_sentence(text) if is_cut_prose else text, is_truncated, self.name)

    def _probe(self, endpoint: Endpoint) -> None:
        """Open and close one connection: tells in milliseconds whether anything listens."""
        try:
            address = (endpoint.host, endpoint.port)
            socket.create_connection(address, timeout=self._connect_timeout_s).close()
        except (OSError, UnicodeError, OverflowError):
            raise self._no_server(endpoint) from None

    def _no_server(self, endpoint: Endpoint) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"no Ollama server answers at {endpoint.url}",
            remedy=f"start it with `ollama serve`, then type `ollama pull {self.name}`",
        )

    def _collect(
        self, endpoint: Endpoint, call: _Call, on_token: Callable[[str], None] | None
    ) -> tuple[str, bool]:
        """The raw text and whether it was cut; shows visible tokens on the way."""
        import ollama  # 0.5 s, hence not at the top

        think_filter = ThinkFilter()
        pieces: list[str] = []
        reason = None
        with ExitStack() as stack:
            client = ollama.Client(
                endpoint.url,
                timeout=(self._connect_timeout_s, call.timeout_s, call.timeout_s, None),
                trust_env=not endpoint.is_loopback,
            )
            stack.callback(getattr(client, "close", lambda: None))  # since ollama 0.6
            for part in self._parts(client, endpoint, call):
                piece = part.message.content or ""
                reason = part.done_reason or reason
                pieces.append(piece)
                shown = think_filter.feed(piece)
                if on_token and shown:
                    on_token(shown)
        rest = think_filter.flush()
        if on_token and rest:
            on_token(rest)
        return "".join(pieces), reason == "length"

    def _parts(
        self, client: ollama.Client, endpoint: Endpoint, call: _Call
    ) -> Iterator[ollama.ChatResponse]:
        """The answer in one part or many; every failure of the client leaves as a ModelError.

        A generator, so that an exception of the consumer (a closed pipe) is not taken for one
        of the server.
        """
        messages = [{"role": m.role, "content": m.content} for m in call.messages]
        think = False if self._takes_think else None
        is_done = not call.is_streamed
        with self._mapped_errors(endpoint, call.timeout_s):
            if not call.is_streamed:
                yield client.chat(
                    self.name,
                    messages,
                    think=think,
                    format=call.schema,
                    options=call.options,
                    keep_alive=self._keep_alive,
                )
                return
            stream = client.chat(
                self.name,
                messages,
                stream=True,
                think=think,
                format=call.schema,
                options=call.options,
                keep_alive=self._keep_alive,
            )
            for part in stream:
                is_done = is_done or bool(part.done)
                yield part
        if not is_done:
            raise self._malformed()

    @contextmanager
    def _mapped_errors(self, endpoint: Endpoint, timeout_s: float) -> Iterator[None]:
        import httpx
        import ollama

        try:
            yield
        except ollama.ResponseError as error:
            raise self._refused(error) from None
        except httpx.TimeoutException:
            raise ModelUnavailableError(
                f"the Ollama server at {endpoint.url} was silent for {round(timeout_s, 2):g} s",
                remedy="restart `ollama serve`, or ask a smaller model",
            ) from None
        except (ConnectionError, httpx.ConnectError):
            raise self._no_server(endpoint) from None
        except (httpx.HTTPError, ValueError, TypeError, AttributeError):
            # Not JSON, or JSON of another shape: the client lets its own surprise through.
            raise self._malformed() from None

    def _malformed(self) -> ModelError:
        return ModelError(
            f"the Ollama server broke off or sent no valid answer for {self.name}",
            remedy="restart `ollama serve`, and update it if this goes on",
        )

    def _refused(self, error: ollama.ResponseError) -> Exception:
        message = " ".join(str(error.error).split())[:200]
        if self._takes_think and "think" in message.lower() and error.status_code != _NOT_FOUND:
            return _ThinkRefusedError()
        if error.status_code == _NOT_FOUND:
            return ModelUnavailableError(
                f"the Ollama server has no model {self.name}",
                remedy=f"type `ollama pull {self.name}`",
            )
        return ModelError(
            f"the Ollama server refused: {message or f'status {error.status_code}'}",
            remedy="see the log of `ollama serve`, or ask another model",
        )


@dataclass(frozen=True, slots=True)
class _Call:
    messages: Sequence[Message]
    options: dict[str, float]
    schema: dict[str, Any] | None
    timeout_s: float
    is_streamed: bool


class _ThinkRefusedError(Exception):
    """The server or the model does not know the `think` parameter."""
