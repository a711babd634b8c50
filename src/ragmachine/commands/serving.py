"""How settings become a server: what it allows, and the pipeline that it shares."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ragmachine.errors import RagError, UsageError
from ragmachine.settings import FIELDS, TOKEN_VARIABLE, Settings

if TYPE_CHECKING:
    from ragmachine.server.options import ServerOptions

_FAST_AT_ONCE = 4
_FAST_WAITING = 64
# Searches by words hold the interpreter: benchmarks/load.py counts 210 requests a second with one
# thread and 150 with two. Encoders and models leave it to others while they compute.
_SEARCHES_WITH_MODELS = 4


def serve(settings: Settings, on_ready: Callable[[str], None]) -> None:
    """Serve until a signal ends it; see `server.run.serve`.

    Raises: RagError: the extra is missing, or the address cannot be had; UsageError: it is open
        to others and has no token.
    """
    options = server_options(settings, os.environ)
    try:
        from ragmachine.server.app import create_app
        from ragmachine.server.run import serve as listen
        from ragmachine.server.served import ServedPipeline
    except ModuleNotFoundError as error:
        raise _missing(error, "server") from None
    listen(create_app(ServedPipeline(settings), options), options, on_ready)


def serve_mcp(settings: Settings) -> None:
    """Speak MCP on stdin and stdout until stdin ends.

    Raises: RagError: the extra is missing.
    """
    try:
        from ragmachine.server.mcp_stdio import serve_stdio
        from ragmachine.server.served import ServedPipeline
    except ModuleNotFoundError as error:
        raise _missing(error, "mcp") from None
    serve_stdio(ServedPipeline(settings), server_options(settings, {}, is_local=True))


def server_options(
    settings: Settings, environment: Mapping[str, str], *, is_local: bool = False
) -> ServerOptions:
    """What a server allows.

    Args:
        settings: its limits.
        environment: holds the token.
        is_local: nothing listens, so that the address does not matter.
    Raises: UsageError: other computers could ask without a token, and nobody said they may.
    """
    from ragmachine.server.options import ServerOptions, is_loopback

    token = environment.get(TOKEN_VARIABLE, "").strip()
    is_open = not (is_local or is_loopback(settings.host) or token or settings.no_token)
    if is_open:
        raise UsageError(
            f"other computers could ask a server on {settings.host} for everything in the index",
            remedy=f"set {TOKEN_VARIABLE}, or add --no_token where all of them may",
        )
    is_lexical = settings.strategy == "lexical" and settings.rerank == FIELDS["rerank"].default
    is_fast = settings.llm == "extractive"  # quotations take milliseconds
    return ServerOptions(
        host=settings.host,
        port=settings.port,
        token=token,
        allowed_hosts=_listed(settings.allowed_hosts),
        cors_origins=_listed(settings.cors_origins),
        max_body_bytes=settings.max_body_bytes,
        max_upload_bytes=settings.max_upload_bytes,
        request_timeout_s=settings.request_timeout_s,
        answer_timeout_s=settings.answer_timeout_s,
        requests_per_minute=settings.rate_limit,
        answers_at_once=max(settings.answers_at_once, _FAST_AT_ONCE * is_fast),
        answers_waiting=max(settings.answers_waiting, _FAST_WAITING * is_fast),
        searches_at_once=1 if is_lexical else _SEARCHES_WITH_MODELS,
        collections_open=settings.collections_open,
        ingest_roots=tuple(_absolute(root, settings) for root in _listed(settings.ingest_roots)),
        upload_dir=_absolute(settings.upload_dir, settings) if settings.upload_dir else "",
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (item.strip() for item in text.split(","))))


def _absolute(path: str, settings: Settings) -> str:
    return os.path.join(settings.project_root, os.path.expanduser(path))


def _missing(error: ModuleNotFoundError, extra: str) -> RagError:
    if (error.name or "").startswith("ragmachine"):
        raise error
    return RagError(
        f"this needs {error.name}, which is not installed",
        remedy=f"pip install 'ragmachine[{extra}]'",
    )
