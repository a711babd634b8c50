"""The outermost layer: request ids, security headers, one log line and one count a request."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from ragmachine.server.logs import LOGGER, request_id
from ragmachine.server.problems import problem_of, problem_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ragmachine.server.metrics import Metrics

_LOG = logging.getLogger(LOGGER)
_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_UNMATCHED = "unmatched"
_QUIET = frozenset({"/health", "/ready", "/metrics"})

# Everything of the page comes from here; nothing may frame it, and it may send nothing elsewhere.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; frame-src 'self' blob:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",
}


class Tracing:
    """Wraps an application.

    Args:
        app: what answers.
        metrics: counts.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens inside."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        identity = given if _GIVEN_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = identity
        token = request_id.set(identity)
        answer = _Answer(send, identity)
        started = time.perf_counter()
        try:
            await self._app(scope, receive, answer.send)
        except asyncio.CancelledError:
            answer.is_abandoned = True
            raise
        except Exception as error:  # noqa: BLE001  (logged; the client gets a problem)
            _LOG.exception("unexpected", extra={"fields": {"error": type(error).__name__}})
            await self._failed(scope, receive, answer, error)
        finally:
            self._tell(scope, answer, time.perf_counter() - started)
            request_id.reset(token)

    @staticmethod
    async def _failed(scope: Scope, receive: Receive, answer: _Answer, error: Exception) -> None:
        if answer.status:  # half of an answer is out; the server cuts the connection
            raise error
        response = problem_response(problem_of(error), answer.identity, path=scope["path"])
        await response(scope, receive, answer.send)

    def _tell(self, scope: Scope, answer: _Answer, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", _UNMATCHED)
        status = 499 if answer.is_abandoned else answer.status or 499  # the client has gone
        self._metrics.request(scope["method"], route, status, seconds)
        if status < 400 and route in _QUIET:
            return
        fields = {
            "method": scope["method"],
            "path": scope["path"],  # never the query: people ask for secrets
            "status": status,
            "ms": round(seconds * 1000, 2),
            "client": (scope.get("client") or ("",))[0],
        }
        _LOG.info("request", extra={"fields": fields})


class _Answer:
    """Adds headers to an answer, and remembers its status."""

    def __init__(self, send: Send, identity: str) -> None:
        self._send = send
        self.identity = identity
        self.status = 0
        self.is_abandoned = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self.identity
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)
