"""What can go wrong, as the user meets it: one tree, every leaf with its remedy and exit code.

    RagError                      exit 1
    ├── UsageError                exit 2   a command line, setting or argument that cannot be meant
    ├── CorpusError               exit 1   a folder or archive that cannot be had or read
    ├── IndexationError           exit 1   a file that cannot be indexed, under ``--strict``
    ├── IndexMissingError         exit 1   nothing has been indexed yet
    ├── IndexCorruptError         exit 1   an index file is not what was written; names the file
    ├── IndexVersionError         exit 1   an index written by another version or format
    ├── IndexBusyError            exit 1   another process is writing the same index
    ├── StorageError              exit 1   the disk refuses: read-only, full, not permitted
    ├── DatasetError              exit 1   a dataset, results or answers file that cannot be used
    └── ModelError                exit 1   a language model that cannot be asked; answers fall back

A programmer's mistake stays a ``ValueError``; input is never checked with ``assert``.
"""

from __future__ import annotations


class RagError(Exception):
    """An expected failure: what happened, and what to type next.

    Args:
        message: one line, without a final full stop.
        remedy: one line that starts with a verb, or "" when there is nothing to do.
    """

    exit_code = 1

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class UsageError(RagError):
    """The command line, a setting or an argument is refused before any work is done."""

    exit_code = 2


class CorpusError(RagError):
    """A corpus folder or archive cannot be had, read or trusted."""


class IndexationError(RagError):
    """At least one file could not be indexed as it should, and ``--strict`` was asked for."""


class IndexMissingError(RagError):
    """There is no index where one was looked for."""


class IndexCorruptError(RagError):
    """A file of the index is missing, truncated or altered; the message names it."""


class IndexVersionError(RagError):
    """The index was written in a format this version does not read."""


class IndexBusyError(RagError):
    """Another process holds the lock of the index."""


class StorageError(RagError):
    """The operating system refused to write; what was there before is untouched."""


class DatasetError(RagError):
    """A dataset, results or answers file is missing, malformed or belongs to another set."""


class ModelError(RagError):
    """A language model is unreachable, missing, silent or broken."""
