"""How a running server holds up: speed of /search, start, memory, rebuilds under load.

    python benchmarks/load.py --index_dir data/processed --seconds 5 --many 50000 --save

Starts `ragmachine serve` on a free port and asks it the questions of a dataset over plain sockets,
so that the client costs little of the processor that both share. Every answer must be a 200 with
passages. Caches are off unless `--cached` is given: each question is then new work.

Memory is read before, after each quarter and at the end of `--many` requests: resident (RSS), and
the server's share of what several processes map (PSS).

For the rebuilds a corpus of its own is written, whose files all say which rebuild they are of, and
more of them each time, so that an answer mixed of two generations shows. `ragmachine index` builds
it in another process, as people do, while clients search without a pause.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from load_corpus import Generations
from machine import ROOT, save

QUESTIONS = ROOT / "data" / "datasets" / "UnansweredQuestions"
CLIENTS = (1, 16, 64)
MEMORY_CLIENTS = 16
REBUILD_CLIENTS = 8
_READY_S = 60.0
_TAKEN_S = 30.0


def environment(*, cached: bool) -> dict[str, str]:
    """Of processes that are measured: nobody's own settings."""
    kept = {name: value for name, value in os.environ.items() if name[:4] != "RAG_"}
    return kept if cached else {**kept, "RAG_CACHE_ENTRIES": "0"}


@contextmanager
def server(index_dir: str, *, cached: bool) -> Iterator[tuple[int, int, float]]:
    """Start a server; its port, its process and the seconds until it was ready."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "src", "serve", "--port", "0", "--index_dir", index_dir,
         "--llm", "extractive", "--rate_limit", "0"],
        cwd=ROOT, env=environment(cached=cached), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        port = _port(process)
        while not _is_ready(port):
            if time.perf_counter() - started > _READY_S:
                raise SystemExit("the server is not ready")
            time.sleep(0.01)
        yield port, process.pid, time.perf_counter() - started
    finally:
        process.terminate()
        process.wait(30)


def _port(process: subprocess.Popen[str]) -> int:
    """The port that a server tells; what else it logs is read and dropped from then on."""
    lines = iter(process.stderr or ())
    for line in lines:
        if "serving on" in line:
            threading.Thread(target=lambda: all(True for _ in lines), daemon=True).start()
            return int(line.rpartition(":")[2])
    raise SystemExit("the server ended")


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def has_passages(answer: bytes) -> bool:
    """Whether a search found anything, without the cost of reading its document."""
    return b'"retrieved_chunks":[' in answer


class Load:
    """Clients that ask one question after another, each over a connection of its own.

    Args:
        port: of the server.
        questions: asked in turn.
        is_well: judges the body of a 200.
    """

    def __init__(
        self,
        port: int,
        questions: Sequence[str],
        is_well: Callable[[bytes], bool] = has_passages,
    ) -> None:
        self.port = port
        self.spent_ms: list[float] = []
        self.failed = 0
        self._is_well = is_well
        self._is_over = False
        self._bodies = itertools.cycle(
            json.dumps({"query": text, "k": 10}).encode() for text in questions
        )

    async def run(self, clients: int, *, seconds: float = 0, requests: int = 0) -> float:
        """Ask for some time, or so many times, or until `end`.

        Returns: requests per second.
        """
        end = time.perf_counter() + (seconds or 3600)
        left = itertools.repeat(None, requests) if requests else itertools.repeat(None)
        started, before = time.perf_counter(), len(self.spent_ms)
        await asyncio.gather(*(self._client(end, left) for _ in range(clients)))
        return (len(self.spent_ms) - before) / (time.perf_counter() - started)

    def end(self) -> None:
        """Have every client stop after the answer that it waits for."""
        self._is_over = True

    async def _client(self, end: float, left: Iterator[None]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for _ in left:
            if self._is_over or time.perf_counter() > end:
                break
            body = next(self._bodies)
            began = time.perf_counter()
            writer.write(
                b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            answer = await reader.readexactly(length)
            self.spent_ms.append((time.perf_counter() - began) * 1000)
            self.failed += not (head.startswith(b"HTTP/1.1 200") and self._is_well(answer))
        writer.close()
        await writer.wait_closed()

    def percentile(self, percent: int) -> float:
        """Nearest rank, in milliseconds."""
        ordered = sorted(self.spent_ms)
        return ordered[max(-(-len(ordered) * percent // 100), 1) - 1]


def memory_mb(pid: int) -> dict[str, float]:
    """Memory of a process in MB (10^6 bytes): resident, and its share of what others map too."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return {
        f"{name.lower()}_mb": round(int(text.split(f"{name}:")[1].split()[0]) * 1024 / 1e6, 1)
        for name in ("Rss", "Pss")
    }


