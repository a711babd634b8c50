"""MCP on stdin and stdout, as editors and agents start it."""

from __future__ import annotations

import asyncio

from ragmachine.server.builds import ProcessBuild
from ragmachine.server.logs import configure_logs
from ragmachine.server.mcp_server import make_mcp
from ragmachine.server.options import ServerOptions
from ragmachine.server.served import ServedPipeline
from ragmachine.server.service import Service


def serve_stdio(pipeline: ServedPipeline, options: ServerOptions) -> None:
    """Answer until stdin ends; logs go to stderr, stdout belongs to the protocol."""
    configure_logs()
    asyncio.run(_serve(pipeline, options))


async def _serve(pipeline: ServedPipeline, options: ServerOptions) -> None:
    service = Service(pipeline, options, ProcessBuild(pipeline.settings))
    await service.start()
    try:
        await make_mcp(service).run_stdio_async()
    finally:
        await service.stop()
