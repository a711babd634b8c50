"""What the server counts: Prometheus metrics, and percentiles over the last requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
WINDOW = 1000
_METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})
_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """Counters of one application; safe to share between threads.

    Attributes:
        queued, running: of the generation queue, set when metrics are read.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "ragmachine_requests", "Requests answered", ["method", "route", "status"],
            registry=self.registry,
        )  # fmt: skip
        self._request_s = Histogram(
            "ragmachine_request_seconds", "Time until the last byte of an answer", ["route"],
            buckets=_BUCKETS_S, registry=self.registry,
        )  # fmt: skip
        self._stage_s = Histogram(
            "ragmachine_stage_seconds", "Time of each stage of a search or an answer", ["stage"],
            buckets=_BUCKETS_S, registry=self.registry,
        )  # fmt: skip
        self._cache = Counter(
            "ragmachine_cache_lookups", "Look-ups in a cache", ["cache", "outcome"],
            registry=self.registry,
        )  # fmt: skip
        self._tokens = Counter(
            "ragmachine_tokens", "Tokens that models read and wrote", ["direction"],
            registry=self.registry,
        )  # fmt: skip
        self.queued = self._gauge("ragmachine_generation_queue_length", "Questions that wait")
        self.running = self._gauge("ragmachine_generation_running", "Questions being answered")
        self.chunks = self._gauge("ragmachine_index_chunks", "Chunks of the index that answers")
        self.swaps = self._gauge("ragmachine_index_swaps", "Generations taken into use since start")
        self._recent: dict[str, deque[float]] = {}

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(name, text, registry=self.registry)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered.

        Args:
            method: of HTTP.
            route: as it was declared, so that there are few.
            status: of HTTP.
            seconds: from its first to the last byte of its answer.
        """
        known = method if method in _METHODS else "other"  # anybody can make one up
        self._requests.labels(known, route, str(status)).inc()
        self._request_s.labels(route).observe(seconds)
        self._remember(route, seconds * 1000)

    def stages(self, stage_ms: Mapping[str, float]) -> None:
        """Count the stages of a search or an answer, in milliseconds by name."""
        for stage, spent_ms in stage_ms.items():
            self._stage_s.labels(stage).observe(spent_ms / 1000)
            self._remember(stage, spent_ms)

    def cache(self, name: str, *, is_hit: bool) -> None:
        """Count a look-up."""
        self._cache.labels(name, "hit" if is_hit else "miss").inc()

    def tokens(self, read: int, written: int) -> None:
        """Count what a model read and wrote."""
        self._tokens.labels("prompt").inc(read)
        self._tokens.labels("answer").inc(written)

    def text(self) -> bytes:
        """Everything in Prometheus's text format."""
        return generate_latest(self.registry)

    def timings(self) -> dict[str, dict[str, float]]:
        """p50, p95 and p99 in milliseconds of each stage and route, over the last `WINDOW`."""
        return {name: _percentiles(list(kept)) for name, kept in sorted(self._recent.items())}

    def _remember(self, name: str, spent_ms: float) -> None:
        kept = self._recent.get(name)
        if kept is None:
            kept = self._recent.setdefault(name, deque(maxlen=WINDOW))
        kept.append(spent_ms)


def _percentiles(spent_ms: list[float]) -> dict[str, float]:
    """Nearest-rank percentiles, and how many values they are of."""
    spent_ms.sort()
    count = len(spent_ms)

    def at(percent: int) -> float:
        rank = -(-count * percent // 100)  # rounded up
        return round(spent_ms[max(rank, 1) - 1], 3)

    return {"count": count, "p50_ms": at(50), "p95_ms": at(95), "p99_ms": at(99)}
