"""How much a client may send, and for how long it may keep silent while it does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from ragmachine.server.problems import ProblemError, problem_response, request_id_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ragmachine.server.options import ServerOptions

UPLOAD_PATH = "/ingest/upload"
_ENVELOPE_BYTES = 100_000  # what multipart writes around the files


class BodyLimits:
    """Refuses bodies that are too long, whether they say so or not, and senders that stop.

    Args:
        app: what answers.
        options: what is allowed.
    """

    def __init__(self, app: ASGIApp, options: ServerOptions) -> None:
        self._app = app
        self._options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._options.max_body_bytes
        if scope["path"] == UPLOAD_PATH:
            limit = self._options.max_upload_bytes + _ENVELOPE_BYTES
        body = _Body(receive, limit, self._options.request_timeout_s)
        length = Headers(scope=scope).get("content-length", "0")
        try:
            if not length.isdecimal() or int(length) > limit:
                raise too_long(limit)
            await self._app(scope, body.receive, send)
        except ProblemError as problem:  # outside of what FastAPI catches
            response = problem_response(problem, request_id_of(scope), path=scope["path"])
            await response(scope, receive, send)


class _Body:
    def __init__(self, receive: Receive, limit: int, timeout_s: float) -> None:
        self._receive = receive
        self._limit = limit
        self._timeout_s = timeout_s
        self._seen = 0
        self._is_whole = False

    async def receive(self) -> Message:
        """The next part of the body; what follows it has all the time."""
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout(self._timeout_s):
                message = await self._receive()
        except TimeoutError:
            raise ProblemError(
                408,
                "too_slow",
                f"nothing of the request came for {self._timeout_s:g} s",
                remedy="send it again over a better connection",
            ) from None
        if message["type"] == "http.request":
            self._seen += len(message.get("body", b""))
            self._is_whole = not message.get("more_body", False)
            if self._seen > self._limit:
                raise too_long(self._limit)
        return message


def too_long(limit: int) -> ProblemError:
    """The refusal of a body over a limit in bytes."""
    return ProblemError(
        413,
        "too_long",
        f"the request is longer than {limit:,} bytes",
        remedy="send less, or start the server with a larger --max_body_bytes"
        " or --max_upload_bytes",
    )
