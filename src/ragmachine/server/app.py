"""Makes the application of a pipeline; whoever listens for it is `run`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ragmachine import __version__
from ragmachine.server.ask_routes import ask_routes
from ragmachine.server.bodies import BodyLimits
from ragmachine.server.builds import ProcessBuild
from ragmachine.server.generation import AbandonedError
from ragmachine.server.guard import Guard
from ragmachine.server.ingest_routes import ingest_routes
from ragmachine.server.jobs import Build
from ragmachine.server.mcp_mount import PATH, McpMount
from ragmachine.server.openai_routes import openai_routes
from ragmachine.server.openapi import describe
from ragmachine.server.options import ServerOptions
from ragmachine.server.pages import add_pages
from ragmachine.server.problems import add_problem_handlers
from ragmachine.server.served import ServedPipeline
from ragmachine.server.service import Service
from ragmachine.server.source_routes import source_routes
from ragmachine.server.status_routes import status_routes
from ragmachine.server.streams import ClientGoneError
from ragmachine.server.tracing import Tracing

_ABOUT = (
    "Ask a folder of code and documents a question: the right lines in milliseconds, and an"
    " answer tied to them."
)
_CLIENT_GONE = 499  # nobody reads it; the log does


def create_app(
    pipeline: ServedPipeline, options: ServerOptions | None = None, *, build: Build | None = None
) -> FastAPI:
    """The application of a pipeline.

    Args:
        pipeline: searches and answers.
        options: what is allowed.
        build: indexes folders on request; by default in a process of its own.
    Returns: an ASGI application; `app.state.service` is its `Service` once it has started.
    """
    options = options or ServerOptions()
    service = Service(pipeline, options, build or ProcessBuild(pipeline.settings))
    mcp = McpMount(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(service.stop)
            await service.start()
            stack.push_async_callback(mcp.close)
            yield

    app = FastAPI(
        title="ragmachine",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    makers = (ask_routes, source_routes, ingest_routes, status_routes, openai_routes)
    for make in makers:
        app.include_router(make(service))
    app.router.routes.append(Route(PATH, mcp, include_in_schema=False))
    add_pages(app)
    describe(app)
    add_problem_handlers(app)
    for gone in (ClientGoneError, AbandonedError):
        app.add_exception_handler(gone, _gone)
    app.add_middleware(BodyLimits, options=options)
    app.add_middleware(Guard, options=options)
    app.add_middleware(Tracing, metrics=service.metrics)
    return app


async def _gone(_: Request, error: Exception) -> Response:
    return Response(status_code=_CLIENT_GONE)
