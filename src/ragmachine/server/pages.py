"""Pages: the one of `static`, and a description of the API that needs nothing from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles

STATIC = Path(__file__).resolve().parent / "static"
_FRESH = {"cache-control": "no-cache"}  # may be kept, is asked for again
_NO_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>ragmachine</title><link rel="stylesheet" href="/static/docs.css">
<h1>ragmachine</h1><p>The server runs. <a href="/docs">Its API</a> is there to be asked.</p></html>
"""


def add_pages(app: FastAPI) -> None:
    """Serve ``/``, ``/static`` and ``/docs``; they are no part of the API."""

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        path = STATIC / "index.html"
        return FileResponse(path, headers=_FRESH) if path.is_file() else HTMLResponse(_NO_PAGE)

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        path = STATIC / "favicon.ico"
        return FileResponse(path, headers=_FRESH) if path.is_file() else Response(status_code=204)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(docs_page(app.openapi()))

    app.mount("/static", _Fresh(directory=STATIC), name="static")


class _Fresh(StaticFiles):
    """Static files that a browser asks for again, so that an update is seen at once."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.setdefault("cache-control", "no-cache")
        return response


def docs_page(document: dict[str, Any]) -> str:
    """An OpenAPI document as a page of plain HTML without scripts."""
    info = document["info"]
    title = escape(f"{info['title']} {info['version']}")
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta name="viewport" content="width=device-width"><title>{title}</title>',
            '<link rel="stylesheet" href="/static/docs.css"></head><body>',
            f"<h1>{title}</h1><p>{escape(info.get('description', ''))}</p>",
            '<p>For programs: <a href="/openapi.json">openapi.json</a>.</p>',
            *_operations(document),
            "<h2>Documents</h2>",
            *_schemas(document),
            "</body></html>",
        ]
    )


def _operations(document: dict[str, Any]) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"<section><h2><code>{method.upper()} {escape(path)}</code></h2>"
            yield f"<p>{escape(operation.get('description') or operation.get('summary', ''))}</p>"
            for parameter in operation.get("parameters", []):
                about = parameter.get("description") or parameter["schema"].get("description", "")
                name = escape(f"{parameter['name']} ({parameter['in']})")
                yield f"<p><code>{name}</code> {escape(about)}</p>"
            for kind, body in operation.get("requestBody", {}).get("content", {}).items():
                yield f"<p>takes <code>{escape(kind)}</code>: {_link(body.get('schema', {}))}</p>"
            for status, answer in operation["responses"].items():
                kinds = answer.get("content", {}).items()
                shown = ", ".join(f"<code>{escape(k)}</code> {_link(v.get('schema', {}))}"
                                  for k, v in kinds)  # fmt: skip
                yield f"<p><b>{status}</b> {escape(answer['description'])} {shown}</p>"
            yield "</section>"


def _link(schema: dict[str, Any]) -> str:
    name = schema.get("$ref", "").rpartition("/")[2]
    return f'<a href="#{escape(name)}">{escape(name)}</a>' if name else ""


def _schemas(document: dict[str, Any]) -> Iterator[str]:
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        text = escape(json.dumps(schema, indent=1, ensure_ascii=False))
        yield f'<section id="{escape(name)}"><h3>{escape(name)}</h3><pre>{text}</pre></section>'
