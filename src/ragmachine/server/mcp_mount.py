"""MCP over HTTP at /mcp; nothing of it is imported before an agent asks."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from ragmachine.server.problems import ProblemError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import Receive, Scope, Send

    from ragmachine.server.service import Service

PATH = "/mcp"


class McpMount:
    """An ASGI application that makes the MCP server when it is first asked.

    Args:
        service: searches and answers.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._app: Starlette | None = None
        self._opening = asyncio.Lock()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request.

        Raises: ProblemError: 501, the SDK is not installed.
        """
        app = await self._opened()
        await app(scope, receive, send)

    async def close(self) -> None:
        """End its sessions."""
        self._closing.set()
        if self._task:
            await asyncio.wait({self._task})

    async def _opened(self) -> Starlette:
        async with self._opening:
            if self._app is None:
                app = await asyncio.to_thread(self._make)
                ready = asyncio.Event()
                self._task = asyncio.create_task(self._keep(app, ready))
                waiting = asyncio.create_task(ready.wait())
                await asyncio.wait({self._task, waiting}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await waiting
                self._app = app
        return self._app

    async def _keep(self, app: Starlette, ready: asyncio.Event) -> None:
        """Hold the sessions' task group open; it must end in the task that began it."""
        async with app.router.lifespan_context(app):
            ready.set()
            await self._closing.wait()

    def _make(self) -> Starlette:
        try:
            from mcp.server.transport_security import TransportSecuritySettings

            from ragmachine.server.mcp_server import make_mcp
        except ImportError:
            raise ProblemError(
                501,
                "no_mcp",
                "the MCP server is an extra that is not installed",
                remedy="pip install 'ragmachine[mcp]'",
            ) from None
        return make_mcp(self._service).streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            json_response=True,
            # hosts, origins, tokens and lengths are checked before anything comes here
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
