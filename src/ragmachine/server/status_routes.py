"""How the server is: /health, /ready, /stats, /metrics and /timings."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from ragmachine import __version__
from ragmachine.errors import RagError
from ragmachine.server.ask_routes import as_json
from ragmachine.server.metrics import CONTENT_TYPE, WINDOW
from ragmachine.server.schemas import CollectionQuery
from ragmachine.server.served import ServedPipeline
from ragmachine.server.service import Service
from ragmachine.server.status_schemas import (
    CollectionsResponse,
    HealthResponse,
    ReadyResponse,
    StatsResponse,
    TimingsResponse,
)

_METRICS = {
    "description": "Prometheus text format",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


def status_routes(service: Service) -> APIRouter:
    """The routes of a service."""
    router = APIRouter(tags=["status"])
    pipeline = service.pipeline

    @router.get("/health", response_model=HealthResponse)
    async def health() -> Response:
        """200 as long as the server lives; its parts say whether they work."""
        components = await service.in_thread(lambda: _components(service))
        is_well = all(part["ok"] for part in components.values())
        document = {
            "status": "ok" if is_well else "degraded",
            "components": components,
            "version": __version__,
            "uptime_s": round(service.uptime_s, 1),
        }
        return as_json(document)

    @router.get("/ready", response_model=ReadyResponse)
    async def ready() -> Response:
        """200 once an index answers, else a problem."""
        index = await service.in_thread(pipeline.opened_index)
        return as_json({"ready": True, "generation": index.generation})

    @router.get("/collections", response_model=CollectionsResponse)
    async def collections() -> Response:
        """The indexes that can be asked; opens none of them."""
        return as_json(await service.aside(service.collections.to_json))

    @router.get("/stats", response_model=StatsResponse)
    async def stats(collection: CollectionQuery = None) -> Response:
        """What is indexed, and what the server is doing."""
        asked = await service.pipeline_of(collection)
        return as_json(await service.in_thread(lambda: _stats(service, asked)))

    @router.get("/metrics", response_class=Response, responses={200: _METRICS})
    async def metrics() -> Response:
        """Counters and histograms for Prometheus."""
        counted = service.metrics
        counted.queued.set(service.queue.queued)
        counted.running.set(service.queue.running)
        counted.swaps.set(pipeline.swaps)
        opened = pipeline.opened
        counted.chunks.set(opened.index.chunk_count if opened else 0)
        return Response(counted.text(), headers={"content-type": CONTENT_TYPE})

    @router.get("/timings", response_model=TimingsResponse)
    async def timings() -> Response:
        """p50, p95 and p99 of each stage and route, over the last requests."""
        return as_json({"window": WINDOW, "timings": service.metrics.timings()})

    return router


def _components(service: Service) -> dict[str, dict[str, Any]]:
    index: dict[str, Any] = {"ok": True, "detail": service.pipeline.failure}
    try:
        index["generation"] = service.pipeline.opened_index().generation
    except RagError as error:
        index = {"ok": False, "detail": error.message, "remedy": error.remedy}
    if service.pipeline.failure:
        index["ok"] = False
    others = service.collections.opened()[1:]
    failures = [f"{one.settings.collection}: {one.failure}" for one in others if one.failure]
    queue = service.queue
    is_full = queue.queued >= queue.waiting > 0
    return {
        "index": index,
        "collections": {
            "ok": not failures,
            "open": [one.settings.collection for one in others],
            "detail": "; ".join(failures),
        },
        "generation": {"ok": not is_full, "waiting": queue.queued, "running": queue.running},
        "jobs": {"ok": True, **service.jobs.counts()},
    }


def _stats(service: Service, pipeline: ServedPipeline) -> dict[str, Any]:
    options, queue = service.options, service.queue
    index = pipeline.opened_index()
    manifest = index.manifest
    return {
        "index": {
            "collection": pipeline.settings.collection,
            "generation": index.generation,
            "corpus_root": manifest["corpus_root"],
            **manifest["counts"],
            "skipped": manifest["skipped"],
            "problems": len(manifest["problems"]),
            "swaps": pipeline.swaps,
        },
        "jobs": service.jobs.counts(),
        "generation": {
            "asked": pipeline.settings.llm,
            "model": pipeline.settings.model,
            "running": queue.running,
            "waiting": queue.queued,
        },
        "limits": {
            "max_body_bytes": options.max_body_bytes,
            "max_upload_bytes": options.max_upload_bytes,
            "requests_per_minute": options.requests_per_minute,
            "answers_at_once": options.answers_at_once,
            "answers_waiting": options.answers_waiting,
        },
    }
