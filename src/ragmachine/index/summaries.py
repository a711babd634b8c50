"""What a model wrote about chunks, a line each, kept by content beside an index's generations.

``summaries.log`` is only ever appended to: one record a line, JSON behind a checksum. A killed
writer leaves at most one torn line at the end, which readers skip and the next writer cuts off.
The author of the last record is the one whose summaries an index takes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any

import orjson

from ragmachine.errors import StorageError
from ragmachine.index.files import storage_errors
from ragmachine.index.lock import exclusive

SUMMARIES_FILE = "summaries.log"
_LOCK_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes summaries: one author is not asked twice about the same text.

    Attributes:
        model: the model's name.
        prompt: version of what it is asked.
    """

    model: str
    prompt: str


@dataclass(frozen=True)
class Summaries:
    """What one author wrote.

    Attributes:
        author: who.
        by_text: SHA-256 of a chunk's text in UTF-8, in hexadecimal, to the line about it.
    """

    author: Author
    by_text: Mapping[str, str] = field(default_factory=dict)

    def of(self, text: bytes) -> str:
        """The line about a text in UTF-8; "" where there is none."""
        return self.by_text.get(text_digest(text), "") if self.by_text else ""

    @cached_property
    def digest(self) -> str:
        """Names all that is known: SHA-256, shortened, whatever the order of writing."""
        known = hashlib.sha256(repr(self.author).encode())
        for row in sorted(self.by_text.items()):
            known.update(orjson.dumps(row))
        return known.hexdigest()[:16]


def text_digest(text: bytes) -> str:
    """SHA-256 of a chunk's text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text).hexdigest()


def read_summaries(folder: str, author: Author | None = None) -> Summaries | None:
    """The summaries of an index folder.

    Args:
        folder: the index folder.
        author: whose; None for whoever wrote last.
    Returns: None where nobody has written any.
    Raises: StorageError: the file is there and cannot be read.
    """
    path = os.path.join(folder, SUMMARIES_FILE)
    try:
        with open(path, "rb") as stream:
            records = list(_records(stream.read()))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(
            f"the summaries in {path} cannot be read: {error.strerror or error}",
            remedy="let them be read, or remove the file: the index is then without summaries",
        ) from error
    if not records:
        return None
    chosen = author or _author(records[-1])
    by_text = {
        row["sha256"]: row["summary"]
        for row in records
        if "sha256" in row and _author(row) == chosen
    }
    return Summaries(chosen, by_text)


class SummaryWriter:
    """Appends what one author writes; made by `writing_summaries`."""

    def __init__(self, stream: IO[bytes], folder: str, author: Author) -> None:
        self._stream = stream
        self._folder = folder
        self._author = author

    def put(self, digest: str, summary: str) -> None:
        """Keep the line about a text, and hand it to the operating system before returning.

        Args:
            digest: as `text_digest` makes it.
            summary: UTF-8 must be able to hold it.
        Raises: StorageError: the disk refuses.
        """
        self._append({"sha256": digest, "summary": summary})

    def choose(self) -> None:
        """Make the author the one whose summaries an index takes, without a new one.

        Raises: StorageError: the disk refuses.
        """
        self._append({})

    def _append(self, record: Mapping[str, str]) -> None:
        author = {"model": self._author.model, "prompt": self._author.prompt}
        body = orjson.dumps({**author, **record})
        line = b"%08x %s\n" % (zlib.crc32(body), body)
        with storage_errors(self._folder):
            if self._stream.write(line) != len(line):  # unbuffered: the disk took a part of it
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def writing_summaries(folder: str, author: Author) -> Iterator[SummaryWriter]:
    """Hold the file, so that one process at a time writes, its end at a whole line.

    Raises: IndexBusyError: another process is at it; StorageError.
    """
    path = os.path.join(folder, SUMMARIES_FILE)
    with ExitStack() as stack:
        with storage_errors(folder):
            stack.enter_context(exclusive(f"{path}.lock", timeout_s=_LOCK_TIMEOUT_S))
            stream = stack.enter_context(open(path, "a+b", buffering=0))
            stream.seek(0)
            stream.truncate(stream.read().rfind(b"\n") + 1)
        yield SummaryWriter(stream, folder, author)


def _records(data: bytes) -> Iterator[dict[str, Any]]:
    """The records that are whole; what follows the last line end is not."""
    for line in data.split(b"\n")[:-1]:
        checksum, _, body = line.partition(b" ")
        if body and checksum == b"%08x" % zlib.crc32(body):
            yield orjson.loads(body)


def _author(record: Mapping[str, str]) -> Author:
    return Author(record["model"], record["prompt"])
