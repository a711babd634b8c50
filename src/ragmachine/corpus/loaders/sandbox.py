"""A process of its own for parsers that a hostile file may crash, or keep busy for ever.

It is a fresh interpreter and no fork: what it imports (onnxruntime among it) must not share locks
with anyone. Requests and replies are a line of JSON each; a request may carry bytes. One process
reads many documents, since models of OCR take seconds to load; none is refused for what a process
did that had read others before.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import IO, Any

from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import LoadError

_MAX_REPLY_BYTES = 256 << 20
_PATIENCE = 8
_MOST_DOCUMENTS = 200  # of one process: what parsers leak goes with it
_OUT_OF_TIME = int(getattr(signal, "SIGPROF", 0)) or 1 << 16
_PACKAGE_FOLDER = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
)
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    "from ragmachine.corpus.loaders.child import main; main()"
)
# libraries of numbers start a thread for each core unless told otherwise
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_THREAD_LIMIT"), "1"
)


class ReaderLostError(LoadError):
    """The process ended, or was ended, over a request; the next request starts another.

    Args:
        reason: what became of it.
        is_doubtful: whether it had read other documents before, whose doing this may be.
    """

    def __init__(self, reason: str, *, is_doubtful: bool = False) -> None:
        super().__init__(reason)
        self.is_doubtful = is_doubtful


class Sandbox:
    """Sends requests to a reading process, which is started when it is first needed."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._documents = 0  # that the process was given
        self._is_idle = False  # since the last `rest`

    @property
    def is_running(self) -> bool:
        """Whether a process is there, with what earlier requests gave it."""
        return self._process is not None

    def ask(self, job: str, seconds: float, data: bytes = b"", **arguments: Any) -> dict[str, Any]:
        """Have a job done.

        Args:
            job: one of `child.JOBS`.
            seconds: of work, after which the process is ended. Where the system cannot count them
                these are seconds that pass; elsewhere that is the limit for one that only waits,
                many times over, since a busy machine is no fault of the document.
            data: a document. Where a process that had read others is lost over it, a fresh one is
                asked once more.
            arguments: of the job, as JSON knows them.
        Returns: what the job returned.

        Raises:
            LoadError: the job refused the document.
            ReaderLostError: it took too long or too much memory, came to more than can be handed
                over, or the process crashed.
        """
        if not data:
            return self._ask(job, seconds, b"", arguments)
        if self._documents >= _MOST_DOCUMENTS:
            self.close()
        self._documents += 1
        try:
            return self._ask(job, seconds, data, arguments)
        except ReaderLostError as error:
            if not error.is_doubtful:
                raise
            self._documents = 1
            return self._ask(job, seconds, data, arguments)

    def _ask(
        self, job: str, seconds: float, data: bytes, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        self._is_idle = False
        head = {"job": job, "bytes": len(data), "seconds": seconds, **arguments}
        process = self._process or self._start()
        late = threading.Event()
        patience = seconds * (_PATIENCE if hasattr(signal, "setitimer") else 1)
        alarm = threading.Timer(patience, self._end_late, (process, late))
        alarm.daemon = True
        alarm.start()
        try:
            line = _exchange(process, json.dumps(head).encode() + b"\n", data)
        except BaseException:
            self.close()
            raise
        finally:
            alarm.cancel()
        if len(line) == _MAX_REPLY_BYTES and not line.endswith(b"\n"):
            # it still writes, to nobody: it would never end by itself
            most = _MAX_REPLY_BYTES / (1 << 20)
            raise self._lost(f"came to more than {most:g} MiB when read", is_its_own=True)
        if not line.endswith(b"\n"):
            process.wait()
            if late.is_set() or process.returncode == -_OUT_OF_TIME:
                raise self._lost(f"took more than {seconds:g} s", is_its_own=True)
            raise self._lost("crashed its reader")
        reply: dict[str, Any] = json.loads(line)
        if "memory" in reply:  # what is left of the process is not to be relied on
            gibibytes = self._limits.max_memory_bytes / (1 << 30)
            raise self._lost(f"took more than {gibibytes:g} GiB of memory")
        if "error" in reply:
            raise LoadError(str(reply["error"]))
        return reply

    def _lost(self, reason: str, *, is_its_own: bool = False) -> ReaderLostError:
        """The error for a process that is of no more use; time is counted by the request."""
        is_doubtful = self._documents > 1 and not is_its_own
        self.close()
        return ReaderLostError(reason, is_doubtful=is_doubtful)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", _START, _PACKAGE_FOLDER]
        environment = {**os.environ, **_ONE_THREAD, "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [*command, str(self._limits.max_memory_bytes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        except OSError as error:
            raise LoadError(f"no process to read it can be started: {error.strerror}") from error
        self._process = process
        return process

    @staticmethod
    def _end_late(process: subprocess.Popen[bytes], late: threading.Event) -> None:
        late.set()
        process.kill()

    def rest(self) -> None:
        """End the process where it had nothing to do since the last rest: OCR holds a gigabyte."""
        if self._is_idle:
            self.close()
        self._is_idle = True

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        self._documents = 0
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if pipe:
                    pipe.close()
        process.wait()


def _exchange(process: subprocess.Popen[bytes], head: bytes, data: bytes) -> bytes:
    """The line that answers: without its end where the process is gone, or the line too long."""
    to, from_ = _pipes(process)
    try:
        with contextlib.suppress(BrokenPipeError):  # it may have said why before it went
            to.write(head)
            to.write(data)
            to.flush()
        return from_.readline(_MAX_REPLY_BYTES)
    except OSError:
        return b""


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise ValueError("the process was started without pipes")
    return process.stdin, process.stdout
