"""Is it worth searching, and worth asking a model? The same questions, answered each way."""

from __future__ import annotations

from .rows import BenchReport, BenchRow, Trial
from .runner import bench

__all__ = ["BenchReport", "BenchRow", "Trial", "bench"]
