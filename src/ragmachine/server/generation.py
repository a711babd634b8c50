"""The bounded queue before the model: few questions at a time, few waiting, the rest refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from time import perf_counter
from typing import TypeVar

from ragmachine.server.problems import ProblemError

Listener = Callable[[str], None]
_Result = TypeVar("_Result")
_FIRST_GUESS_S = 5.0
_LONGEST_WAIT_S = 120


class AbandonedError(Exception):
    """Nobody waits for this answer any more; stops whoever writes it at the next word."""


class GenerationQueue:
    """Runs work in threads of its own, so that nothing else waits for it.

    Call from one event loop.

    Args:
        at_once: how much runs at the same time.
        waiting: how much may wait.
    """

    def __init__(self, at_once: int, waiting: int) -> None:
        self.at_once = at_once
        self.waiting = waiting
        self._slots = asyncio.Semaphore(at_once)
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="generate")
        self._running: set[threading.Event] = set()
        self._queued = 0
        self._mean_s = _FIRST_GUESS_S
        self._is_closed = False

    @property
    def queued(self) -> int:
        """Questions that wait."""
        return self._queued

    @property
    def running(self) -> int:
        """Questions that are being answered, those included whose asker has left."""
        return len(self._running)

    async def run(
        self, work: Callable[[Listener], _Result], on_token: Listener | None = None
    ) -> _Result:
        """Run work when it is its turn, and wait for it.

        A caller that is cancelled leaves the queue at once; work that runs already is stopped at
        its next word, and keeps its place until then.

        Args:
            work: is given a listener for its words, which it has to call.
            on_token: called with each word, in the work's thread.
        Raises: ProblemError: 503, the queue is full or closed; and what the work raises.
        """
        self.admit()
        self._queued += 1
        try:
            await self._slots.acquire()
        finally:
            self._queued -= 1
        if self._is_closed:
            self._slots.release()
            self.admit()
        abandoned = threading.Event()
        self._running.add(abandoned)
        started = perf_counter()
        task = asyncio.get_running_loop().run_in_executor(
            self._threads, work, _listener(abandoned, on_token)
        )
        task.add_done_callback(lambda done: self._release(abandoned, started, done))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            abandoned.set()
            raise

    def retry_after_s(self) -> int:
        """Seconds after which a place is likely to be free, from how long answers take."""
        expected = self._mean_s * (self._queued + 1) / self.at_once
        return min(max(ceil(expected), 1), _LONGEST_WAIT_S)

    def close(self) -> None:
        """Take nothing more, and stop what runs at its next word."""
        self._is_closed = True
        for abandoned in self._running:
            abandoned.set()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def admit(self) -> None:
        """Look whether there is a place now; `run` does so itself.

        Raises: ProblemError: 503, the queue is full or closed.
        """
        if self._is_closed:
            raise ProblemError(
                503,
                "shutting_down",
                "the server is going down",
                remedy="ask again when it is back",
                headers={"Retry-After": "5"},
            )
        if self._slots.locked() and self._queued >= self.waiting:
            seconds = self.retry_after_s()
            raise ProblemError(
                503,
                "queue_full",
                f"{self._queued} questions are waiting for the model already",
                remedy=f"ask again in {seconds} s, or search, which never waits",
                headers={"Retry-After": str(seconds)},
            )

    def _release(
        self, abandoned: threading.Event, started: float, done: asyncio.Future[_Result]
    ) -> None:
        self._running.discard(abandoned)
        self._slots.release()
        if not done.cancelled() and done.exception() is None:
            self._mean_s += 0.2 * (perf_counter() - started - self._mean_s)


def _listener(abandoned: threading.Event, on_token: Listener | None) -> Listener:
    def listen(piece: str) -> None:
        if abandoned.is_set():
            raise AbandonedError
        if on_token:
            on_token(piece)

    return listen
