"""What changes the index: POST /ingest and /ingest/upload, GET /jobs, DELETE /sources."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, File, Path, Request, UploadFile
from starlette.responses import Response

from ragmachine.server.folders import Folders
from ragmachine.server.jobs import Job, Target
from ragmachine.server.problems import ProblemError, encoded
from ragmachine.server.schemas import (
    CollectionForm,
    CollectionQuery,
    IngestRequest,
    JobResponse,
    UploadResponse,
)
from ragmachine.server.service import Service
from ragmachine.server.uploads import store

_MOST_FILES = 200


def ingest_routes(service: Service) -> APIRouter:
    """The routes of a service."""
    router = APIRouter(tags=["ingest"])

    @router.post("/ingest", response_model=JobResponse, status_code=202)
    async def ingest(asked: IngestRequest) -> Response:
        """Index a folder of this computer, or what is indexed again; the job's id comes at once.

        A new folder comes beside those that are indexed, or instead of them where `add` is false;
        with a folder, `collection` may be one that is not there yet.
        """
        pipelines = service.collections
        find = pipelines.open_or_new if asked.path else pipelines.open

        def plan() -> Target:
            return Folders(find(asked.collection), service.options, service.pipeline).target(asked)

        return _accepted(await _begun(service, "ingest", plan))

    @router.post("/ingest/upload", response_model=UploadResponse, status_code=202)
    async def upload(
        files: Annotated[list[UploadFile], File(min_length=1, max_length=_MOST_FILES)],
        request: Request,
        collection: CollectionForm = None,
    ) -> Response:
        """Store files in the folder of uploads and index them; a known name is replaced."""
        is_named = "collection" in await request.form()  # an empty field is a name as well
        name = (collection or "") if is_named else None

        def find() -> tuple[str, Target]:
            return Folders(service.collections.open(name), service.options).uploads()

        folder, _ = await service.aside(find)
        stored = await asyncio.to_thread(_stored, files, folder)  # nothing need wait for it
        job = await _begun(service, "upload", lambda: find()[1])
        document = {"stored": stored, "job": job.to_json()}
        return Response(encoded(document), 202, _location(job), "application/json")

    @router.get("/jobs/{job_id}", response_model=JobResponse)
    async def job(job_id: Annotated[str, Path(max_length=100)]) -> Response:
        """How far a job is."""
        found = service.jobs.get(job_id)
        if found is None:
            raise ProblemError(
                404, "unknown_job", "there is no such job", remedy="POST /ingest begins one"
            )
        return Response(encoded(found.to_json()), media_type="application/json")

    @router.delete("/sources/{tag}", response_model=JobResponse, status_code=202)
    async def remove(
        tag: Annotated[str, Path(max_length=100)], collection: CollectionQuery = None
    ) -> Response:
        """Take the folders of a tag out of the index; their files stay."""

        def plan() -> Target:
            return Folders(service.collections.open(collection), service.options).without(tag)

        return _accepted(await _begun(service, "remove", plan))

    return router


async def _begun(service: Service, kind: str, plan: Callable[[], Target]) -> Job:
    """A job for what is planned; a plan that cannot be is refused at once."""
    return service.jobs.begin(kind, await service.aside(plan), plan)


def _stored(files: list[UploadFile], folder: str) -> list[str]:
    paths = [store(file.file, folder, file.filename or "") for file in files]
    return [os.path.basename(path) for path in paths]


def _accepted(job: Job) -> Response:
    return Response(encoded(job.to_json()), 202, _location(job), "application/json")


def _location(job: Job) -> dict[str, str]:
    return {"location": f"/jobs/{job.id}"}
