"""Chat through an Ollama server; built by the pipeline only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragmachine.errors import ModelError

from .chat import DroppedConnectionError, Message, PromptTooLongError, Reply
from .collector import ReplyCollector, as_json
from .ollama_api import OllamaServer, ThinkRefusedError
from .tokens import context_window, estimate_prompt_tokens, estimate_tokens

if TYPE_CHECKING:
    import ollama

_EVERY_MODEL_READS_TOKENS = 2048
_LARGEST_OVERESTIMATE = 3  # an estimate beyond that multiple of a limit is beyond the limit


class OllamaChat:
    """Asks one model of one Ollama server.

    Ollama drops the start of a prompt that is longer than its window without a word. So the window
    is asked for by the prompt's estimated size and, from 2,048 tokens on, at most by what the model
    was trained for; what the server then says that it read is compared with the window.

    Args:
        model: name as ``ollama pull`` takes it.
        host: as in ``OLLAMA_HOST``, which is read when this is None.
        timeout_s: longest silence of the server, in seconds; loading the model counts.
        connect_timeout_s: longest wait for a connection, in seconds.
        keep_alive: how long the server keeps the model in memory after an answer, as ``10m``; a
            number is seconds, and a negative one means for ever.
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
        self._server = OllamaServer(model, host, connect_timeout_s)
        self._timeout_s = timeout_s
        self._keep_alive = _duration(keep_alive)
        self._context_tokens = 0
        self._limit_tokens: int | None = None  # what the model reads; 0 where it is unknown
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

        A connection that is dropped before anything was shown is tried once more. Tokens already
        given to `on_token` cannot be taken back when the server fails later.
        """
        call = _Call(
            messages,
            max_tokens,
            temperature,
            schema=None if schema is None else dict(schema),
            timeout_s=self._timeout_s if timeout_s is None else timeout_s,
            is_streamed=on_token is not None,
        )
        with self._server.opened(call.timeout_s) as client:
            return self._ask(client, call, on_token)

    def count_tokens(self, text: str) -> int:
        """An estimate: Ollama's API counts nothing; see `estimate_tokens`."""
        return estimate_tokens(text)

    def _ask(
        self, client: ollama.Client, call: _Call, on_token: Callable[[str], None] | None
    ) -> Reply:
        """Send it until it is answered, or there is no use in it any more."""
        may_retry = True
        while True:
            collector = ReplyCollector(self.name, on_token)
            try:
                return self._attempt(client, call, collector)
            except ThinkRefusedError as error:
                if not self._takes_think:
                    raise ModelError(f"the Ollama server refused: {error}") from None
                self._takes_think = False
            except DroppedConnectionError:
                if collector.has_shown or not may_retry:
                    raise
                may_retry = False

    def _attempt(self, client: ollama.Client, call: _Call, collector: ReplyCollector) -> Reply:
        prompt_tokens = estimate_prompt_tokens(call.messages)
        window_tokens = self._window(client, prompt_tokens, call)
        read_tokens, written_tokens, reason = 0, 0, None
        for part in self._parts(client, call, window_tokens):
            reason = part.done_reason or reason
            read_tokens = max(read_tokens, part.prompt_eval_count or 0)
            written_tokens = max(written_tokens, part.eval_count or 0)
            collector.add(part.message.content or "")
        # A full window was cut to fit; one that overflowed later lost its start then.
        if read_tokens >= window_tokens or read_tokens + written_tokens > window_tokens:
            self._context_tokens = max(self._context_tokens, context_window(2 * window_tokens))
            needed_tokens = max(prompt_tokens, read_tokens) + call.max_tokens
            raise PromptTooLongError(
                self.name, needed_tokens=needed_tokens, limit_tokens=window_tokens
            )
        collector.count(read_tokens, written_tokens)
        return collector.finish(is_truncated=reason == "length", is_prose=call.schema is None)

    def _window(self, client: ollama.Client, prompt_tokens: int, call: _Call) -> int:
        """The window to ask for, in tokens: a smaller one than before would reload the model."""
        needed = context_window(prompt_tokens + call.max_tokens)
        self._context_tokens = max(self._context_tokens, needed)
        if self._context_tokens <= _EVERY_MODEL_READS_TOKENS:
            return self._context_tokens
        if self._limit_tokens is None:
            self._limit_tokens = self._trained_tokens(client, call.timeout_s)
        limit_tokens = self._limit_tokens or self._context_tokens
        if prompt_tokens > _LARGEST_OVERESTIMATE * limit_tokens:
            needed_tokens = prompt_tokens + call.max_tokens
            raise PromptTooLongError(
                self.name, needed_tokens=needed_tokens, limit_tokens=limit_tokens
            )
        return min(self._context_tokens, limit_tokens)

    def _trained_tokens(self, client: ollama.Client, timeout_s: float) -> int:
        """What the model reads at most, in tokens; 0 when the server does not tell.

        A larger window is cut down by the server to this, which only its log mentions.
        """
        import httpx
        import ollama

        with self._server.mapped_errors(timeout_s):
            try:
                facts = client.show(self.name).modelinfo or {}
                family = facts["general.architecture"]
                return int(facts[f"{family}.context_length"])
            except httpx.TimeoutException:
                raise
            except (ollama.ResponseError, httpx.HTTPError, ConnectionError):
                return 0  # if there is something wrong, `chat` will find it
            except (LookupError, ValueError, TypeError, AttributeError):
                return 0

    def _parts(
        self, client: ollama.Client, call: _Call, window_tokens: int
    ) -> Iterator[ollama.ChatResponse]:
        """The answer in one part or many; every failure of the client leaves as a ModelError.

        A generator, so that an exception of the consumer (a closed pipe) is not taken for one
        of the server.
        """
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [
                {**written, "images": message.images} if message.images else written
                for written, message in zip(as_json(call.messages), call.messages, strict=True)
            ],
            "think": False if self._takes_think else None,
            "format": call.schema,
            "options": {
                "temperature": call.temperature,
                "num_predict": call.max_tokens,
                "num_ctx": window_tokens,
            },
            "keep_alive": self._keep_alive,
        }
        with self._server.mapped_errors(call.timeout_s):
            if not call.is_streamed:
                yield client.chat(**body)
                return
            is_done = False
            for part in client.chat(**body, stream=True):
                is_done = is_done or bool(part.done)
                yield part
        if not is_done:
            raise self._server.dropped()


def _duration(written: str) -> float | str:
    """As the API wants it: a number for a bare number, which as text would lack its unit."""
    try:
        return float(written)
    except ValueError:
        return written


@dataclass(frozen=True, slots=True)
class _Call:
    messages: Sequence[Message]
    max_tokens: int
    temperature: float
    schema: dict[str, Any] | None
    timeout_s: float
    is_streamed: bool
