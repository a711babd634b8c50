"""Files that clients send: under a safe name, whole or not at all, inside one folder."""

from __future__ import annotations

import contextlib
import os
import re
import unicodedata
import uuid
from typing import BinaryIO

from ragmachine.errors import StorageError

_UNSAFE = re.compile(r"[^\w.()+@=,-]+")
_MOST_BYTES = 150
_MOST_SUFFIX_BYTES = 20
_BLOCK_BYTES = 1 << 20
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)


def safe_name(given: str) -> str:
    """A file name that is nothing else, anywhere: no folder, not hidden, not reserved.

    Letters of all scripts stay. Names that differ only in what is replaced become the same.
    """
    bare = re.split(r"[/\\]", given.replace("\0", ""))[-1]
    text = unicodedata.normalize("NFC", bare.encode("utf-8", "ignore").decode("utf-8"))
    text = _UNSAFE.sub("_", text).strip("._ ")
    stem, dot, suffix = text.rpartition(".")
    if not dot or len(suffix.encode()) > _MOST_SUFFIX_BYTES:
        stem, dot, suffix = text, "", ""
    stem = _cut(stem, _MOST_BYTES - len(suffix.encode()) - len(dot)).rstrip("._ ")
    name = f"{stem}{dot}{suffix}" if stem else suffix
    if not name:
        return "upload"
    return f"_{name}" if _RESERVED.fullmatch(name) else name


def store(stream: BinaryIO, folder: str, name: str) -> str:
    """Write a stream into a folder; a file of that name is replaced in one step.

    Args:
        stream: read to its end.
        folder: made when missing.
        name: as the client gave it.
    Returns: the path of the file.
    Raises: StorageError: the disk refuses; nothing is left behind.
    """
    path = os.path.join(folder, safe_name(name))
    partial = os.path.join(folder, f".part-{uuid.uuid4().hex}")  # hidden: not indexed
    try:
        os.makedirs(folder, exist_ok=True)
        with open(partial, "xb") as out:
            while block := stream.read(_BLOCK_BYTES):
                out.write(block)
        os.replace(partial, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(partial)
        raise StorageError(
            f"the upload cannot be stored in {folder}: {error.strerror or error}",
            remedy="free some space, or start the server with another --upload_dir",
        ) from error
    return path


def _cut(text: str, most_bytes: int) -> str:
    return text.encode("utf-8")[:most_bytes].decode("utf-8", "ignore")
