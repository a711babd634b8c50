"""Where a model server listens, read the way people write it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from .chat import ModelUnavailableError

_PORTS = {"http": 80, "https": 443}
_DEFAULT_PORT = 11434
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - read, not bound


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server listens.

    Attributes:
        scheme: ``http`` or ``https``.
        host: name or address, IPv6 without brackets.
        port: TCP port.
        path: prefix of the API behind a proxy, without slashes around it, usually "".
    """

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def url(self) -> str:
        """The base URL, IPv6 in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}" + (f"/{self.path}" if self.path else "")

    @property
    def is_loopback(self) -> bool:
        """Whether the server is this machine, which no HTTP proxy should come between."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def parse_host(value: str | None) -> Endpoint:
    """Read a host the way ``OLLAMA_HOST`` is written.

    Scheme and port are optional; ``0.0.0.0`` and ``::``, which a server binds to but a client
    cannot ask, become the loopback address. Port 11434, or the scheme's own if one is written.

    Raises: ModelUnavailableError: the value is no address.
    """
    written = (value or "").strip()
    endpoint = _parse(written, _DEFAULT_PORT)
    if endpoint is None:
        raise ModelUnavailableError(
            f"no Ollama server can be named {written!r}",
            remedy="write OLLAMA_HOST as host:port, for example 127.0.0.1:11434",
        )
    return endpoint


def parse_base_url(value: str | None) -> Endpoint:
    """Read a base URL the way ``OPENAI_BASE_URL`` is written, e.g. ``http://127.0.0.1:8080/v1``.

    As `parse_host`, but the port is the scheme's own where none is written. What is refused is not
    shown: a name and a password may stand in it.

    Raises: ModelUnavailableError: there is no value, or it is no address, or holds a password.
    """
    written = (value or "").strip()
    endpoint = _parse(written, _PORTS["http"])
    if not written or endpoint is None or "@" in written or "?" in written:
        raise ModelUnavailableError(
            "OPENAI_BASE_URL is no address of an endpoint" if written else "no endpoint is named",
            remedy="set OPENAI_BASE_URL as in http://127.0.0.1:8080/v1, a key in OPENAI_API_KEY",
        )
    return endpoint


def _parse(written: str, default_port: int) -> Endpoint | None:
    scheme, separator, rest = written.partition("://")
    if not separator:
        scheme, rest = "http", written
    if rest.count(":") > 1 and "[" not in rest:
        rest = f"[{rest}]"
    try:
        parts = urlsplit(f"//{rest}")
        port = parts.port
    except ValueError:
        return None
    if scheme.lower() not in _PORTS or any(c.isspace() for c in rest):
        return None
    host = parts.hostname or ""
    default = _PORTS[scheme.lower()] if separator else default_port
    return Endpoint(
        scheme.lower(), _ANY_ADDRESS.get(host, host), port or default, parts.path.strip("/")
    )
