"""What do the vector indexes cost, and what do they miss?

    python benchmarks/vectors.py [--count 100000] [--dimensions 384] [--clusters 500]

The vectors are made: around each of some random centres, with a spread that falls from one axis to
the next as it does in the vectors of real texts. Queries are members of the clusters that are not
in the index. Recall is the share of the true ten nearest among the ten found, by float32.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt

from machine import ROOT, save
from ragmachine.encoders import normalise
from ragmachine.index.ann import HnswIndex, IvfPqIndex
from ragmachine.index.vectors import FlatIndex, VectorIndex

K = 10
RESCORED = 100
SPREAD = 0.8  # length of the way from a centre to its members; centres have length 1

Floats = npt.NDArray[np.float32]
Search = Callable[[Floats], npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: which index.
        build_s: seconds from vectors to an index in memory.
        queries_per_s: one after the other, from one thread.
        p95_ms: of one query.
        recall: mean over the queries, of the ten nearest.
        megabytes: files on disk, in 10^6 bytes.
    """

    name: str
    build_s: float
    queries_per_s: float
    p95_ms: float
    recall: float
    megabytes: float


def clustered(count: int, dimensions: int, clusters: int, seed: int) -> Floats:
    """(count, dimensions) vectors of length 1; one seed gives one set of centres."""
    centres = normalise(np.random.default_rng(0).standard_normal((clusters, dimensions)))
    rng = np.random.default_rng(seed)
    scales = np.arange(1, dimensions + 1) ** -0.5
    scales *= SPREAD / np.linalg.norm(scales)
    noise = rng.standard_normal((count, dimensions), dtype=np.float32) * scales.astype(np.float32)
    return normalise(centres[rng.integers(0, clusters, count)] + noise)


def measure(
    name: str, index: VectorIndex, vectors: Floats, queries: Floats, true: npt.NDArray[np.int64]
) -> Row:
    """Build, save, load, and search."""
    started = time.perf_counter()
    index.build(vectors)
    build_s = time.perf_counter() - started
    with tempfile.TemporaryDirectory() as folder:
        index.save(folder)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        opened = type(index).load(folder)
        return timed(name, lambda query: opened.search(query, K)[0], queries, true, build_s, size)


def timed(
    name: str,
    search: Search,
    queries: Floats,
    true: npt.NDArray[np.int64],
    build_s: float,
    size: float,
) -> Row:
    """Time a search, the first queries not counted."""
    for query in queries[:5]:
        search(query)
    times, shares = [], []
    for query, wanted in zip(queries, true, strict=True):
        started = time.perf_counter()
        found = search(query)
        times.append(time.perf_counter() - started)
        shares.append(len(np.intersect1d(found, wanted)) / K)
    p95_ms = statistics.quantiles(times, n=20)[-1] * 1000
    rate = len(times) / sum(times)
    recall = statistics.mean(shares)
    cells = (round(value, 3) for value in (build_s, rate, p95_ms, recall, size / 1e6))
    return Row(name, *cells)


def rescored(rough: VectorIndex, exact: VectorIndex, query: Floats) -> npt.NDArray[np.int64]:
    """The ten best of a hundred that a rough index finds, by an exact one."""
    mask = np.zeros(exact.count, dtype=np.bool_)
    mask[rough.search(query, RESCORED)[0]] = True
    return exact.search(query, K, mask)[0]


def main() -> int:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--clusters", type=int, default=500)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    vectors = clustered(options.count, options.dimensions, options.clusters, seed=1)
    queries = clustered(options.queries, options.dimensions, options.clusters, seed=2)
    true = np.stack([np.argsort(-(vectors @ query), kind="stable")[:K] for query in queries])
    halves, lists = FlatIndex("float16"), IvfPqIndex()
    indexes: dict[str, VectorIndex] = {
        "flat float16": halves,
        "flat int8": FlatIndex("int8"),
        "HNSW": HnswIndex(),
        "IVF-PQ": lists,
    }
    rows = []
    print(f"{'':<22}{'build s':>9}{'queries/s':>11}{'p95 ms':>9}{'recall@10':>11}{'MB':>8}")
    for name, index in indexes.items():
        rows.append(measure(name, index, vectors, queries, true))
        report(rows[-1])
    size = (rows[0].megabytes + rows[-1].megabytes) * 1e6
    search = partial(rescored, lists, halves)
    rows.append(timed("IVF-PQ, 100 rescored", search, queries, true, rows[-1].build_s, size))
    report(rows[-1])
    document = {
        **vars(options),
        "libraries": {"faiss-cpu": version("faiss-cpu")},
        "rows": [asdict(row) for row in rows],
    }
    print(f"saved in {save('vectors', document).relative_to(ROOT)}")
    return 0


def report(row: Row) -> None:
    """Print one line of the table."""
    print(
        f"{row.name:<22}{row.build_s:>9.1f}{row.queries_per_s:>11.0f}{row.p95_ms:>9.2f}"
        f"{row.recall:>11.3f}{row.megabytes:>8.1f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
