"""What the routes about the server itself answer."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class CollectionRow(BaseModel):
    """One index of the server."""

    collection: str = Field(description="its name, which may be empty")
    corpus_root: str
    files: int
    chunks: int
    built: str | None
    bytes: int
    problem: str = Field(description="why nothing more is known of it; else empty")


class CollectionsResponse(BaseModel):
    """The indexes that can be asked."""

    collections: list[CollectionRow]
    default: str = Field(description="the one that is asked where none is named")


class HealthResponse(BaseModel):
    """Whether the server lives, and how its parts are."""

    status: str = Field(description="ok or degraded")
    components: dict[str, dict[str, Any]]
    version: str
    uptime_s: float


class ReadyResponse(BaseModel):
    """The server can answer."""

    ready: bool
    generation: str


class StatsResponse(BaseModel):
    """What is indexed, and what the server is doing."""

    index: dict[str, Any]
    jobs: dict[str, int]
    generation: dict[str, Any]
    limits: dict[str, float | int]


class Percentiles(BaseModel):
    """Of the last requests, in milliseconds."""

    count: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


class TimingsResponse(BaseModel):
    """Percentiles by stage and by route."""

    window: int
    timings: dict[str, Percentiles]
