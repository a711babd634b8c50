"""How fast is it, as ratios to something measured in the same run, since machines are noisy.

    python benchmarks/speed.py [--rounds N]

Yardsticks: a naive ``bm25s.tokenize`` + ``BM25.index`` over 2,000-character slices of the same
files for indexing, and the start of a process that imports numpy and bm25s for one-shot commands.
Rounds alternate between the things compared; the fastest round of each counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from machine import ROOT, save
from ragmachine import RagPipeline

CORPUS = "data/raw/vllm-0.10.1"
SETS = [
    ROOT / "data/datasets/UnansweredQuestions" / f"vllm_{kind}.json" for kind in ("docs", "code")
]
QUERY = "what is the default of gpu_memory_utilization?"
NAIVE = """
import sys, pathlib, bm25s
from ragmachine.corpus.discover import discover
texts = []
for file in discover(sys.argv[1], max_file_bytes=10**7).files:
    text = pathlib.Path(file.absolute).read_bytes().decode("utf-8", "replace")
    texts += [text[start : start + 2000] for start in range(0, len(text), 2000)]
bm25s.BM25().index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
"""


# As users run it: with compiled modules, which the first, unmeasured, round leaves behind.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def run(words: Sequence[str]) -> float:
    """Wall seconds of a child Python process that must succeed."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, *words], cwd=ROOT, check=True, env=ENVIRONMENT,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return time.perf_counter() - started


def peak_memory_mb(words: Sequence[str]) -> float | None:
    """Largest resident memory of a process and its children together; None without /proc."""
    if not Path("/proc/self/statm").exists():
        return None
    process = subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    peak = 0.0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.is_set():
            peak = max(peak, sum(map(_private_mb, _tree(process.pid))))
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    process.wait()
    done.set()
    watcher.join()
    return round(peak)


def _tree(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(member for child in children for member in _tree(int(child)))]


def _private_mb(pid: int) -> float:
    """Proportional set size: pages shared by forked processes count once."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def query_times_ms(index_dir: str) -> list[float]:
    """Wall milliseconds of each question of both sets in one process, nothing cached."""
    pipeline = RagPipeline(index_dir=index_dir, cache_entries=0)
    questions = [
        question["question"]
        for path in SETS
        for question in json.loads(path.read_text(encoding="utf-8"))["rag_questions"]
    ]
    pipeline.search(questions[0])
    times = []
    for question in questions:
        started = time.perf_counter()
        pipeline.search(question)
        times.append((time.perf_counter() - started) * 1000)
    return times


def main() -> int:
    """Measure, print and save; 1 when the corpus is not there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if not (ROOT / CORPUS).is_dir():
        print(f"{CORPUS} is not there: `make corpus`", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        index_dir = f"{scratch}/index"
        index = ["-m", "src", "index", "--target_dir", CORPUS, "--index_dir", index_dir]
        search = ["-m", "src", "search", QUERY, "--index_dir", index_dir, "--no_cache"]
        batches = [
            ["-m", "src", "search_dataset", str(path), "--save_directory", scratch,
             "--index_dir", index_dir, "--no_cache"]
            for path in SETS
        ]  # fmt: skip
        things = {
            "naive index": [["-c", NAIVE, CORPUS]],
            "index from nothing": [[*index, "--force"]],
            "index unchanged": [index],
            "import numpy, bm25s": [["-c", "import numpy, bm25s"]],
            "search, one process": [search],
            "search_dataset, two processes": batches,
        }
        run([*index, "--force"])
        run(search)
        seconds: dict[str, list[float]] = {name: [] for name in things}
        for _ in range(options.rounds):
            for name, commands in things.items():
                seconds[name].append(sum(map(run, commands)))
        memory = peak_memory_mb([*index, "--force"])
        queries = sorted(query_times_ms(index_dir))
    report(seconds, memory, queries)
    return 0


def report(seconds: dict[str, list[float]], memory: float | None, queries: list[float]) -> None:
    """Print a table and save everything measured."""
    best = {name: min(times) for name, times in seconds.items()}
    ratio = {
        "index from nothing / naive index": best["index from nothing"] / best["naive index"],
        "search / import": best["search, one process"] / best["import numpy, bm25s"],
    }
    percentile = {
        f"p{p}": round(statistics.quantiles(queries, n=100)[p - 1], 2) for p in (50, 95, 99)
    }
    for name, value in best.items():
        print(f"{name:<34}{value:8.2f} s")
    for name, value in ratio.items():
        print(f"{name:<34}{value:8.2f} times")
    for name, value in percentile.items():
        print(f"{'query in process, ' + name:<34}{value:8.2f} ms of {len(queries)} questions")
    print(f"{'peak memory of index':<34}{memory or 0:8.0f} MB")
    document: dict[str, Any] = {
        "seconds": {name: [round(t, 3) for t in times] for name, times in seconds.items()},
        "ratios": {name: round(value, 2) for name, value in ratio.items()},
        "query_ms": percentile,
        "peak_memory_mb": memory,
    }
    print(f"saved in {save('speed', document).relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
