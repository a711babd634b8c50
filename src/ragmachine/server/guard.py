"""Who may ask: the host's name, the page's origin, the token, and how often."""

from __future__ import annotations

import hmac
import ipaddress
import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from ragmachine.server.problems import ProblemError, problem_response, request_id_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ragmachine.server.options import ServerOptions

# What a browser needs before anybody can type a token, and what a supervisor asks.
_OPEN = frozenset({"/", "/favicon.ico", "/health", "/ready"})
_OPEN_BELOW = "/static/"
_MOST_CLIENTS = 10_000
_CORS_HEADERS = {
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": "authorization, content-type, x-request-id, mcp-session-id,"
    " mcp-protocol-version, last-event-id",
    "access-control-max-age": "600",
}


class Guard:
    """Lets an application see only requests that may be answered.

    - The header Host must be an IP address, ``localhost`` or a name of this server: a page of
      another name that was pointed here (DNS rebinding) asks in vain.
    - A request that a browser sends for another site's page is refused, unless its origin is
      allowed or a person followed a link.
    - Where there is a token, it must be sent; it is compared in constant time.
    - One address may ask only so often.

    Args:
        app: what answers.
        options: what is allowed.
    """

    def __init__(self, app: ASGIApp, options: ServerOptions) -> None:
        self._app = app
        self._options = options
        self._names = {name.lower().rstrip(".") for name in options.allowed_hosts} | {"localhost"}
        self._origins = {origin.lower().rstrip("/") for origin in options.cors_origins}
        self._rate = RateLimit(options.requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] == "websocket":  # there is none
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin", "").lower()
        is_cors = bool(origin) and origin in self._origins
        try:
            self._check(scope, headers, is_cors=is_cors)
        except ProblemError as problem:
            response = problem_response(problem, request_id_of(scope), path=scope["path"])
            await response(scope, receive, _with_cors(send, origin) if is_cors else send)
            return
        if not is_cors:
            await self._app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            await Response(status_code=204)(scope, receive, _with_cors(send, origin))
        else:
            await self._app(scope, receive, _with_cors(send, origin))

    def _check(self, scope: Scope, headers: Headers, *, is_cors: bool) -> None:
        host = _single(headers, "host")
        self._check_host(host)
        if not is_cors:
            _check_origin(scope, headers, host)
        wait_s = self._rate.wait_s((scope.get("client") or ("",))[0])
        if wait_s:
            raise ProblemError(
                429,
                "too_many_requests",
                f"one address may ask {self._rate.per_minute} times a minute",
                remedy=f"wait {wait_s} s, or start the server with a larger --rate_limit",
                headers={"Retry-After": str(wait_s)},
            )
        is_preflight = is_cors and scope["method"] == "OPTIONS"
        if self._options.token and not _is_open(scope["path"]) and not is_preflight:
            self._check_token(headers)

    def _check_host(self, host: str) -> None:
        name = host_name(host)
        if name is None or not (name in self._names or _is_address(name)):
            raise ProblemError(
                421,
                "unknown_host",
                f"this server does not go by the name {name or host!r}",
                remedy="ask for its IP address, or start it with --allowed_hosts NAME",
            )

    def _check_token(self, headers: Headers) -> None:
        kind, _, given = headers.get("authorization", "").partition(" ")
        expected = self._options.token.encode("utf-8")
        is_same = hmac.compare_digest(given.strip().encode("latin-1", "replace"), expected)
        if kind.lower() != "bearer" or not is_same:
            raise ProblemError(
                401,
                "token_required",
                "the token is missing or is not the one that this server was started with",
                remedy="send the header Authorization: Bearer TOKEN, with the value of"
                " RAG_API_TOKEN",
                headers={"WWW-Authenticate": 'Bearer realm="ragmachine"'},
            )


class RateLimit:
    """A bucket of requests for each address, refilled evenly.

    Args:
        per_minute: requests a minute, and at once; 0 for any number.
    """

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        self._buckets: dict[str, tuple[float, float]] = {}  # requests left, as of when

    def wait_s(self, client: str) -> int:
        """Take one request; 0 where it may pass, else seconds until one may."""
        if not self.per_minute:
            return 0
        now = time.monotonic()
        left, as_of = self._buckets.pop(client, (float(self.per_minute), now))
        per_s = self.per_minute / 60
        left = min(left + (now - as_of) * per_s, float(self.per_minute))
        is_allowed = left >= 1
        self._buckets[client] = (left - 1 if is_allowed else left, now)  # now the youngest
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.pop(next(iter(self._buckets)))
        return 0 if is_allowed else max(int((1 - left) / per_s + 0.999), 1)


def host_name(host: str) -> str | None:
    """The name in a Host header, lower-case, without its port; None where it is none."""
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        is_well = bool(bracket) and (not port or (port[1:].isdecimal() and port[0] == ":"))
        return name.lower() if is_well else None
    name, colon, port = host.partition(":")
    if not name or (colon and not port.isdecimal()):
        return None
    return name.lower().rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _single(headers: Headers, name: str) -> str:
    values = headers.getlist(name)
    return values[0] if len(values) == 1 else ""


def _check_origin(scope: Scope, headers: Headers, host: str) -> None:
    """Refuse what a browser sends on behalf of another site."""
    origin = headers.get("origin")
    if origin is not None and _authority(origin) != _authority(f"//{host}"):
        raise _cross_site("a page of another origin")
    site = headers.get("sec-fetch-site", "none")
    is_followed_link = (
        headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
        and scope["method"] in ("GET", "HEAD")
    )
    if site not in ("same-origin", "none") and not is_followed_link:
        raise _cross_site("a page of another site")


def _cross_site(who: str) -> ProblemError:
    return ProblemError(
        403,
        "cross_site",
        f"{who} may not call this server",
        remedy="open the server's own page, or start it with --cors_origins ORIGIN",
    )


def _authority(url: str) -> str | None:
    """Host and port of an origin; those of http and https are left out. None for ``null``."""
    _, slashes, authority = url.partition("//")
    if not slashes or not authority:
        return None
    for port in (":80", ":443"):
        authority = authority.removesuffix(port)
    return authority.lower()


def _is_open(path: str) -> bool:
    return path in _OPEN or (path.startswith(_OPEN_BELOW) and ".." not in path)


def _with_cors(send: Send, origin: str) -> Send:
    async def send_(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["access-control-allow-origin"] = origin
            headers["access-control-expose-headers"] = "x-request-id, retry-after, mcp-session-id"
            headers["cross-origin-resource-policy"] = "cross-origin"
            headers.add_vary_header("Origin")
            for name, value in _CORS_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_
