"""Asks the same questions each way, and judges what comes back."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragmachine.errors import DatasetError, ModelError
from ragmachine.evaluation.answer_scores import score_answer
from ragmachine.evaluation.given_answers import given_answer
from ragmachine.evaluation.text_measures import ROUGE_REMEDY, has_rouge
from ragmachine.models import Answer
from ragmachine.pipeline import RagPipeline

from .rows import ALONE, EXTRACTIVE, RETRIEVAL, SEED, BenchReport, BenchRow, Trial

if TYPE_CHECKING:
    from ragmachine.exchange import Question

_MODES = (EXTRACTIVE, "none")

Ask = Callable[[str], Answer]


def bench(
    pipeline: RagPipeline,
    questions: Sequence[Question],
    *,
    k: int,
    limit: int = 0,
    on_answer: Callable[[int, int], None] | None = None,
) -> BenchReport:
    """Answer questions by quotation, by the model from passages, and by the model alone.

    A model that cannot be had is a line of the report. One question where it fails counts as not
    answered.

    Args:
        pipeline: names the index and the model; its query cache should be off.
        questions: with reference answers and true sources.
        k: passages retrieved.
        limit: questions drawn, always the same of one dataset; 0 for all.
        on_answer: called with (done, total).
    Raises: DatasetError: there is no question; and as `RagPipeline.search`.
    """
    if not questions:
        raise DatasetError("the dataset holds no question", remedy="choose another dataset")
    chosen = _drawn(questions, limit)
    quoting = RagPipeline(replace(pipeline.settings, llm=EXTRACTIVE), use_cache=False)
    quoting.search(chosen[0].question, k)  # opens the index, which is no answer's time
    ways: dict[str, Ask] = {EXTRACTIVE: _retrieving(quoting, k)}
    absence = _absence(pipeline, chosen[0].question)
    if not absence:
        pipeline.search(chosen[0].question, k)
        ways[RETRIEVAL] = _retrieving(pipeline, k)
        ways[ALONE] = lambda query: pipeline.answer_alone(query, on_token=_unheard)
    rows: list[BenchRow] = []
    done, total = 0, len(ways) * len(chosen)
    for way, ask in ways.items():
        trials = []
        for place, question in enumerate(chosen):
            trial, mode = _trial(question, ask, way)
            if rows:  # the same search for all: it is the question that was lucky or not
                has_source = rows[0].trials[place].score.has_source
                trial = replace(trial, score=replace(trial.score, has_source=has_source))
            trials.append((trial, mode))
            done += 1
            if on_answer:
                on_answer(done, total)
        rows.append(BenchRow(way, _author(trials), tuple(trial for trial, _ in trials)))
    return BenchReport(k, tuple(rows), tuple(_notices(rows, absence)))


def _drawn(questions: Sequence[Question], limit: int) -> list[Question]:
    """So many questions in their order, the same at every run; all where there are no more."""
    if not 0 < limit < len(questions):
        return list(questions)
    places = random.Random(SEED).sample(range(len(questions)), limit)  # noqa: S311
    return [questions[place] for place in sorted(places)]


def _retrieving(pipeline: RagPipeline, k: int) -> Ask:
    def ask(query: str) -> Answer:
        return pipeline.answer(query, k, on_token=_unheard)

    return ask


def _unheard(piece: str) -> None:
    """Someone who listens, so that the first token has a time."""


def _absence(pipeline: RagPipeline, query: str) -> str:
    """Why no model can be asked, or ""; one that can has then been loaded."""
    try:
        pipeline.answer_alone(query)
    except ModelError as error:
        return " ".join(str(error).split())
    return ""


def _trial(question: Question, ask: Ask, way: str) -> tuple[Trial, str]:
    """One answer judged, and who wrote it."""
    started = time.perf_counter()
    try:
        answer = ask(question.question)
    except ModelError as error:
        return _failed(question, started, str(error)), ""
    latency_ms = (time.perf_counter() - started) * 1000
    if way != EXTRACTIVE and answer.mode == EXTRACTIVE:
        return _failed(question, started, answer.notice), ""
    given = given_answer(answer, is_checked=way != ALONE)
    score = score_answer(question, given)
    return Trial(score, latency_ms, answer.usage, answer.text), answer.mode


def _failed(question: Question, started: float, why: str) -> Trial:
    latency_ms = (time.perf_counter() - started) * 1000
    return Trial(score_answer(question, None), latency_ms, failure=" ".join(why.split()))


def _author(trials: Sequence[tuple[Trial, str]]) -> str:
    return next((mode for _, mode in trials if mode and mode not in _MODES), "")


def _notices(rows: Sequence[BenchRow], absence: str) -> Iterator[str]:
    if absence:
        yield f"no model: {absence}"
    for row in rows:
        failures = [trial.failure for trial in row.trials if trial.failure]
        if failures:
            yield f"{row.title}: {len(failures)} failed and count 0, the first: {failures[0]}"
    if not has_rouge():
        yield ROUGE_REMEDY
