"""Listens on an address until a signal ends it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from ragmachine.errors import RagError
from ragmachine.server.logs import configure_logs
from ragmachine.server.options import ServerOptions

_BACKLOG = 1024
_MOST_CONNECTIONS = 1024
_GRACE_S = 10


def serve(app: ASGIApp, options: ServerOptions, on_ready: Callable[[str], None]) -> None:
    """Answer requests until SIGINT or SIGTERM; those that run then have some seconds to end.

    Args:
        app: what `create_app` made.
        options: where to listen.
        on_ready: called with the address once requests are taken.
    Raises: RagError: the address cannot be had.
    """
    listener = _listen(options.host, options.port)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    configure_logs()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # anybody could write them
        lifespan="on",
        ws="none",
        backlog=_BACKLOG,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_S,
    )
    server = _Server(config, lambda: on_ready(f"http://{shown}:{port}"))
    with contextlib.suppress(KeyboardInterrupt):  # raised again once all has ended well
        server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """Tells when it listens."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._on_ready()


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
        except OSError:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RagError(
            f"cannot listen on {host} port {port}: {reason}",
            remedy="end what uses it, or choose another with --port (0 takes a free one)",
        ) from error
    listener.setblocking(False)
    return listener
