"""The requests and answers of the OpenAI-compatible routes, as far as they mean something here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from ragmachine.server.options import MAX_QUERY_CHARS
from ragmachine.server.schemas import Filter, K, Query

MODEL = "ragmachine"
_MOST_MESSAGES = 200
_MOST_TEXTS = 256
_Text = Annotated[str, Field(max_length=100_000)]


class Lenient(BaseModel):
    """Lets fields pass that mean nothing here, as other servers of this kind do."""

    model_config = ConfigDict(extra="ignore", strict=True)


class Part(Lenient):
    """A piece of a message; text alone is read."""

    type: str
    text: _Text = ""


class ChatMessage(Lenient):
    """A message; those of the system are not followed: passages decide the answer."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: _Text | list[Part] | None = None

    @property
    def words(self) -> str:
        """What it says."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or ())


class StreamOptions(Lenient):
    """What a stream holds beside words."""

    include_usage: StrictBool = False


class ChatRequest(Lenient):
    """A chat; its last message of a user is the question."""

    model: str = Field(
        max_length=200, description=f"{MODEL}, or {MODEL}:COLLECTION, see /v1/models"
    )
    messages: list[ChatMessage] = Field(min_length=1, max_length=_MOST_MESSAGES)
    stream: StrictBool | None = False
    stream_options: StreamOptions | None = None
    k: K = 10
    filter: Filter = ""


class EmbeddingRequest(Lenient):
    """Texts to be made vectors."""

    model: str = Field(max_length=200)
    input: Query | list[Query] = Field(
        description=f"at most {_MOST_TEXTS} texts of {MAX_QUERY_CHARS} characters"
    )
    encoding_format: Literal["float", "base64"] = "float"

    @property
    def texts(self) -> list[str]:
        """The texts."""
        return [self.input] if isinstance(self.input, str) else self.input[:_MOST_TEXTS]

    @property
    def is_too_many(self) -> bool:
        """Whether there are more texts than are taken at once."""
        return isinstance(self.input, list) and len(self.input) > _MOST_TEXTS


class ModelCard(BaseModel):
    """A model."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str


class ModelList(BaseModel):
    """The models."""

    object: Literal["list"] = "list"
    data: list[ModelCard]


class ChatResponse(BaseModel):
    """An answer; `sources` are the lines that it cites."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, int]
    sources: list[dict[str, Any]]
    notice: str
    request_id: str


class EmbeddingResponse(BaseModel):
    """A vector of each text."""

    object: Literal["list"] = "list"
    data: list[dict[str, Any]]
    model: str
    usage: dict[str, int]
