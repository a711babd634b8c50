"""An HTTP server on a free port of the loopback address, for as long as a test needs it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler], fake: object) -> Iterator[str]:
    """Serve requests; handlers find the fake as their attribute `fake`.

    Whatever a handler waits for must be released before the block ends: its thread is waited for.

    Yields: host and port.
    """
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), {"fake": fake}))
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{httpd.server_address[1]}"
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()
