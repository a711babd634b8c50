"""What runs when: sampling jobs, pump duty and the imitation of a tide."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import time as clock_time

from selkmoor.errors import DutyLimitExceeded

TICK_SECONDS = 0.5
MISFIRE_GRACE = 8.0
MAX_JOBS = 64


@dataclass(order=True)
class Job:
    """A call that repeats every `interval` seconds."""

    due: float
    order: int
    interval: float = field(compare=False)
    call: Callable[[], None] = field(compare=False)
    name: str = field(compare=False, default="")
    missed: int = field(compare=False, default=0)


class Scheduler:
    """A heap of jobs, run one after the other in a single thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heap: list[Job] = []
        self._order = itertools.count()

    def every(self, interval: float, call: Callable[[], None], name: str = "") -> Job:
        """Add a job, first due one interval from now.

        Raises:
            ValueError: The interval is shorter than a tick, or the list is full.
        """
        if interval < TICK_SECONDS:
            raise ValueError(f"interval {interval} s is shorter than a tick")
        if len(self._heap) >= MAX_JOBS:
            raise ValueError(f"at most {MAX_JOBS} jobs")
        job = Job(self._clock() + interval, next(self._order), interval, call, name)
        heapq.heappush(self._heap, job)
        return job

    def run_due(self) -> int:
        """Run what is due and return how many jobs ran.

        A job more than `MISFIRE_GRACE` seconds late is skipped rather than run:
        after a suspend the pumps would otherwise make up for the lost hours in
        one burst. The next round stays on the original raster either way.
        """
        now = self._clock()
        ran = 0
        while self._heap and self._heap[0].due <= now:
            job = heapq.heappop(self._heap)
            late = now - job.due
            if late <= MISFIRE_GRACE:
                job.call()
                ran += 1
            else:
                job.missed += 1
            job.due += job.interval * (1 + math.floor(late / job.interval))
            heapq.heappush(self._heap, job)
        return ran


class DutyLedger:
    """Count the seconds a pump ran within a rolling window and how many are left."""

    def __init__(self, window: float = 5400, allowance: float = 2400, rest: float = 210) -> None:
        self.window = window
        self.allowance = allowance
        self.rest = rest
        self._runs: deque[tuple[float, float]] = deque()

    def used(self, now: float) -> float:
        """Seconds run within the window that ends now."""
        start = now - self.window
        while self._runs and self._runs[0][1] <= start:
            self._runs.popleft()
        return sum(end - max(begin, start) for begin, end in self._runs)

    def book(self, now: float, seconds: float) -> None:
        """Enter a run that starts now.

        Raises:
            DutyLimitExceeded: The pump has to rest first, or its allowance is spent.
        """
        if self._runs and now < self._runs[-1][1] + self.rest:
            wait = self._runs[-1][1] + self.rest - now
            raise DutyLimitExceeded(f"rest for another {wait:.0f} s")
        left = self.allowance - self.used(now)
        if seconds > left:
            raise DutyLimitExceeded(f"{seconds:.0f} s asked, {left:.0f} s left in the window")
        self._runs.append((now, now + seconds))


@dataclass(frozen=True)
class QuietHours:
    """A stretch of the night in which pumps run at a fraction of their duty."""

    start: clock_time = clock_time(22, 30)
    end: clock_time = clock_time(5, 45)
    duty: float = 0.25

    def factor(self, now: clock_time) -> float:
        """Return the share of the normal run time; the stretch may span midnight."""
        if self.start <= self.end:
            inside = self.start <= now < self.end
        else:
            inside = now >= self.start or now < self.end
        return self.duty if inside else 1.0


@dataclass(frozen=True)
class TideProgram:
    """A sine wave for the target level of a pool; minutes and millimetres."""

    period_minutes: float = 745.0
    high_mm: float = 620.0
    low_mm: float = 140.0
    lag_minutes: float = 0.0

    def target(self, minutes: float) -> float:
        """Level to aim for, `minutes` after a high tide of the reference port."""
        middle = (self.high_mm + self.low_mm) / 2
        swing = (self.high_mm - self.low_mm) / 2
        phase = 2 * math.pi * (minutes - self.lag_minutes) / self.period_minutes
        return middle + swing * math.cos(phase)

    def fill_or_drain(self, minutes: float, level: float, deadband: float = 12.0) -> int:
        """Return 1 to fill, -1 to drain and 0 within `deadband` of the target."""
        gap = self.target(minutes) - level
        if abs(gap) <= deadband:
            return 0
        return 1 if gap > 0 else -1
