"""What all routes share: the pipeline asked in threads, the queue, the jobs and the counters."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from ragmachine.errors import RagError
from ragmachine.models import Answer, SearchResult
from ragmachine.server.generation import GenerationQueue, Listener
from ragmachine.server.jobs import Build, JobRunner
from ragmachine.server.logs import LOGGER
from ragmachine.server.metrics import Metrics
from ragmachine.server.options import ServerOptions
from ragmachine.server.problems import ProblemError
from ragmachine.server.served import ServedPipeline

_LOG = logging.getLogger(LOGGER)
_Result = TypeVar("_Result")
_FLUSH_S = 30.0


class Service:
    """One server's state; made and used in one event loop.

    Args:
        pipeline: searches and answers.
        options: what is allowed.
        build: indexes folders, see `jobs.Build`.
    """

    def __init__(self, pipeline: ServedPipeline, options: ServerOptions, build: Build) -> None:
        self.pipeline = pipeline
        self.options = options
        self.metrics = Metrics()
        self.queue = GenerationQueue(options.answers_at_once, options.answers_waiting)
        self.jobs = JobRunner(build, pipeline.refresh)
        self.started = time.monotonic()
        self._threads = ThreadPoolExecutor(options.searches_at_once, thread_name_prefix="search")
        self._decomposing: ServedPipeline | None = None
        self._flushing: asyncio.Task[None] | None = None

    async def in_thread(self, work: Callable[[], _Result]) -> _Result:
        """Run what takes milliseconds, and give up on it after `request_timeout_s`.

        Raises: ProblemError: 503, it took too long; and what the work raises.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self.options.request_timeout_s):
                return await loop.run_in_executor(self._threads, work)
        except TimeoutError:
            raise _too_slow(self.options.request_timeout_s) from None

    async def search(
        self, query: str, k: int, filter_text: str, *, explain: bool = False, parts: bool = False
    ) -> SearchResult:
        """Search, and count it.

        Args:
            query: as for `RagPipeline.search`.
            k: likewise.
            filter_text: likewise.
            explain: likewise.
            parts: search the parts of a question apart and merge them.
        """
        pipeline = self._searching(parts=parts)
        ask = functools.partial(pipeline.search, query, k, filter=filter_text, explain=explain)
        result = await self.in_thread(ask)
        self.metrics.stages(result.stage_ms)
        if result.stage_ms and not explain:
            self.metrics.cache("query", is_hit=result.is_cached)
        return result

    async def answer(
        self,
        result: SearchResult,
        k: int,
        filter_text: str,
        on_token: Listener | None = None,
        *,
        parts: bool = False,
    ) -> Answer:
        """Answer from a search, when it is its turn; see `GenerationQueue.run`.

        Args:
            result: of `search`.
            k: what it was searched with, to know an earlier answer by.
            filter_text: likewise.
            on_token: called with each word, in another thread.
            parts: as `result` was searched.
        Raises: ProblemError: 503, the queue is full, or it took too long; RagError.
        """
        pipeline = self._searching(parts=parts)

        def work(listen: Listener) -> Answer:
            if self.keeps_answers:
                return pipeline.answer(result.query, k, filter=filter_text, on_token=listen)
            return pipeline.answer_from(result, on_token=listen)

        asked = time.perf_counter()
        try:
            async with asyncio.timeout(self.options.answer_timeout_s):
                answer = await self.queue.run(work, on_token)
        except TimeoutError:
            raise _too_slow(self.options.answer_timeout_s) from None
        waited_ms = (time.perf_counter() - asked) * 1000 - answer.answer_time_ms
        self.metrics.stages({"queue": max(waited_ms, 0.0), "generate": answer.answer_time_ms})
        if self.keeps_answers:
            is_model = answer.mode not in ("extractive", "none")
            self.metrics.cache("answer", is_hit=is_model and answer.usage is None)
        if answer.usage:
            self.metrics.tokens(answer.usage.prompt_tokens, answer.usage.answer_tokens)
        return answer

    @property
    def keeps_answers(self) -> bool:
        """Whether a model's answer may be one that it gave earlier."""
        return self.pipeline.settings.answer_cache and self.pipeline.use_cache

    def _searching(self, *, parts: bool) -> ServedPipeline:
        """The pipeline, or the one that cuts questions into parts, made when it is first asked."""
        if not parts or self.pipeline.settings.decompose:
            return self.pipeline
        if self._decomposing is None:
            settings = replace(self.pipeline.settings, decompose=True)
            self._decomposing = ServedPipeline(settings, use_cache=self.pipeline.use_cache)
        return self._decomposing

    async def start(self) -> None:
        """Open the index while requests may come already; that there is none yet is no error."""
        self._flushing = asyncio.create_task(self._flush_often())
        asyncio.get_running_loop().run_in_executor(self._threads, self._warm)

    async def stop(self) -> None:
        """End what runs, and keep what was learned."""
        if self._flushing:
            self._flushing.cancel()
        self.queue.close()
        await asyncio.to_thread(self.jobs.close)
        await asyncio.to_thread(self._flush)
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _warm(self) -> None:
        """The first question need not wait for what is imported or opened at first."""
        with contextlib.suppress(RagError):
            self.pipeline.refresh().search("ragmachine", 1)
            _LOG.info("ready", extra={"fields": {"after_s": round(self.uptime_s, 3)}})

    @property
    def uptime_s(self) -> float:
        """Seconds since the service was made."""
        return time.monotonic() - self.started

    async def _flush_often(self) -> None:
        while True:
            await asyncio.sleep(_FLUSH_S)
            await asyncio.to_thread(self._flush)

    def _flush(self) -> None:
        for pipeline in filter(None, (self.pipeline, self._decomposing)):
            with contextlib.suppress(RagError):
                pipeline.flush()


def _too_slow(seconds: float) -> ProblemError:
    return ProblemError(
        503,
        "timeout",
        f"this took longer than {seconds:g} s",
        remedy="ask for less, or start the server with a larger limit of time",
        headers={"Retry-After": "5"},
    )
