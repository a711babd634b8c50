"""Asking again: back-off between attempts, and a breaker for devices that went away."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from selkmoor.errors import TRANSIENT, BreakerOpen, WireError

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class RetryPolicy:
    """How often a request is repeated, and how long to wait in between.

    Attributes:
        attempts: Tries in all, the first one included.
        base_delay: Seconds before the second try.
        factor: Growth of the wait from one try to the next.
        max_delay: Ceiling of the wait, in seconds.
        jitter: Share of the wait drawn at random, either way, so that several
            gateways on one line do not repeat in step.
    """

    attempts: int = 4
    base_delay: float = 0.2
    factor: float = 1.8
    max_delay: float = 3.5
    jitter: float = 0.15

    def delays(self, rng: random.Random | None = None) -> Iterator[float]:
        """Yield the waits, one fewer than there are attempts."""
        draw = rng or random.Random()
        wait = self.base_delay
        for _ in range(self.attempts - 1):
            swing = 1 + self.jitter * (2 * draw.random() - 1)
            yield min(wait, self.max_delay) * swing
            wait *= self.factor


#: For writes that move water: one repeat only, because a command that was
#: carried out but whose reply got lost must not run the pump a third time.
OUTPUT_POLICY = RetryPolicy(attempts=2, base_delay=0.5)


def retrying(
    policy: RetryPolicy = RetryPolicy(),
    sleep: Callable[[float], None] = time.sleep,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a call so that transient wire errors are tried again.

    Faults reported by the device itself are never repeated: the device heard
    the question, and asking twice does not change the answer.
    """

    def decorate(call: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(call)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            delays = policy.delays()
            while True:
                try:
                    return call(*args, **kwargs)
                except WireError as error:
                    if error.fault not in TRANSIENT:
                        raise
                    wait = next(delays, None)
                    if wait is None:
                        raise
                    sleep(wait)

        return wrapper

    return decorate


class CircuitBreaker:
    """Stop asking a device that keeps failing, then let one request through.

    A dead probe would otherwise eat its full timeout on every round and delay
    every other device on the line.
    """

    def __init__(
        self,
        threshold: int = 6,
        cooldown: float = 20.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.threshold = threshold
        self.cooldown = cooldown
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None

    def guard(self, address: int) -> None:
        """Raise BreakerOpen while the cool-down of this device lasts."""
        if self._opened_at is not None and self._clock() - self._opened_at < self.cooldown:
            raise BreakerOpen(f"device {address} is resting after {self._failures} failures")

    def success(self) -> None:
        """Record an answer: the count of failures starts from nothing."""
        self._failures = 0
        self._opened_at = None

    def failure(self) -> None:
        """Record a failed request and open when the run reaches the threshold."""
        self._failures += 1
        if self._failures >= self.threshold:
            self._opened_at = self._clock()
