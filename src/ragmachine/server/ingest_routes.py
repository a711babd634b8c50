"""What changes the index: POST /ingest and /ingest/upload, GET /jobs, DELETE /sources."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, File, Path, UploadFile
from starlette.responses import Response

from ragmachine.server.folders import Folders
from ragmachine.server.jobs import Job, Target
from ragmachine.server.problems import ProblemError, encoded
from ragmachine.server.schemas import IngestRequest, JobResponse, UploadResponse
from ragmachine.server.service import Service
from ragmachine.server.uploads import store

_MOST_FILES = 200


def ingest_routes(service: Service) -> APIRouter:
    """The routes of a service."""
    router = APIRouter(tags=["ingest"])

    @router.post("/ingest", response_model=JobResponse, status_code=202)
    async def ingest(asked: IngestRequest) -> Response:
        """Index a folder of this computer, or what is indexed again; the job's id comes at once.

        The index then holds that folder alone, or beside the others where `add` is true.
        """
        return _accepted(await _begun(service, "ingest", lambda: Folders(service).target(asked)))

    @router.post("/ingest/upload", response_model=UploadResponse, status_code=202)
    async def upload(
        files: Annotated[list[UploadFile], File(min_length=1, max_length=_MOST_FILES)],
    ) -> Response:
        """Store files in the folder of uploads and index them; a known name is replaced."""
        folder, _ = await service.in_thread(lambda: Folders(service).uploads())
        stored = await asyncio.to_thread(_stored, files, folder)  # searches need not wait for it
        job = await _begun(service, "upload", lambda: Folders(service).uploads()[1])
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
    async def remove(tag: Annotated[str, Path(max_length=100)]) -> Response:
        """Take the folders of a tag out of the index; their files stay."""
        return _accepted(await _begun(service, "remove", lambda: Folders(service).without(tag)))

    return router


async def _begun(service: Service, kind: str, plan: Callable[[], Target]) -> Job:
    """A job for what is planned; a plan that cannot be is refused at once."""
    return service.jobs.begin(kind, await service.in_thread(plan), plan)


def _stored(files: list[UploadFile], folder: str) -> list[str]:
    paths = [store(file.file, folder, file.filename or "") for file in files]
    return [os.path.basename(path) for path in paths]


def _accepted(job: Job) -> Response:
    return Response(encoded(job.to_json()), 202, _location(job), "application/json")


def _location(job: Job) -> dict[str, str]:
    return {"location": f"/jobs/{job.id}"}
