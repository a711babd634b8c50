"""What the tests of encoders share."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest
from embedding_server import EmbedHandler, FakeEmbedder


@pytest.fixture
def embedder() -> Iterator[FakeEmbedder]:
    """A running fake server on a free port of the loopback address."""
    fake = FakeEmbedder()
    handler = type("Handler", (EmbedHandler,), {"fake": fake})
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    fake.host = f"127.0.0.1:{httpd.server_address[1]}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield fake
    fake.released.set()
    httpd.shutdown()
    thread.join()
    httpd.server_close()
