"""The chat-completions format that most model servers speak: one request, whole or as events.

Knows nothing of addresses and keys: it is given an opened httpx client.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .chat import Message
from .collector import ReplyCollector, as_json

if TYPE_CHECKING:
    import httpx

PATH = "chat/completions"
_TOO_LONG = re.compile(r"context (?:length|window|size)|prompt is too long", re.IGNORECASE)
_TOO_LONG_KINDS = {"context_length_exceeded", "exceed_context_size_error"}


class RefusedError(Exception):
    """The server answered with an error.

    Attributes:
        status: of HTTP; 200 when the error came in the middle of an answer.
        words: the server's own, on one line, "" where there are none.
        is_too_long: whether the prompt is longer than what the model reads.
        prompt_tokens: as the server counted them; 0 where it does not say.
        limit_tokens: what the model reads; 0 where the server does not say.
        retry_after_s: how long the server wants to be left alone; None where it does not say.
    """

    def __init__(self, status: int, body: object, retry_after_s: float | None = None) -> None:
        """The body is the decoded JSON, or the text that is none."""
        error = body.get("error", body) if isinstance(body, Mapping) else body
        fields = error if isinstance(error, Mapping) else {}
        words = fields.get("message") or fields.get("detail") or ("" if fields else error)
        self.status = status
        self.words = " ".join(str(words or "").split())
        kinds = {str(fields.get("code")), str(fields.get("type"))}
        is_client_error = 400 <= status < 500
        self.is_too_long = bool(kinds & _TOO_LONG_KINDS) or (
            is_client_error and _TOO_LONG.search(self.words) is not None
        )
        self.prompt_tokens = _number(fields.get("n_prompt_tokens"))
        self.limit_tokens = _number(fields.get("n_ctx"))
        self.retry_after_s = retry_after_s
        super().__init__(f"status {status}: {self.words}")


class MalformedError(Exception):
    """The server answered with something else than a chat completion."""


class BrokenOffError(Exception):
    """The events ended before the answer did."""


def request_body(
    model: str,
    messages: Sequence[Message],
    *,
    max_tokens: int,
    temperature: float,
    schema: Mapping[str, Any] | None,
    is_streamed: bool,
) -> dict[str, Any]:
    """The JSON of a request; a thinking model is asked not to, as llama.cpp and vLLM take it."""
    body: dict[str, Any] = {
        "model": model,
        "messages": as_json(messages),
        "max_tokens": max_tokens,
        "temperature": temperature,
        "stream": is_streamed,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    if is_streamed:
        body["stream_options"] = {"include_usage": True}  # else nobody says how many tokens it was
    if schema is not None:
        described = {"name": "answer", "schema": dict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": described}
    return body


def complete(client: httpx.Client, body: Mapping[str, Any], collector: ReplyCollector) -> bool:
    """Send one request and gather the answer.

    Args:
        client: its base URL is the one that ends before ``chat/completions``.
        body: see `request_body`.
        collector: receives the pieces; what its listener raises passes through.
    Returns: whether the answer was stopped by its longest length.
    Raises: RefusedError, MalformedError, BrokenOffError, httpx.HTTPError.
    """
    if not body["stream"]:
        response = client.post(PATH, json=body)
        _check(response)
        document = _decoded(response.content)
        text, reason = _choice(document, "message")
        _count(document, collector)
        collector.add(text)
        return reason == "length"
    last_reason = None
    with client.stream("POST", PATH, json=body) as response:
        _check(response)
        for data in event_data(response.iter_bytes()):
            if data == "[DONE]":
                break
            document = _decoded(data)
            text, reason = _choice(document, "delta")
            _count(document, collector)
            last_reason = reason or last_reason
            if text:
                collector.add(text)
    if last_reason is None:
        raise BrokenOffError
    return last_reason == "length"


def event_data(blocks: Iterable[bytes]) -> Iterator[str]:
    """The data of each server-sent event, e.g. ``data: {…}`` and an empty line.

    Lines end with LF or CRLF only: JSON may hold what Python's `splitlines` would cut at. Comments,
    other fields and a last event without its empty line are left out.

    Args:
        blocks: the body, cut anywhere.
    Source: WHATWG HTML, server-sent events, section 9.2.6.
    """
    data: list[bytes] = []
    for line in _lines(blocks):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            yield b"\n".join(data).decode("utf-8", "replace")
            data = []


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r")


def _check(response: httpx.Response) -> None:
    if response.status_code == 200:
        return
    content = response.read()
    try:
        body: object = json.loads(content)
    except ValueError:
        body = ""  # a page of a proxy says nothing to a reader of one line
    raise RefusedError(response.status_code, body, retry_after_s(response.headers))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds of the ``Retry-After`` header, which is a number or a date; None without one."""
    written = headers.get("retry-after", "").strip()
    try:
        return max(float(written), 0.0)
    except ValueError:
        pass
    try:
        until = email.utils.parsedate_to_datetime(written).timestamp()
    except (TypeError, ValueError):
        return None
    return max(until - time.time(), 0.0)


def _decoded(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise MalformedError from None


def _choice(document: Any, part: str) -> tuple[str, str | None]:
    """Text and finish reason of the first choice; events about usage alone have none."""
    if isinstance(document, dict) and document.get("error"):
        raise RefusedError(200, document)
    try:
        choices = document["choices"]
        if not choices and part == "delta":
            return "", None
        text = choices[0][part].get("content") or ""
        reason = choices[0].get("finish_reason")
    except (LookupError, TypeError, AttributeError):
        raise MalformedError from None
    if not isinstance(text, str):
        raise MalformedError
    return text, reason


def _count(document: Mapping[str, Any], collector: ReplyCollector) -> None:
    """Hand on what a server says about tokens; streams say it in their last event, or never."""
    usage = document.get("usage")
    if isinstance(usage, Mapping):
        read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
        collector.count(_number(read), _number(written))


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
