"""Companion ``.hash`` files: SHA-256 in the format that ``sha256sum -c`` reads."""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterable

from ragmachine.errors import IndexCorruptError

SUFFIX = ".hash"
_REMEDY = "build the index again: `make index`"


def file_digest(path: str) -> str:
    """SHA-256 of a file, in hexadecimal.

    Mapped and hashed in one call, which lets go of the interpreter lock once: reading in pieces
    would wait for it at every piece while another thread imports.
    """
    with open(path, "rb") as stream:
        if not os.fstat(stream.fileno()).st_size:
            return hashlib.sha256().hexdigest()
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return hashlib.sha256(content).hexdigest()


def members(path: str) -> list[str]:
    """The files a hash file covers: the file itself, or all files below a folder, sorted."""
    if not os.path.isdir(path):
        return [path]
    return sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
    )


def write_hash(path: str) -> None:
    """Write ``<path>.hash`` beside a file or folder; names are relative to its own folder."""
    base = os.path.dirname(path)
    lines = [
        f"{file_digest(member)}  {os.path.relpath(member, base).replace(os.sep, '/')}\n"
        for member in members(path)
    ]
    with open(path + SUFFIX, "w", encoding="utf-8") as stream:
        stream.writelines(lines)


def verify(paths: Iterable[str]) -> None:
    """Check files and folders against their hash files.

    Raises: IndexCorruptError: names the first file that is missing or does not match.
    """
    for path in paths:
        base = os.path.dirname(path)
        try:
            with open(path + SUFFIX, encoding="utf-8") as stream:
                lines = stream.read().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise IndexCorruptError(
                f"the hash file {path + SUFFIX} is missing or unreadable", remedy=_REMEDY
            ) from error
        for line in lines:
            digest, _, name = line.partition("  ")
            member = os.path.join(base, name)
            try:
                is_intact = file_digest(member) == digest
            except OSError as error:
                raise IndexCorruptError(
                    f"{member} is missing or unreadable", remedy=_REMEDY
                ) from error
            if not is_intact:
                raise IndexCorruptError(
                    f"{member} does not match its SHA-256 in {path + SUFFIX}", remedy=_REMEDY
                )
