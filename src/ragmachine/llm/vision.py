"""Images read by a vision model through an Ollama server; built by the wiring only."""

from __future__ import annotations

import time

from ragmachine.errors import ModelError

from .chat import Message, ModelUnavailableError, PromptTooLongError, Reply
from .ollama import OllamaChat
from .ollama_api import OllamaServer

_MAX_TOKENS = 4096  # a dense page has about 1,500; a model that goes on and on is stopped
_WINDOWS = 3  # that are tried, each twice the one before, for an image that does not fit
_VISION = "vision"
_REMEDY = "name another model with --ocr_model"


class OllamaVision:
    """Asks one vision model of one Ollama server about one image after another.

    A server that is not there, has no such model or falls silent is not asked again.

    Args:
        model: name as ``ollama pull`` takes it.
        host: as in ``OLLAMA_HOST``, which is read when this is None.
        timeout_s: longest silence of the server, in seconds; loading the model counts.
        max_answer_s: longest answer, in seconds from its first word on.
        connect_timeout_s: longest wait for a connection, in seconds.
        keep_alive: how long the server keeps the model in memory after an answer.

    Attributes:
        name: of the model.
        is_available: False once it turned out that there is no use in asking.
    """

    def __init__(
        self,
        model: str,
        host: str | None = None,
        *,
        timeout_s: float = 120.0,
        max_answer_s: float = 600.0,
        connect_timeout_s: float = 2.0,
        keep_alive: str = "10m",
    ) -> None:
        self.name = model
        self.is_available = True
        self._timeout_s = timeout_s
        self._max_answer_s = max_answer_s
        self._server = OllamaServer(model, host, connect_timeout_s)
        self._chat = OllamaChat(model, host, timeout_s, connect_timeout_s, keep_alive)
        self._is_checked = False

    def transcribe(self, prompt: str, image: bytes) -> str:
        """What the model says of an image, by its likeliest words.

        Args:
            prompt: what to do with it.
            image: a PNG or JPEG file.
        Raises: ModelError: there is no answer, or no end of it.
        """
        try:
            self._check()
            reply = self._ask(Message("user", prompt, (image,)))
        except ModelUnavailableError:
            self.is_available = False
            raise
        if reply.is_truncated:
            raise self._endless()
        return reply.text

    def _ask(self, message: Message) -> Reply:
        for _ in range(_WINDOWS):
            try:
                return self._chat.chat([message], max_tokens=_MAX_TOKENS, on_token=self._clock())
            except PromptTooLongError:
                pass  # the client asks for a larger window next time
        raise ModelError(f"the model {self.name} cannot read images of pages", remedy=_REMEDY)

    def _clock(self) -> _Clock:
        return _Clock(self._max_answer_s, self._endless())

    def _check(self) -> None:
        """Ask once whether the model sees at all: those that do not may make something up.

        Raises: ModelUnavailableError: it does not, or is not there.
        """
        if self._is_checked:
            return
        with (
            self._server.opened(self._timeout_s) as client,
            self._server.mapped_errors(self._timeout_s),
        ):
            known = client.show(self.name).capabilities  # older servers do not tell
        self._is_checked = True
        if known and _VISION not in known:
            raise ModelUnavailableError(
                f"the model {self.name} does not read images",
                remedy="name one that does with --ocr_model",
            )

    def _endless(self) -> ModelError:
        return ModelError(f"the model {self.name} came to no end with a page", remedy=_REMEDY)


class _Clock:
    """Listens to an answer, and stops one that takes too long."""

    def __init__(self, seconds: float, error: ModelError) -> None:
        self._seconds = seconds
        self._error = error
        self._deadline = 0.0

    def __call__(self, _: str) -> None:
        now = time.monotonic()
        self._deadline = self._deadline or now + self._seconds
        if now > self._deadline:
            raise self._error
