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
from ragmachine.server.service import Ask, Service
from ragmachine.server.streams import EventStream, announced, pieces_of, while_connected

_EVENTS = announced("the answer; as chunks where `stream` is true")


def openai_routes(service: Service) -> APIRouter:
    """The routes of a service."""
    router = APIRouter(prefix="/v1", tags=["openai"])
    created = int(time.time())
    embedder = Embedder(service.pipeline)

    @router.get("/models", response_model=ModelList)
    async def models() -> Response:
        """One for each collection, whoever writes its answers."""
        own = service.pipeline.settings.collection
        others = [name for name in await service.aside(service.collections.names) if name != own]
        cards = [
            {"id": name, "object": "model", "created": created, "owned_by": "ragmachine"}
            for name in (MODEL, *(f"{MODEL}:{other}" for other in others))
        ]
        return as_json({"object": "list", "data": cards})

    @router.post("/chat/completions", response_model=ChatResponse, responses={200: _EVENTS})
    async def chat(asked: ChatRequest, request: Request) -> Response:
        """Answer the last question of a chat; what it leaves out comes from those before."""
        ask = ask_of(asked)
        service.queue.admit()  # a refusal is a status, also of what is to be a stream
        result = await service.search(ask)
        head = _head(asked.model, request_id_of(request.scope))
        if asked.stream:
            return EventStream(_chunks(service, asked, ask, result, head))
        found = await while_connected(request, service.answer(ask, result))
        return as_json(_completion(found, head))

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


def ask_of(asked: ChatRequest) -> Ask:
    """The last question of a chat, and whom it goes to.

    Raises: ProblemError: as `question_of`; 404, there is no such model.
    """
    name, colon, collection = asked.model.partition(":")
    if name != MODEL:
        raise ProblemError(
            404,
            "model_not_found",
            f"there is no model {asked.model!r}",
            remedy=f"use {MODEL}, or {MODEL}:COLLECTION, see /v1/models",
        )
    return Ask(question_of(asked), asked.k, asked.filter, collection if colon else None)


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
    service: Service, asked: ChatRequest, ask: Ask, result: SearchResult, head: dict[str, Any]
) -> AsyncGenerator[bytes, None]:
    """Chunks: the role, words as they come, the end with the sources; then the usage, if asked."""
    head = {**head, "object": "chat.completion.chunk"}
    yield _chunk(head, {"role": "assistant", "content": ""})
    work = pieces_of(lambda tell: service.answer(ask, result, tell))
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


def _head(model: str, identity: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
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
