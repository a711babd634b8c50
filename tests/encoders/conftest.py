"""What the tests of encoders share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from embedding_server import EmbedHandler, FakeEmbedder

from loopback import listening


@pytest.fixture
def embedder() -> Iterator[FakeEmbedder]:
    """A running fake server on a free port of the loopback address."""
    fake = FakeEmbedder()
    with listening(EmbedHandler, fake) as fake.host:
        yield fake
        fake.released.set()