def cpu_s(pid: int) -> float:
    """Processor time that a process has used, in seconds: less of a busy machine is in it."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(index_dir: str, questions: list[str], seconds: float, many: int, cached: bool) -> Any:
    """Speed and memory over one index."""
    with server(index_dir, cached=cached) as (port, pid, ready_s):
        warm = Load(port, questions)
        asyncio.run(warm.run(1, requests=len(questions)))
        rows = [_speed(port, pid, questions, clients, seconds) for clients in CLIENTS]
        memory = _memory(port, pid, questions, many)
    return {"ready_s": round(ready_s, 2), "cached": cached, "search": rows, "memory": memory}


def _speed(port: int, pid: int, questions: list[str], clients: int, seconds: float) -> Any:
    load, used = Load(port, questions), cpu_s(pid)
    per_s = asyncio.run(load.run(clients, seconds=seconds))
    used = cpu_s(pid) - used
    return {
        "clients": clients,
        "requests": len(load.spent_ms),
        "requests_per_s": round(per_s, 1),
        "p50_ms": round(load.percentile(50), 2),
        "p99_ms": round(load.percentile(99), 2),
        "cpu_ms": round(used / len(load.spent_ms) * 1000, 2),
        "failed": load.failed,
    }


def _memory(port: int, pid: int, questions: list[str], many: int) -> Any:
    """Memory before so many requests, after each quarter of them, and in the end."""
    load = Load(port, questions)
    points = [{"requests": 0, **memory_mb(pid)}]
    for quarter in range(1, 5):
        wanted = many * quarter // 4 - len(load.spent_ms)
        if wanted:
            asyncio.run(load.run(MEMORY_CLIENTS, requests=wanted))
            points.append({"requests": len(load.spent_ms), **memory_mb(pid)})
    return {"points": points, "requests": len(load.spent_ms), "failed": load.failed}


def rebuilds(count: int, files: int) -> Any:
    """Rebuild an index so often while clients search it; nothing may fail, nothing be mixed."""
    with tempfile.TemporaryDirectory() as folder:
        generations = Generations(Path(folder) / "corpus", files)
        index_dir = str(Path(folder) / "index")
        _indexed(generations, index_dir)
        with server(index_dir, cached=False) as (port, _, _):
            load = Load(port, generations.questions, generations.is_whole)
            asking = threading.Thread(target=lambda: asyncio.run(load.run(REBUILD_CLIENTS)))
            started = time.perf_counter()
            asking.start()
            try:
                build_s = [_rebuilt(generations, index_dir) for _ in range(count)]
            finally:
                load.end()
                asking.join()
            spent_s = time.perf_counter() - started
    return {
        "rebuilds": count,
        "generations_seen": len(generations.seen),
        "files": files,
        "clients": REBUILD_CLIENTS,
        "requests": len(load.spent_ms),
        "requests_per_s": round(len(load.spent_ms) / spent_s, 1),
        "failed": load.failed - generations.mixed,
        "mixed": generations.mixed,
        "p50_ms": round(load.percentile(50), 2),
        "p99_ms": round(load.percentile(99), 2),
        "longest_ms": round(max(load.spent_ms), 2),
        "build_s": [round(one, 2) for one in build_s],
    }


def _rebuilt(generations: Generations, index_dir: str) -> float:
    """Seconds of the next build; returns when an answer was made of it."""
    generations.advance()
    started = time.perf_counter()
    _indexed(generations, index_dir)
    built = time.perf_counter()
    while generations.number not in generations.seen:
        if time.perf_counter() - built > _TAKEN_S:
            raise SystemExit("a new generation is not taken into use")
        time.sleep(0.005)
    return built - started


def _indexed(generations: Generations, index_dir: str) -> None:
    words = ["index", "--target_dir", str(generations.folder), "--index_dir", index_dir, "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "src", *words], cwd=ROOT, env=environment(cached=False), check=True
    )


def main() -> None:
    """Measure, print, and save where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index_dir", default=str(ROOT / "data" / "processed"))
    parser.add_argument("--dataset", default=str(QUESTIONS / "vllm_docs.json"))
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--many", type=int, default=2000, help="requests of the memory figure")
    parser.add_argument("--rebuilds", type=int, default=10, help="under load; 0 leaves them out")
    parser.add_argument("--files", type=int, default=500, help="of the corpus that is rebuilt")
    parser.add_argument("--cached", action="store_true")
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    rows = json.loads(Path(given.dataset).read_text(encoding="utf-8"))["rag_questions"]
    questions = [row["question"] for row in rows]
    load_before = round(os.getloadavg()[0], 1)  # of a machine that is busy little is learned
    found = measure(given.index_dir, questions, given.seconds, given.many, given.cached)
    if given.rebuilds:
        found["rebuilds"] = rebuilds(given.rebuilds, given.files)
    found["load_before"] = load_before
    print(json.dumps(found, indent=1))
    if given.save:
        print(f"saved in {save('load', found)}")


if __name__ == "__main__":
    main()
