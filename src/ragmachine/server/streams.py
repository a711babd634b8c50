"""Server-sent events, and work that ends when the client leaves."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from ragmachine.server.problems import encoded

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_Result = TypeVar("_Result")
_KEEP_ALIVE_S = 15.0
_END = object()

Tell = Callable[[str], None]


class ClientGoneError(Exception):
    """The client left before its answer was there."""


class EventStream(Response):
    """Sends what a generator yields, and closes the generator when the client leaves.

    Args:
        events: bytes of whole events, see `event`.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(headers={"x-accel-buffering": "no", "cache-control": "no-store"})
        del self.headers["content-length"]
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; a comment where there is none for a while, so that proxies wait."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        sending = asyncio.ensure_future(self._send_all(send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _ended(leaving)
            if not sending.done():
                await _ended(sending)
            await self._events.aclose()
        if not sending.cancelled():
            with contextlib.suppress(OSError):  # the connection broke
                sending.result()

    async def _send_all(self, send: Send) -> None:
        following = asyncio.ensure_future(anext(self._events, _END))
        try:
            while True:
                done, _ = await asyncio.wait({following}, timeout=_KEEP_ALIVE_S)
                block = following.result() if done else b": still here\n\n"
                if block is _END:
                    break
                await send({"type": "http.response.body", "body": block, "more_body": True})
                if done:
                    following = asyncio.ensure_future(anext(self._events, _END))
            await send({"type": "http.response.body", "body": b""})
        finally:
            await _ended(following)


def event(name: str, document: object) -> bytes:
    """One event: its name, and a document as JSON, which holds no line end."""
    return b"event: %s\ndata: %s\n\n" % (name.encode("ascii"), encoded(document))


def announced(about: str) -> dict[str, Any]:
    """An answer that may be a stream, for the OpenAPI document: the schema is of each event."""
    text = {"type": "string"}
    schema = {"type": "object", "properties": {"event": text, "data": text}, "required": ["data"]}
    return {"description": about, "content": {"text/event-stream": {"schema": schema}}}


async def pieces_of(
    work: Callable[[Tell], Awaitable[_Result]],
) -> AsyncGenerator[str | tuple[_Result], None]:
    """What work tells while it runs, then its result in a tuple of one.

    Closing the generator cancels the work.

    Args:
        work: is given a function that may be called in any thread.
    Raises: what the work raises, after what it told.
    """
    loop = asyncio.get_running_loop()
    told: asyncio.Queue[Any] = asyncio.Queue()

    def tell(piece: str) -> None:
        loop.call_soon_threadsafe(told.put_nowait, piece)

    task = asyncio.ensure_future(work(tell))
    # in the loop's order: what was told in the work's thread comes before its end
    task.add_done_callback(lambda _: loop.call_soon(told.put_nowait, _END))
    try:
        while (piece := await told.get()) is not _END:
            yield piece
        yield (task.result(),)
    finally:
        await _ended(task)


async def while_connected(request: Request, work: Coroutine[Any, Any, _Result]) -> _Result:
    """Wait for work, and cancel it when the client leaves.

    Raises: ClientGoneError: it left; and what the work raises.
    """
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request.receive))
    try:
        await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGoneError
    finally:
        await _ended(leaving)
        await _ended(task)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _ended(task: asyncio.Future[Any]) -> None:
    """Cancel a task and wait until it is over, whatever it comes to."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.exception()  # seen: nothing is logged as never retrieved
