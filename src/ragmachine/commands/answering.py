"""The work of `answer` and `bench`; `commands` reads their options."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragmachine.models import Answer
from ragmachine.pipeline import RagPipeline
from ragmachine.terminal.console import Console

if TYPE_CHECKING:
    from ragmachine.answer_bench import BenchReport


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and what is wanted of its answer; fields as the options of `answer`."""

    query: str
    k: int | None
    filter: str
    no_retrieval: bool
    show_context: bool
    timings: bool
    json: bool


def show_answer(console: Console, pipeline: RagPipeline, asked: Asked) -> str:
    """Answer a question and print the answer with what was asked for beside it.

    Returns: the notice, which belongs below the answer: it ends the line that was streamed.
    Raises: as `RagPipeline.answer` and `RagPipeline.answer_alone`.
    """
    on_token = None if asked.json else console.stream()
    if asked.timings and on_token is None:
        on_token = _unheard  # the first token has a time only where somebody listens
    started = time.perf_counter()
    answer = _answered(pipeline, asked, on_token)
    total_ms = (time.perf_counter() - started) * 1000
    pipeline.flush()
    if asked.json:
        _print_json(console, pipeline, asked, answer, total_ms)
    else:
        _print_text(console, pipeline, asked, answer, total_ms)
    return answer.notice or answer.result.notice


def _answered(
    pipeline: RagPipeline, asked: Asked, on_token: Callable[[str], None] | None
) -> Answer:
    if asked.no_retrieval:
        return pipeline.answer_alone(asked.query, on_token=on_token)
    return pipeline.answer(asked.query, asked.k, filter=asked.filter, on_token=on_token)


def _print_json(
    console: Console, pipeline: RagPipeline, asked: Asked, answer: Answer, total_ms: float
) -> None:
    from ragmachine.generation.timings import timings_json
    from ragmachine.terminal.answer_details import context_json

    document = answer.to_json()
    if asked.show_context:
        document["context"] = context_json(answer)
    if asked.timings:
        has_cache = _has_answer_cache(pipeline, asked)
        timings = timings_json(answer, total_ms, has_answer_cache=has_cache)
        document["metrics"]["timings"] = timings
    console.json(document)


def _print_text(
    console: Console, pipeline: RagPipeline, asked: Asked, answer: Answer, total_ms: float
) -> None:
    from ragmachine.generation.timings import timings_json
    from ragmachine.terminal.answer_details import context_lines, timings_lines

    console.answer(answer)
    if asked.show_context:
        console.line("\nContext, as whoever answered saw it:")
        for line in context_lines(answer):
            console.line(line)
    if asked.timings:
        has_cache = _has_answer_cache(pipeline, asked)
        for line in timings_lines(timings_json(answer, total_ms, has_answer_cache=has_cache)):
            console.line(line)


def _has_answer_cache(pipeline: RagPipeline, asked: Asked) -> bool:
    return pipeline.settings.answer_cache and pipeline.use_cache and not asked.no_retrieval


def _unheard(piece: str) -> None:
    """Someone who listens and says nothing."""


def bench_report(
    pipeline: RagPipeline,
    dataset_path: str,
    k: int | None,
    limit: int,
    on_answer: Callable[[int, int], None],
) -> BenchReport:
    """Read a dataset and compare the ways to answer it; see `answer_bench.bench`."""
    from pathlib import Path

    from ragmachine.answer_bench import bench
    from ragmachine.exchange import read_dataset

    questions = read_dataset(Path(dataset_path)).rag_questions
    passages = k or pipeline.settings.k
    return bench(pipeline, questions, k=passages, limit=limit, on_answer=on_answer)
