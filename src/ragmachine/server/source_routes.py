"""GET /source: the cited file, or lines of it."""

from __future__ import annotations

import os
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import FileResponse, Response

from ragmachine.server.ask_routes import as_json
from ragmachine.server.schemas import CollectionQuery, ExcerptResponse
from ragmachine.server.service import Service
from ragmachine.server.sources import file_on_disk, read_lines

_LINE = Query(ge=1, le=1_000_000_000, description="from 1, inclusive")
_SHOWN = {
    "description": "lines of the text as it was indexed; the file itself where `format` is `file`",
    "content": {
        "text/plain": {"schema": {"type": "string"}},
        "application/pdf": {"schema": {"type": "string", "format": "binary"}},
        "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
    },
}
# What came from a document is never run as a page of this server; PDFs need their viewer.
_TEXT_POLICY = "default-src 'none'; sandbox; frame-ancestors 'self'"
_PDF_POLICY = (
    "default-src 'none'; object-src 'self'; plugin-types application/pdf; img-src 'self' data:;"
    " style-src 'unsafe-inline'; frame-ancestors 'self'"
)


def source_routes(service: Service) -> APIRouter:
    """The routes of a service."""
    router = APIRouter(tags=["sources"])

    @router.get("/source/{path:path}", response_model=ExcerptResponse, responses={200: _SHOWN})
    async def source(
        path: Annotated[str, Path(max_length=4096, description="file_path of a hit")],
        start_line: Annotated[int | None, _LINE] = None,
        end_line: Annotated[int | None, _LINE] = None,
        format: Annotated[Literal["json", "text", "file"], Query()] = "json",
        collection: CollectionQuery = None,
    ) -> Response:
        """Lines of an indexed file as they were indexed, or the file (`format=file`)."""
        pipeline = await service.pipeline_of(collection)

        def read() -> Response:
            index = pipeline.opened_index()
            if format == "file":
                return _file(file_on_disk(index, path))
            excerpt = read_lines(index, path, start_line, end_line)
            if format == "json":
                return as_json(excerpt.to_json())
            return Response(
                excerpt.text.encode("utf-8"),
                media_type="text/plain; charset=utf-8",
                headers=_headers(_TEXT_POLICY),
            )

        return await service.in_thread(read)

    return router


def _file(path: str) -> Response:
    """A file's bytes: a PDF is shown, anything else is saved."""
    is_pdf = path.lower().endswith(".pdf")
    return FileResponse(
        path,
        media_type="application/pdf" if is_pdf else "application/octet-stream",
        filename=os.path.basename(path),
        content_disposition_type="inline" if is_pdf else "attachment",
        headers=_headers(_PDF_POLICY if is_pdf else _TEXT_POLICY),
    )


def _headers(policy: str) -> dict[str, str]:
    return {"content-security-policy": policy, "x-frame-options": "SAMEORIGIN"}
