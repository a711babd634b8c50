"""What requests hold and what answers look like, for validation and for the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form
from fastapi import Query as InQuery
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from ragmachine.server.options import MAX_FILTER_CHARS, MAX_K, MAX_QUERY_CHARS

Query = Annotated[str, Field(max_length=MAX_QUERY_CHARS, description="words, names, a question")]
Filter = Annotated[
    str,
    Field(
        max_length=MAX_FILTER_CHARS,
        description="e.g. path:docs/** lang:python symbol:Sampler*, or columns of tables:"
        " state=open year>=2020",
    ),
]
K = Annotated[StrictInt, Field(ge=1, le=MAX_K, description="passages to retrieve")]
COLLECTION = "name of another index of this server, see /collections; empty: the one without a name"
Collection = Annotated[str | None, Field(max_length=64, description=COLLECTION)]
CollectionQuery = Annotated[str | None, InQuery(max_length=64, description=COLLECTION)]
CollectionForm = Annotated[str | None, Form(max_length=64, description=COLLECTION)]


class Asked(BaseModel):
    """Refuses fields that do not exist: a misspelt one would be ignored in silence."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SearchRequest(Asked):
    """A search."""

    query: Query
    k: K = 10
    filter: Filter = ""
    collection: Collection = None
    explain: StrictBool = Field(False, description="say what was made of the query")


class AnswerRequest(Asked):
    """A question."""

    query: Query
    k: K = 10
    filter: Filter = ""
    collection: Collection = None
    stream: StrictBool = Field(
        False, description="server-sent events: sources, token…, answer, or error"
    )


class QueryRequest(Asked):
    """A question, for programs that want one flat document."""

    question: Query
    top_k: K = 5
    decompose: StrictBool = Field(True, description="search the parts of a question apart")
    generate: StrictBool = Field(True, description="write an answer, else only passages")
    filter: Filter = ""
    collection: Collection = None


class IngestRequest(Asked):
    """A folder of this computer to index."""

    path: str = Field(
        "", max_length=4096, description="inside the allowed folders; empty: what is indexed again"
    )
    source_tag: str = Field(
        "", max_length=100, pattern=r"^[^,]*$", description="what filters call it by source:"
    )
    add: StrictBool = Field(True, description="beside what is indexed; false: instead of it")
    collection: Collection = None


class Problem(BaseModel):
    """What went wrong and what to do (RFC 9457)."""

    type: str
    title: str
    status: int
    code: str = Field(description="short and stable, for programs")
    detail: str
    remedy: str = Field(description="what to do next; may be empty")
    request_id: str
    retry_after: int | None = Field(None, description="seconds until it may go better")


_BOX = (
    "where the passage stands on its page, where that is known: x0, top, x1, bottom in points"
    " (72 to the inch) from the top left corner of the page as it is shown"
)
Box = Annotated[list[int], Field(min_length=4, max_length=4)]


class Passage(BaseModel):
    """A passage that was found."""

    rank: int
    score: float
    file_path: str
    first_character_index: int
    last_character_index: int
    first_line: int
    last_line: int
    file_type: str
    label: str
    text: str
    place: str | None = Field(None, description="page, row or cell, e.g. p.2")
    metadata: dict[str, str | list[str]] | None = Field(
        None, description="short columns of the record that it is text of, by which to filter"
    )
    page: int | None = Field(None, description="of a document with pages, from 1")
    box: Box | None = Field(None, description=_BOX)
    boxes: list[Box] | None = Field(
        None, description="a box for each column, where the passage stands in several"
    )
    stages: dict[str, float] | None = None


class SearchMetrics(BaseModel):
    """Numbers about a search, in milliseconds."""

    search_time_ms: float
    total_chunks: int
    cached: bool
    stage_ms: dict[str, float]


class SearchResponse(BaseModel):
    """Passages, best first."""

    query: str
    strategy: str
    retrieved_chunks: list[Passage]
    notice: str
    metrics: SearchMetrics
    request_id: str
    plan: dict[str, Any] | None = None


class CitedLines(BaseModel):
    """A numbered pointer from an answer to lines."""

    number: int
    file_path: str
    first_character_index: int
    last_character_index: int
    first_line: int
    last_line: int
    place: str | None = None


class Sentence(BaseModel):
    """A sentence of an answer, and whether the passages say so."""

    sentence: str
    answer_start: int
    answer_end: int
    supported: bool
    score: float
    reason: str
    citations: list[int]
    span: CitedLines | None


class AnswerMetrics(SearchMetrics):
    """Numbers about an answer; null for a stage that did not run."""

    answer_time_ms: float
    timings: dict[str, float | int | str | bool | None]


class AnswerResponse(SearchResponse):
    """An answer with what it rests on."""

    answer: str
    answer_mode: str = Field(description="the model's name, extractive, or none for a refusal")
    citations: list[CitedLines]
    refused: bool
    grounds: dict[str, Any] | None
    sentences: list[Sentence]
    metrics: AnswerMetrics


class QueryCitation(BaseModel):
    """A passage behind an answer."""

    number: int
    chunk_id: str = Field(description="SHA-256 of the file's name and the passage")
    source: str
    lines: list[int] = Field(min_length=2, max_length=2, description="first and last")
    score: float
    snippet: str
    metadata: dict[str, str]


class QueryResponse(BaseModel):
    """A question, its parts, the answer and the passages behind it."""

    question: str
    sub_queries: list[str]
    answer: str | None
    answer_mode: str | None
    citations: list[QueryCitation]
    notice: str
    timings: dict[str, float]
    request_id: str


class ExcerptResponse(BaseModel):
    """Lines of an indexed file."""

    file_path: str
    file_type: str
    first_line: int
    last_line: int
    total_lines: int
    text: str


class JobResponse(BaseModel):
    """Long work and how far it is."""

    job_id: str
    kind: str
    collection: str = Field(description="whose index; empty: the one without a name")
    paths: list[str] = Field(description="none: what was indexed before")
    state: str = Field(description="queued, running, done or failed")
    files_done: int
    seconds: float
    report: dict[str, Any] | None
    error: dict[str, Any] | None


class UploadResponse(BaseModel):
    """An upload that was stored, and the job that indexes it."""

    stored: list[str]
    job: JobResponse
