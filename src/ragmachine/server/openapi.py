"""The OpenAPI document: what FastAPI writes, and the problems that every path may answer with."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from ragmachine.server.problems import MEDIA_TYPE
from ragmachine.server.schemas import Problem

_EVERYWHERE = {
    "400": "the request cannot be read",
    "401": "the token is missing or wrong",
    "403": "not allowed from where it came, or outside of what may be touched",
    "404": "there is no such thing",
    "405": "another method is wanted",
    "408": "the request came too slowly",
    "409": "not possible as things are",
    "413": "the request is too long",
    "416": "there are no such lines",
    "421": "another host is meant",
    "422": "a value is missing, of the wrong type or out of range",
    "429": "too many requests; see Retry-After",
    "500": "an error that nobody expected",
    "501": "not in this version",
    "503": "not now: no index, no model, or a full queue; see Retry-After",
    "507": "the disk is full or cannot be written",
}
_REF = "#/components/schemas/Problem"


def describe(app: FastAPI) -> None:
    """Have an application describe itself with its problems."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    for methods in document["paths"].values():
        for operation in methods.values():
            responses = operation["responses"]
            for status, text in _EVERYWHERE.items():
                responses[status] = {
                    "description": text,
                    "content": {MEDIA_TYPE: {"schema": {"$ref": _REF}}},
                }
            operation["responses"] = dict(sorted(responses.items()))
    _, made = models_json_schema([(Problem, "serialization")], ref_template="#/{model}")
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(made["$defs"])
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemes = {"token": {"type": "http", "scheme": "bearer"}}
    document["components"]["securitySchemes"] = schemes
    document["security"] = [{}, {"token": []}]  # needed only where the server has one
    return document
