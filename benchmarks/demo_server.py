"""The server that the demonstration talks to: a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType

import httpx

from machine import ROOT

_START_S = 60.0
_STOP_S = 30.0


class DemoServer:
    """Runs while its block runs; settings of whoever starts it do not matter.

    Args:
        folder: the project root; the index lies in it.
        corpus: what may be indexed.
        llm: who writes answers.
        path: what must answer well before it counts as started.

    Attributes:
        url: where it is.
        ready_s: seconds from its start until `path` answered.
        client: asks it.
    """

    def __init__(self, folder: Path, corpus: Path, llm: str, *, path: str = "/health") -> None:
        self._words = [
            sys.executable, "-m", "src", "serve", "--port", "0", "--rate_limit", "0",
            "--index_dir", str(folder / "index"), "--llm", llm, "--answer_cache",
        ]  # fmt: skip
        kept = {name: value for name, value in os.environ.items() if name[:4] != "RAG_"}
        self._environment = kept | {
            "RAG_PROJECT_ROOT": str(folder),
            "RAG_TARGET_DIR": str(corpus),
            "XDG_CONFIG_HOME": str(folder),
        }
        self._path = path
        self._lines: list[str] = []
        self.url = ""
        self.ready_s = 0.0

    def __enter__(self) -> DemoServer:
        started = time.perf_counter()
        self._process = subprocess.Popen(
            self._words, cwd=ROOT, env=self._environment, stderr=subprocess.PIPE, text=True
        )
        try:
            self.url = self._told_url()
            self.client = httpx.Client(base_url=self.url, timeout=600, trust_env=False)
            while not self.client.get(self._path).is_success:
                if time.perf_counter() - started > _START_S:
                    raise OSError(f"{self._path} of the server does not answer")
                time.sleep(0.01)
        except BaseException:
            self._stop()
            raise
        self.ready_s = time.perf_counter() - started
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.client.close()
        self._stop()

    def _told_url(self) -> str:
        """The address that it tells; what else it logs is read and dropped from then on.

        Raises: OSError: it ended instead.
        """
        lines = iter(self._process.stderr or ())
        for line in lines:
            self._lines.append(line)
            if line.startswith("serving on "):
                threading.Thread(target=lambda: all(True for _ in lines), daemon=True).start()
                return line.removeprefix("serving on ").strip()
        raise OSError(f"the server ended: {''.join(self._lines).strip()}")

    def _stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
