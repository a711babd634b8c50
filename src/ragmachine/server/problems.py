"""Errors as clients get them: problem+json (RFC 9457) that says what to do next."""

from __future__ import annotations

import http
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ragmachine.encoders import EncoderUnavailableError
from ragmachine.errors import (
    CorpusError,
    IndexationError,
    IndexBusyError,
    IndexCorruptError,
    IndexMissingError,
    IndexVersionError,
    ModelError,
    RagError,
    StorageError,
    UsageError,
)

MEDIA_TYPE = "application/problem+json"
_LOG = logging.getLogger("ragmachine.server")
_STATUS: tuple[tuple[type[RagError], int, str], ...] = (
    (UsageError, 400, "bad_request"),
    (EncoderUnavailableError, 404, "encoder_unavailable"),
    (CorpusError, 400, "corpus_unreadable"),
    (IndexationError, 409, "indexing_refused"),
    (IndexMissingError, 503, "index_missing"),
    (IndexCorruptError, 503, "index_corrupt"),
    (IndexVersionError, 503, "index_version"),
    (IndexBusyError, 409, "index_busy"),
    (StorageError, 507, "storage"),
    (ModelError, 503, "model_unavailable"),
)
_REMEDIES = {
    404: "GET /docs lists the paths",
    405: "GET /docs lists the methods of each path",
    415: "send JSON with the header Content-Type: application/json",
}


class ProblemError(HTTPException):
    """A request that is refused.

    One of the framework's own exceptions, so that it comes through where a body is read.

    Args:
        status: of HTTP.
        code: short and stable, for programs.
        detail: what happened, for people.
        remedy: what to do next.
        headers: of the response, such as ``Retry-After``.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        remedy: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.status = status
        self.code = code
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.detail}; {self.remedy}" if self.remedy else str(self.detail)

    def to_json(self, request_id: str) -> dict[str, Any]:
        """The problem's document; when to ask again is in it, as an event has no headers."""
        document = {
            "type": "about:blank",
            "title": _title(self.status),
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "remedy": self.remedy,
            "request_id": request_id,
        }
        retry_after = (self.headers or {}).get("Retry-After", "")
        return document | ({"retry_after": int(retry_after)} if retry_after.isdecimal() else {})


def problem_of(error: Exception) -> ProblemError:
    """What a client is told of an exception; nothing about what was not expected."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, RequestValidationError | HTTPException):
        return _of_framework(error)
    if isinstance(error, RagError):
        for kind, status, code in _STATUS:
            if isinstance(error, kind):
                return ProblemError(status, code, error.message, remedy=error.remedy)
        return ProblemError(500, "failed", error.message, remedy=error.remedy)
    return ProblemError(
        500,
        "unexpected",
        "the server met an error that nobody expected",
        remedy="look for the request_id in the server's log, and report it",
    )


def problem_response(problem: ProblemError, request_id: str, *, path: str = "") -> Response:
    """The response for a problem; clients of ``/v1`` find it under ``error`` as well."""
    document = problem.to_json(request_id)
    if path.startswith("/v1/"):
        document["error"] = {
            "message": str(problem),
            "type": "invalid_request_error" if problem.status < 500 else "server_error",
            "param": None,
            "code": problem.code,
        }
    return Response(
        encoded(document), problem.status, headers=problem.headers, media_type=MEDIA_TYPE
    )


def encoded(document: object) -> bytes:
    """JSON of a document; text that cannot be UTF-8 is shown escaped."""
    try:
        return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:  # a lone surrogate, echoed from a request or read from a file's name
        return orjson.dumps(_writable(document))


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_writable(key): _writable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(item) for item in value]
    return value


def add_problem_handlers(app: FastAPI) -> None:
    """Have an application answer all of its errors with problems."""

    async def refused(request: Request, error: Exception) -> Response:
        problem = problem_of(error)
        if problem.status >= 500:
            name = type(error).__name__
            _LOG.warning("refused", extra={"fields": {"error": name, "code": problem.code}})
        return problem_response(problem, request_id_of(request.scope), path=request.url.path)

    for kind in (ProblemError, RagError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, refused)


def request_id_of(scope: Mapping[str, Any]) -> str:
    """The id that `tracing` gave a request; "" outside of one."""
    return str(scope.get("state", {}).get("request_id", ""))


def _of_framework(error: RequestValidationError | HTTPException) -> ProblemError:
    if isinstance(error, RequestValidationError):
        return ProblemError(
            422,
            "invalid_request",
            _first_fault(error.errors()),
            remedy="GET /docs says what this path takes",
        )
    status = error.status_code
    return ProblemError(
        status,
        _title(status).lower().replace(" ", "_").replace("'", ""),
        str(error.detail or _title(status)),
        remedy=_REMEDIES.get(status, ""),
        headers=error.headers,
    )


def _first_fault(faults: Sequence[Any]) -> str:
    if not faults:
        return "the request is not valid"
    fault = faults[0]
    place = ".".join(str(part) for part in fault.get("loc", ()) if part != "body")
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{place or 'the body'}: {fault.get('msg', 'not valid')}{more}"


def _title(status: int) -> str:
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Error"
