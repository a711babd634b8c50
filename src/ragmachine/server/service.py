"""What all routes share: the pipeline asked in threads, the queue, the jobs and the counters."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from ragmachine.errors import RagError
from ragmachine.models import Answer, SearchResult
from ragmachine.pipeline import RagPipeline
from ragmachine.server.collections import Collections
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


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked.

    Attributes:
        query, k, filter, explain: as for `RagPipeline.search`.
        collection: whose index; None for the server's own.
        parts: search the parts of a question apart and merge them.
    """

    query: str
    k: int
    filter: str = ""
    collection: str | None = None
    explain: bool = False
    parts: bool = False


class Service:
    """One server's state; made and used in one event loop.

    Args:
        pipeline: searches and answers where no other collection is asked.
        options: what is allowed.
        build: indexes folders, see `jobs.Build`.
    """

    def __init__(self, pipeline: ServedPipeline, options: ServerOptions, build: Build) -> None:
        self.pipeline = pipeline
        self.collections = Collections(pipeline, options.collections_open)
        self.options = options
        self.metrics = Metrics()
        self.queue = GenerationQueue(options.answers_at_once, options.answers_waiting)
        self.jobs = JobRunner(build, self.collections.refresh)
        self.started = time.monotonic()
        self._threads = ThreadPoolExecutor(options.searches_at_once, thread_name_prefix="search")
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="aside")
        self._flushing: asyncio.Task[None] | None = None

    async def in_thread(self, work: Callable[[], _Result]) -> _Result:
        """Run what takes milliseconds, and give up on it after `request_timeout_s`.

        Raises: ProblemError: 503, it took too long; and what the work raises.
        """
        return await self._in(self._threads, work)

    async def aside(self, work: Callable[[], _Result]) -> _Result:
        """Run what may take longer, so that no search waits for it; as `in_thread` otherwise."""
        return await self._in(self._aside, work)

    async def _in(self, threads: Executor, work: Callable[[], _Result]) -> _Result:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self.options.request_timeout_s):
                return await loop.run_in_executor(threads, work)
        except TimeoutError:
            raise _too_slow(self.options.request_timeout_s) from None

    async def pipeline_of(self, collection: str | None) -> ServedPipeline:
        """The pipeline of a collection, None for the server's own.

        Raises: as `Collections.open`; ProblemError: 503, opening it took too long.
        """
        if found := self.collections.at_hand(collection):
            return found
        return await self.aside(lambda: self.collections.open(collection))

    async def search(self, ask: Ask) -> SearchResult:
        """Search, and count it.

        Raises: as `RagPipeline.search` and `pipeline_of`.
        """
        pipeline = await self._asked(ask)
        search = functools.partial(
            pipeline.search, ask.query, ask.k, filter=ask.filter, explain=ask.explain
        )
        result = await self.in_thread(search)
        self.metrics.stages(result.stage_ms)
        if result.stage_ms and not ask.explain:
            self.metrics.cache("query", is_hit=result.is_cached)
        return result

    async def answer(
        self, ask: Ask, result: SearchResult, on_token: Listener | None = None
    ) -> Answer:
        """Answer from a search, when it is its turn; see `GenerationQueue.run`.

        Args:
            ask: what was searched for.
            result: of `search`.
            on_token: called with each word, in another thread.
        Raises: ProblemError: 503, the queue is full, or it took too long; RagError.
        """
        pipeline = await self._asked(ask)

        def work(listen: Listener) -> Answer:
            if self.keeps_answers:
                return pipeline.answer(result.query, ask.k, filter=ask.filter, on_token=listen)
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

    async def _asked(self, ask: Ask) -> RagPipeline:
        pipeline = await self.pipeline_of(ask.collection)
        return pipeline.in_parts() if ask.parts else pipeline

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
        for threads in (self._threads, self._aside):
            threads.shutdown(wait=False, cancel_futures=True)

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
        for pipeline in self.collections.opened():
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
