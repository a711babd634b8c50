"""Companion ``.hash`` files: SHA-256 in the format that ``sha256sum -c`` reads."""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from collections.abc import Iterable

from ragmachine.errors import IndexCorruptError

SUFFIX = ".hash"
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
REBUILD = "build the index again: `make index`, or `ragmachine index` with its own --collection"


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
    lines = [f"{file_digest(member)}  {_name_in(member, base)}\n" for member in members(path)]
    with open(path + SUFFIX, "w", encoding="utf-8") as stream:
        stream.writelines(lines)


def verify(paths: Iterable[str]) -> None:
    """Check files and folders against their hash files.

    Raises: IndexCorruptError: names the first file that is missing, does not match or is not
        listed, as after the hash file itself was cut short.
    """
    for path in paths:
        base = os.path.dirname(path)
        digests = _read_hash_file(path + SUFFIX)
        for name, digest in digests.items():
            member = os.path.join(base, name)
            try:
                is_intact = file_digest(member) == digest
            except (OSError, ValueError) as error:  # ValueError: it shrank while it was mapped
                raise _corrupt(f"{member} is missing or unreadable") from error
            if not is_intact:
                raise _corrupt(f"{member} does not match its SHA-256 in {path + SUFFIX}")
        for member in members(path):
            name = _name_in(member, base)
            # a dot file is what a file manager drops anywhere, and nothing of ours
            if name not in digests and not os.path.basename(name).startswith("."):
                raise _corrupt(f"the hash file {path + SUFFIX} does not list {name}")


def _read_hash_file(path: str) -> dict[str, str]:
    """Digests by name."""
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            lines = stream.read().removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _corrupt(f"the hash file {path} is missing or unreadable") from error
    found = [_LINE.fullmatch(line) for line in lines]
    if not all(found):
        raise _corrupt(f"the hash file {path} is garbled")
    return {match[2]: match[1] for match in found if match}


def _name_in(member: str, base: str) -> str:
    return os.path.relpath(member, base or ".").replace(os.sep, "/")


def _corrupt(message: str) -> IndexCorruptError:
    return IndexCorruptError(message, remedy=REBUILD)
