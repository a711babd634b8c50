"""Chat through any endpoint that speaks OpenAI's chat completions; built by the pipeline only.

llama.cpp, vLLM, LM Studio and hosted services do. httpx takes a quarter of a second to import, so
it is imported when it is used.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragmachine.errors import ModelError

from .chat import DroppedConnectionError, Message, ModelUnavailableError, Reply
from .collector import ReplyCollector
from .completions import BrokenOffError, MalformedError, RefusedError, complete, request_body
from .endpoint import Endpoint, parse_base_url
from .endpoint_errors import TEMPORARY, refusal
from .ollama_api import probe
from .tokens import estimate_tokens

if TYPE_CHECKING:
    import httpx

_LONGEST_WAIT_S = 5.0
_OPTIONAL = ("chat_template_kwargs", "temperature", "response_format", "stream_options")


class OpenAIChat:
    """Asks one model of one endpoint.

    The key is read from ``OPENAI_API_KEY`` at each call, sent as a header, and kept nowhere; it is
    taken out of whatever the endpoint says before that is shown. Redirects are not followed.

    Args:
        model: name as the endpoint knows it.
        base_url: as in ``OPENAI_BASE_URL``, which is read when this is None; usually ends in
            ``/v1``.
        timeout_s: longest silence of the endpoint, in seconds.
        connect_timeout_s: longest wait for a connection, in seconds.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        timeout_s: float = 120.0,
        connect_timeout_s: float = 5.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = model
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._sleep = sleep
        self._unknown: set[str] = set()  # optional parameters that the endpoint refused

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

        Tried once more, unless something was shown: after a dropped connection, and where the
        endpoint is busy and asks for at most five seconds of patience.
        """
        written = os.environ.get("OPENAI_BASE_URL") if self._base_url is None else self._base_url
        endpoint = parse_base_url(written)
        if endpoint.is_loopback and not probe(endpoint, self._connect_timeout_s):
            raise _no_endpoint(endpoint)
        body = request_body(
            self.name,
            messages,
            max_tokens=max_tokens,
            temperature=temperature,
            schema=schema,
            is_streamed=on_token is not None,
        )
        silence_s = self._timeout_s if timeout_s is None else timeout_s
        with self._opened(endpoint, silence_s) as client:
            return self._ask(_Question(client, endpoint, body, silence_s), on_token)

    def count_tokens(self, text: str) -> int:
        """An estimate: the format has no way to count; see `estimate_tokens`."""
        return estimate_tokens(text)

    def _opened(self, endpoint: Endpoint, silence_s: float) -> httpx.Client:
        import httpx

        key = _key()
        if not key.isascii() or not key.isprintable():
            raise ModelUnavailableError(
                "OPENAI_API_KEY holds characters that no key has", remedy="set it anew"
            )
        return httpx.Client(
            base_url=endpoint.url + "/",
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(silence_s, connect=self._connect_timeout_s, pool=None),
            trust_env=not endpoint.is_loopback,
            follow_redirects=False,
        )

    def _ask(self, question: _Question, on_token: Callable[[str], None] | None) -> Reply:
        """Send it until it is answered, or there is no use in it any more."""
        may_retry = True
        while True:
            collector = ReplyCollector(self.name, on_token)
            try:
                is_truncated = self._attempt(question, collector)
            except DroppedConnectionError:
                if collector.has_shown or not may_retry:
                    raise
                may_retry = False
            except RefusedError as error:
                if not collector.has_shown and self._learns(error, question.body):
                    continue
                wait_s = _patience_s(error)
                if collector.has_shown or not may_retry or wait_s is None:
                    raise self._refused(question, error) from None
                may_retry = False
                self._sleep(wait_s)
            else:
                is_prose = "response_format" not in question.body
                return collector.finish(is_truncated=is_truncated, is_prose=is_prose)

    def _attempt(self, question: _Question, collector: ReplyCollector) -> bool:
        """One request; every failure but a refusal leaves as a ModelError."""
        import httpx

        sent = {name: value for name, value in question.body.items() if name not in self._unknown}
        if "max_tokens" in self._unknown:
            sent["max_completion_tokens"] = question.body["max_tokens"]
        url = question.endpoint.url
        try:
            return complete(question.client, sent, collector)
        except httpx.ConnectError:
            raise _no_endpoint(question.endpoint) from None
        except httpx.TimeoutException:
            raise ModelUnavailableError(
                f"the endpoint {url} was silent for {round(question.silence_s, 2):g} s",
                remedy="allow it longer with --llm_timeout_s, or ask a smaller model",
            ) from None
        except (httpx.NetworkError, httpx.RemoteProtocolError, BrokenOffError):
            raise DroppedConnectionError(
                f"the endpoint {url} broke off its answer", remedy="see its log"
            ) from None
        except (httpx.HTTPError, MalformedError):
            raise ModelError(
                f"the endpoint {url} sent no valid answer for {self.name}",
                remedy="see that OPENAI_BASE_URL names it; it usually ends in /v1",
            ) from None

    def _refused(self, question: _Question, error: RefusedError) -> ModelError:
        max_tokens = question.body["max_tokens"]
        return refusal(question.endpoint, self.name, error, key=_key(), max_tokens=max_tokens)

    def _learns(self, error: RefusedError, body: dict[str, Any]) -> bool:
        """Whether a parameter was refused that can be left out or renamed from now on."""
        if error.status not in (400, 422) or error.is_too_long:
            return False
        known = [name for name in _OPTIONAL if name in body and name not in self._unknown]
        refused = {name for name in known if name in error.words}
        if "max_completion_tokens" in error.words and "max_tokens" not in self._unknown:
            refused.add("max_tokens")
        self._unknown |= refused
        return bool(refused)


@dataclass(frozen=True, slots=True)
class _Question:
    client: httpx.Client
    endpoint: Endpoint
    body: dict[str, Any]
    silence_s: float


def _key() -> str:
    return os.environ.get("OPENAI_API_KEY", "").strip()


def _patience_s(error: RefusedError) -> float | None:
    """How long to wait before the second try; None where there is to be none."""
    wait_s = error.retry_after_s
    is_short = wait_s is not None and wait_s <= _LONGEST_WAIT_S
    return wait_s if error.status in TEMPORARY and is_short else None


def _no_endpoint(endpoint: Endpoint) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"no endpoint answers at {endpoint.url}",
        remedy="start the server, or mend OPENAI_BASE_URL",
    )
