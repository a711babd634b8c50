"""How a running server holds up: requests per second and latency of /search, start, memory.

    python benchmarks/load.py --index_dir data/processed --seconds 5 --many 50000 --save

Starts `ragmachine serve` on a free port and asks it the questions of a dataset over plain sockets,
so that the client costs little of the processor that both share. Every answer must be a 200 with
passages. Caches are off unless `--cached` is given: each question is then new work.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from machine import ROOT, save

QUESTIONS = ROOT / "data" / "datasets" / "UnansweredQuestions"
CLIENTS = (1, 16, 64)
_READY_S = 60.0


@contextmanager
def server(index_dir: str, *, cached: bool) -> Iterator[tuple[int, int, float]]:
    """Start a server; its port, its process and the seconds until it was ready."""
    environment = {name: value for name, value in os.environ.items() if name[:4] != "RAG_"}
    if not cached:
        environment["RAG_CACHE_ENTRIES"] = "0"
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "src", "serve", "--port", "0", "--index_dir", index_dir,
         "--llm", "extractive", "--rate_limit", "0"],
        cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True,
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


class Load:
    """Clients that ask one question after another, each over a connection of its own.

    Args:
        port: of the server.
        questions: asked in turn.
    """

    def __init__(self, port: int, questions: list[str]) -> None:
        self.port = port
        self.spent_ms: list[float] = []
        self.failed = 0
        self._bodies = itertools.cycle(
            json.dumps({"query": text, "k": 10}).encode() for text in questions
        )

    async def run(self, clients: int, *, seconds: float = 0, requests: int = 0) -> float:
        """Ask for some time, or so many times.

        Returns: requests per second.
        """
        end = time.perf_counter() + (seconds or 3600)
        left = itertools.repeat(None, requests) if requests else itertools.repeat(None)
        started = time.perf_counter()
        await asyncio.gather(*(self._client(end, left) for _ in range(clients)))
        return len(self.spent_ms) / (time.perf_counter() - started)

    async def _client(self, end: float, left: Iterator[None]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for _ in left:
            if time.perf_counter() > end:
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
            is_well = head.startswith(b"HTTP/1.1 200") and b'"retrieved_chunks":[' in answer
            self.failed += not is_well
        writer.close()
        await writer.wait_closed()

    def percentile(self, percent: int) -> float:
        """Nearest rank, in milliseconds."""
        ordered = sorted(self.spent_ms)
        return ordered[max(-(-len(ordered) * percent // 100), 1) - 1]


def memory_mb(pid: int) -> float:
    """Resident memory of a process, in MB (10^6 bytes)."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(text.split("VmRSS:")[1].split()[0]) * 1024 / 1e6


def cpu_s(pid: int) -> float:
    """Processor time that a process has used, in seconds: less of a busy machine is in it."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(index_dir: str, questions: list[str], seconds: float, many: int, cached: bool) -> Any:
    """All numbers of one index."""
    with server(index_dir, cached=cached) as (port, pid, ready_s):
        rows = []
        warm = Load(port, questions)
        asyncio.run(warm.run(1, requests=len(questions)))
        for clients in CLIENTS:
            load, used = Load(port, questions), cpu_s(pid)
            per_s = asyncio.run(load.run(clients, seconds=seconds))
            used = cpu_s(pid) - used
            rows.append(
                {
                    "clients": clients,
                    "requests": len(load.spent_ms),
                    "requests_per_s": round(per_s, 1),
                    "p50_ms": round(load.percentile(50), 2),
                    "p99_ms": round(load.percentile(99), 2),
                    "cpu_ms": round(used / len(load.spent_ms) * 1000, 2),
                    "failed": load.failed,
                }
            )
        before = memory_mb(pid)
        bulk = Load(port, questions)
        if many:
            asyncio.run(bulk.run(16, requests=many))
        memory = {
            "before_mb": round(before, 1),
            "after_mb": round(memory_mb(pid), 1),
            "requests": len(bulk.spent_ms),
            "failed": bulk.failed,
        }
    return {"ready_s": round(ready_s, 2), "cached": cached, "search": rows, "memory": memory}


def main() -> None:
    """Measure, print, and save where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index_dir", default=str(ROOT / "data" / "processed"))
    parser.add_argument("--dataset", default=str(QUESTIONS / "vllm_docs.json"))
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--many", type=int, default=2000)
    parser.add_argument("--cached", action="store_true")
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    rows = json.loads(Path(given.dataset).read_text(encoding="utf-8"))["rag_questions"]
    questions = [row["question"] for row in rows]
    load_before = round(os.getloadavg()[0], 1)  # of a machine that is busy little is learned
    found = measure(given.index_dir, questions, given.seconds, given.many, given.cached)
    found["load_before"] = load_before
    print(json.dumps(found, indent=1))
    if given.save:
        print(f"saved in {save('load', found)}")


if __name__ == "__main__":
    main()
