"""Long work in the background, one at a time, with its progress."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from ragmachine.errors import RagError
from ragmachine.server.logs import LOGGER
from ragmachine.server.problems import ProblemError, problem_of

_LOG = logging.getLogger(LOGGER)
_KEPT = 200
_MOST_WAITING = 16
QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"


@dataclass(frozen=True, slots=True)
class Target:
    """What an index is to hold.

    Attributes:
        paths: folders, or a single file; none for those that it was built of.
        tags: of the folders, by commas; one for each, or "".
        is_as_built: cut and score as the index was built, whatever the settings say now.
        collection: name of the index, "" for the one without.
    """

    paths: tuple[str, ...] = ()
    tags: str = ""
    is_as_built: bool = False
    collection: str = ""


class Build(Protocol):
    """Indexes folders."""

    def __call__(
        self, target: Target, on_file: Callable[[int], None], is_stopped: Callable[[], bool]
    ) -> dict[str, Any]:
        """Bring an index up to date.

        Args:
            target: what it is to hold.
            on_file: called with the number of files just finished.
            is_stopped: whether to leave off.
        Returns: the report, as `IndexReport.to_json` gives it.
        Raises: RagError, CancelledBuildError.
        """


class CancelledBuildError(Exception):
    """The server goes down; the index is as it was before."""


@dataclass(slots=True)
class Job:
    """Long work and how far it is.

    Attributes:
        id: random, hard to guess.
        kind: what is done: ``ingest``, ``upload`` or ``remove``.
        target: what the index is to hold.
        state: ``queued``, ``running``, ``done`` or ``failed``.
        files: files that are finished.
        created, started, finished: seconds since the epoch; 0 before.
        report: what was done, at the end.
        error: why it failed, as a problem's document.
    """

    id: str
    kind: str
    target: Target
    state: str = QUEUED
    files: int = 0
    created: float = 0.0
    started: float = 0.0
    finished: float = 0.0
    report: dict[str, Any] | None = None
    error: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """The job as its document."""
        end = self.finished or time.time()
        return {
            "job_id": self.id,
            "kind": self.kind,
            "collection": self.target.collection,
            "paths": list(self.target.paths),
            "state": self.state,
            "files_done": self.files,
            "seconds": round(end - self.started, 3) if self.started else 0.0,
            "report": self.report,
            "error": self.error,
        }


class JobRunner:
    """Runs jobs in order in a thread of its own: whatever changes the index does so one by one.

    Args:
        build: indexes folders.
        take_into_use: called after it with the collection, so that a job that is done can be
            searched.
    """

    def __init__(self, build: Build, take_into_use: Callable[[str], object]) -> None:
        self._build = build
        self._take_into_use = take_into_use
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="jobs")

    def begin(self, kind: str, target: Target, plan: Callable[[], Target]) -> Job:
        """Bring the index to a state when the jobs before are done.

        Args:
            kind: as `Job.kind`.
            target: what the index is to hold, as things are now.
            plan: says so again at the job's turn: the jobs before it may have changed the index.
        Raises: ProblemError: 503, too many wait.
        """
        job = Job(uuid.uuid4().hex, kind, target, created=time.time())
        with self._lock:
            waiting = sum(known.state == QUEUED for known in self._jobs.values())
            if waiting >= _MOST_WAITING or self._stopped.is_set():
                raise ProblemError(
                    503,
                    "jobs_full",
                    f"{waiting} jobs are waiting already",
                    remedy="ask again when one of them is done",
                    headers={"Retry-After": "10"},
                )
            self._jobs[job.id] = job
            self._forget_oldest()
        self._thread.submit(self._run, job, plan)
        return job

    def get(self, identity: str) -> Job | None:
        """A job by its id; None for one that is unknown or long done."""
        with self._lock:
            return self._jobs.get(identity)

    def counts(self) -> dict[str, int]:
        """Jobs in each state."""
        counts = dict.fromkeys((QUEUED, RUNNING, DONE, FAILED), 0)
        with self._lock:
            for job in self._jobs.values():
                counts[job.state] += 1
        return counts

    def close(self) -> None:
        """Stop the job that runs and drop those that wait; the index stays as it is."""
        self._stopped.set()
        self._thread.shutdown(cancel_futures=True)

    def _forget_oldest(self) -> None:
        ended = [job.id for job in self._jobs.values() if job.state in (DONE, FAILED)]
        for identity in ended[: max(len(self._jobs) - _KEPT, 0)]:
            del self._jobs[identity]

    def _run(self, job: Job, plan: Callable[[], Target]) -> None:
        def advance(count: int) -> None:
            job.files += count

        job.state, job.started = RUNNING, time.time()
        try:
            job.target = plan()
            job.report = self._build(job.target, advance, self._stopped.is_set)
            self._take_into_use(job.target.collection)
        except Exception as error:  # noqa: BLE001  (whatever it is, the job tells it)
            if not isinstance(error, RagError | ProblemError | CancelledBuildError):
                _LOG.exception("job_failed", extra={"fields": {"job_id": job.id}})
            job.error = _told(error)
        job.finished = time.time()
        job.state = FAILED if job.error else DONE
        fields = {"job_id": job.id, "kind": job.kind, "state": job.state, "files": job.files}
        _LOG.info("job", extra={"fields": fields})


def _told(error: Exception) -> dict[str, Any]:
    if isinstance(error, CancelledBuildError):
        error = ProblemError(
            503, "cancelled", "the server went down meanwhile", remedy="ask for it again"
        )
    document = problem_of(error).to_json("")
    del document["request_id"]
    return document
