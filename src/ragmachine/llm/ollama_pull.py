"""Has an Ollama server download a model, and tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragmachine.errors import ModelError

from .ollama_api import OllamaServer, ThinkRefusedError

if TYPE_CHECKING:
    import ollama

_SILENCE_S = 600.0  # checking the hash of a large file says nothing for minutes


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far a download is.

    Attributes:
        status: the server's word for what it does, e.g. ``pulling manifest``.
        done_bytes: bytes that are there, of all files named so far.
        total_bytes: their sum; it grows while the server names more files.
    """

    status: str
    done_bytes: int
    total_bytes: int


def pull_model(
    model: str,
    host: str | None = None,
    *,
    on_progress: Callable[[PullProgress], None] | None = None,
    connect_timeout_s: float = 2.0,
) -> None:
    """Download a model, or bring it up to date; an interrupted download goes on where it was.

    Args:
        model: name as ``ollama pull`` takes it.
        host: as in ``OLLAMA_HOST``, which is read when this is None.
        on_progress: called with every report of the server, several a second.
        connect_timeout_s: longest wait for a connection, in seconds.
    Raises: ModelUnavailableError: no server, or silence for ten minutes; ModelError: there is no
        such model, or the download failed.
    """
    server = OllamaServer(model, host, connect_timeout_s)
    files: dict[str, tuple[int, int]] = {}
    status = ""
    with server.opened(_SILENCE_S) as client:
        for part in _reports(server, client, model):
            status = part.status or status
            if part.digest and part.total:
                files[part.digest] = (part.completed or 0, part.total)
            if on_progress:
                done = sum(done for done, _ in files.values())
                on_progress(PullProgress(status, done, sum(total for _, total in files.values())))
    if status != "success":
        raise server.dropped()


def _reports(
    server: OllamaServer, client: ollama.Client, model: str
) -> Iterator[ollama.ProgressResponse]:
    """What the server says on the way; a generator for the reason that `OllamaChat` has one."""
    try:
        with server.mapped_errors(_SILENCE_S):
            yield from client.pull(model, stream=True)
    except ThinkRefusedError as error:  # a name with that word in it
        raise ModelError(f"the Ollama server refused: {error}") from None
