"""How the server listens and what it allows, as plain values handed down by `commands.serving`."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

MAX_K = 100
MAX_QUERY_CHARS = 8_000
MAX_FILTER_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What a server allows; sizes in bytes, times in seconds.

    Attributes:
        host: address to listen on.
        port: 0 takes a free one.
        token: what clients have to send as a bearer token; "" for none.
        allowed_hosts: names of this server beside IP addresses and ``localhost``.
        cors_origins: pages of other origins that may call, e.g. ``https://wiki.example``.
        max_body_bytes: of a JSON request.
        max_upload_bytes: of an upload, all of its files together.
        request_timeout_s: longest work for a request that asks no model, and longest silence of a
            client that is sending.
        answer_timeout_s: longest time of an answer, waiting included.
        requests_per_minute: of one address; 0 for any number.
        answers_at_once: questions that the model is asked at the same time.
        answers_waiting: questions that may wait for that.
        searches_at_once: threads that search.
        collections_open: named indexes that are kept open beside the server's own.
        ingest_roots: folders that may be indexed on request; the indexed one always may.
        upload_dir: where uploads go; "" for ``uploads`` in the indexed folder.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str = field(default="", repr=False)
    allowed_hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    max_body_bytes: int = 1_000_000
    max_upload_bytes: int = 100_000_000
    request_timeout_s: float = 60.0
    answer_timeout_s: float = 600.0
    requests_per_minute: int = 60_000
    answers_at_once: int = 1
    answers_waiting: int = 8
    searches_at_once: int = 1
    collections_open: int = 4
    ingest_roots: tuple[str, ...] = ()
    upload_dir: str = ""


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this computer alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
