"""What chat clients speak: /v1/chat/completions, /v1/models and /v1/embeddings."""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import AsyncGenerator
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from ragmachine.conversation.history import Conversation, Turn
from ragmachine.conversation.rewriting import Rewriter
from ragmachine.models import Answer, SearchResult
from ragmachine.server.ask_routes import as_json, citations_json
from ragmachine.server.embedding import Embedder
from ragmachine.server.openai_schemas import (
    MODEL,
    ChatRequest,
    ChatResponse,
    EmbeddingRequest,
    EmbeddingResponse,
    ModelList,
)
from ragmachine.server.options import MAX_QUERY_CHARS
from ragmachine.server.problems import (
    ProblemError,
    encoded,
    problem_of,
    problem_response,
    request_id_of,
)
from ragmachine.server.service import Service
from ragmachine.server.streams import EventStream, pieces_of, while_connected

_EVENTS = {
    "description": "the answer; as chunks where `stream` is true",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


def openai_routes(service: Service) -> APIRouter:
    """The routes of a service."""
    router = APIRouter(prefix="/v1", tags=["openai"])
    created = int(time.time())
    embedder = Embedder(service.pipeline)

    @router.get("/models", response_model=ModelList)
    async def models() -> Response:
        """The one model: the indexed folder, whoever writes its answers."""
        card = {"id": MODEL, "object": "model", "created": created, "owned_by": "ragmachine"}
        return as_json({"object": "list", "data": [card]})

    @router.post("/chat/completions", response_model=ChatResponse, responses={200: _EVENTS})
    async def chat(asked: ChatRequest, request: Request) -> Response:
        """Answer the last question of a chat; what it leaves out comes from those before."""
        if asked.model != MODEL:
            raise ProblemError(
                404, "model_not_found", f"there is no model {asked.model!r}", remedy=f"use {MODEL}"
            )
        question = question_of(asked)
        result = await service.search(question, asked.k, asked.filter)
        head = _head(request_id_of(request.scope))
        if asked.stream:
            return EventStream(_chunks(service, asked, result, head))
        work = service.answer(result, asked.k, asked.filter)
        return as_json(_completion(await while_connected(request, work), head))

    @router.post("/embeddings", response_model=EmbeddingResponse)
    async def embeddings(asked: EmbeddingRequest) -> Response:
        """Vectors of texts, by the encoder of the settings."""
        if asked.is_too_many:
            raise ProblemError(
                400, "too_many_texts", "these are too many texts", remedy="send 256 at a time"
            )
        vectors = await embedder.encode(asked.texts)
        is_packed = asked.encoding_format == "base64"
        rows = [
            {
                "object": "embedding",
                "index": number,
                "embedding": _packed(vector) if is_packed else vector.tolist(),
            }
            for number, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return as_json({"object": "list", "data": rows, "model": asked.model, "usage": usage})

    return router


def question_of(asked: ChatRequest) -> str:
    """The last question, with what it takes from those before put into words.

    Raises: ProblemError: nobody asks anything, or at too great a length.
    """
    conversation, rewriter = Conversation(), Rewriter()
    pending: str | None = None
    for message in asked.messages:
        if message.role == "user":
            if pending is not None:
                conversation.turns.append(Turn(pending, pending))
            pending = rewriter.rewrite(message.words[:MAX_QUERY_CHARS], conversation).question
        elif message.role == "assistant" and pending is not None:
            conversation.turns.append(Turn(pending, pending, message.words))
            pending = None
        while len(conversation.turns) > conversation.most:
            conversation.turns.popleft()
    if pending is None or not pending.strip():
        raise ProblemError(
            400,
            "no_question",
            "the last message is no question",
            remedy='end with a message of the role "user"',
        )
    return pending


async def _chunks(
    service: Service, asked: ChatRequest, result: SearchResult, head: dict[str, Any]
) -> AsyncGenerator[bytes, None]:
    """Chunks: the role, words as they come, the end with the sources; then the usage, if asked."""
    head = {**head, "object": "chat.completion.chunk"}
    yield _chunk(head, {"role": "assistant", "content": ""})
    work = pieces_of(lambda tell: service.answer(result, asked.k, asked.filter, tell))
    has_words = False
    try:
        async for piece in work:
            if isinstance(piece, str):
                has_words = True
                yield _chunk(head, {"content": piece})
                continue
            answer = piece[0]
            if not has_words:  # quoted, or refused
                yield _chunk(head, {"content": answer.text})
            yield _chunk(head, {}, finish_reason="stop", answer=answer.text, **_grounds(answer))
            if asked.stream_options and asked.stream_options.include_usage:
                yield _data({**head, "choices": [], "usage": _usage(answer)})
        yield b"data: [DONE]\n\n"
    except Exception as error:  # noqa: BLE001  (the status is out: an event has to tell)
        problem = problem_response(problem_of(error), head["request_id"], path="/v1/")
        yield b"data: %s\n\n" % bytes(problem.body)
    finally:
        await work.aclose()


def _head(identity: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "request_id": identity,
    }


def _completion(answer: Answer, head: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer.text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {
        **head,
        "choices": [choice],
        "usage": _usage(answer),
        **_grounds(answer),
    }


def _chunk(
    head: dict[str, Any], delta: dict[str, str], *, finish_reason: str | None = None, **more: Any
) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
    return _data({**head, "choices": [choice], **more})


def _data(document: dict[str, Any]) -> bytes:
    return b"data: %s\n\n" % encoded(document)


def _grounds(answer: Answer) -> dict[str, Any]:
    """What no other server of this kind tells: the lines cited, and what was amiss."""
    return {"sources": citations_json(answer), "notice": answer.notice or answer.result.notice}


def _usage(answer: Answer) -> dict[str, int]:
    read = answer.usage.prompt_tokens if answer.usage else 0
    written = answer.usage.answer_tokens if answer.usage else 0
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _packed(vector: Any) -> str:
    """Little-endian float32 in base64, as official clients ask for."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
