"""Searching and answering: POST /search, /answer and /query."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from time import perf_counter
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from ragmachine.generation.timings import timings_json
from ragmachine.models import Answer, Hit, SearchResult
from ragmachine.retrieval.plan import decompose
from ragmachine.server.problems import encoded, problem_of, request_id_of
from ragmachine.server.schemas import (
    AnswerRequest,
    AnswerResponse,
    QueryRequest,
    QueryResponse,
    SearchRequest,
    SearchResponse,
)
from ragmachine.server.service import Ask, Service
from ragmachine.server.streams import EventStream, announced, event, pieces_of, while_connected

_SNIPPET_CHARS = 300
_EVENTS = announced("the answer; as events where `stream` is true")


def ask_routes(service: Service) -> APIRouter:
    """The routes of a service."""
    router = APIRouter(tags=["ask"])

    @router.post("/search", response_model=SearchResponse)
    async def search(asked: SearchRequest, request: Request) -> Response:
        """The best passages for a query; never waits for a model's answer."""
        result = await service.search(
            Ask(asked.query, asked.k, asked.filter, asked.collection, explain=asked.explain)
        )
        document = search_json(result, request_id_of(request.scope), is_explained=asked.explain)
        return as_json(document)

    @router.post("/answer", response_model=AnswerResponse, responses={200: _EVENTS})
    async def answer(asked: AnswerRequest, request: Request) -> Response:
        """An answer from the passages found, with the lines that it rests on."""
        identity = request_id_of(request.scope)
        service.queue.admit()  # a refusal is a status, also of what is to be a stream
        ask = Ask(asked.query, asked.k, asked.filter, asked.collection)
        result = await service.search(ask)
        if asked.stream:
            return EventStream(_events(service, ask, result, identity))
        started = perf_counter()
        found = await while_connected(request, service.answer(ask, result))
        total_ms = result.search_time_ms + (perf_counter() - started) * 1000
        return as_json(answer_json(service, found, total_ms, identity))

    @router.post("/query", response_model=QueryResponse)
    async def query(asked: QueryRequest, request: Request) -> Response:
        """A question cut into its parts, its answer, and the passages behind it."""
        started = perf_counter()
        parts = decompose(asked.question) if asked.decompose else (asked.question,)
        ask = Ask(asked.question, asked.top_k, asked.filter, asked.collection, parts=len(parts) > 1)
        result = await service.search(ask)
        found = None
        if asked.generate:
            found = await while_connected(request, service.answer(ask, result))
        document = query_json(result, found, parts)
        document["timings"]["total_ms"] = round((perf_counter() - started) * 1000, 3)
        document["request_id"] = request_id_of(request.scope)
        return as_json(document)

    return router


def as_json(document: object) -> Response:
    """A document that is known to be in shape, sent without being checked once more."""
    return Response(encoded(document), media_type="application/json")


def search_json(
    result: SearchResult, identity: str, *, is_explained: bool = False
) -> dict[str, Any]:
    """A search as its document."""
    document = result.to_json(is_explained=is_explained)
    document["metrics"]["stage_ms"] = _rounded(result.stage_ms)
    document["request_id"] = identity
    return document


def answer_json(service: Service, answer: Answer, total_ms: float, identity: str) -> dict[str, Any]:
    """An answer as its document, with its timings."""
    document = answer.to_json()
    timings = timings_json(answer, total_ms, has_answer_cache=service.keeps_answers)
    document["metrics"]["stage_ms"] = _rounded(answer.result.stage_ms)
    document["metrics"]["timings"] = timings
    document["request_id"] = identity
    return document


def query_json(
    result: SearchResult, answer: Answer | None, parts: tuple[str, ...]
) -> dict[str, Any]:
    """A question, its parts, the answer where there is one, and the passages behind it."""
    timings = {f"{stage}_ms": round(spent, 3) for stage, spent in result.stage_ms.items()}
    if answer:
        timings["generate_ms"] = round(answer.answer_time_ms, 3)
    hits = [_cited(number, hit) for number, hit in enumerate(result.hits, 1)]
    return {
        "question": result.query,
        "sub_queries": list(parts),
        "answer": answer.text if answer else None,
        "answer_mode": answer.mode if answer else None,
        "citations": citations_json(answer) if answer else hits,
        "notice": (answer.notice if answer else "") or result.notice,
        "timings": timings,
    }


async def _events(
    service: Service, ask: Ask, result: SearchResult, identity: str
) -> AsyncGenerator[bytes, None]:
    """The passages, the words as they come, then the answer as it was checked."""
    started = perf_counter()
    yield event("sources", search_json(result, identity))
    work = pieces_of(lambda tell: service.answer(ask, result, tell))
    try:
        async for piece in work:
            if isinstance(piece, str):
                yield event("token", {"text": piece})
            else:
                total_ms = result.search_time_ms + (perf_counter() - started) * 1000
                yield event("answer", answer_json(service, piece[0], total_ms, identity))
    except Exception as error:  # noqa: BLE001  (the status is out: an event has to tell)
        yield event("error", problem_of(error).to_json(identity))
    finally:
        await work.aclose()


def citations_json(answer: Answer) -> list[dict[str, Any]]:
    """What an answer cites, each by the best of its passages that it overlaps."""
    found = []
    for citation in answer.citations:
        for hit in answer.result.hits:
            chunk = hit.chunk
            is_near = chunk.start < citation.end and citation.start < chunk.end
            if chunk.file_path == citation.file_path and is_near:
                row = _cited(citation.number, hit)
                row["lines"] = [citation.first_line, citation.last_line]
                found.append(row)
                break
    return found


def _cited(number: int, hit: Hit) -> dict[str, Any]:
    chunk = hit.chunk
    text = chunk.text.strip()
    metadata = {"file_type": chunk.file_type, "label": chunk.label, "place": chunk.place}
    columns = {
        name: value if isinstance(value, str) else ", ".join(value)
        for name, value in chunk.metadata
    }
    return {
        "number": number,
        "chunk_id": chunk.content_id,
        "source": chunk.file_path,
        "lines": [chunk.first_line, chunk.last_line],
        "score": round(hit.score, 6),
        "snippet": text if len(text) <= _SNIPPET_CHARS else text[:_SNIPPET_CHARS] + "…",
        "metadata": columns | {name: value for name, value in metadata.items() if value},
    }


def _rounded(stage_ms: dict[str, float]) -> dict[str, float]:
    return {stage: round(spent, 3) for stage, spent in stage_ms.items()}
