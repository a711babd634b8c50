"""Parses of pages by content, so that a page is read once however often the index is built."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import zlib
from functools import cache
from importlib import metadata
from typing import Any

_KEPT_PAGES = 200_000
_MODULES = os.path.dirname(os.path.abspath(__file__))
# Makes a parse; what is made of it later may change without reading pages again.
PARSERS = ("child", "grids", "layout", "ocr", "pdf_chars", "pdf_reader", "transcript")
_READERS = ("pypdfium2", "pdfplumber", "rapidocr", "onnxruntime")


class PageCache:
    """A file of parses; one that cannot be used, whatever the reason, counts as empty.

    Several processes may use the same file.
    """

    def __init__(self, path: str) -> None:
        """Name the file, "" for none; it is opened when first needed."""
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._has_written = False

    def get(self, key: str) -> dict[str, Any] | None:
        """What was kept under a key."""
        with contextlib.suppress(sqlite3.Error, zlib.error, ValueError):
            connection = self._connect()
            if connection:
                query = "SELECT parse FROM pages WHERE key = ?"
                row = connection.execute(query, (bytes.fromhex(key),)).fetchone()
                found = json.loads(zlib.decompress(row[0])) if row else None
                return found if isinstance(found, dict) else None
        return None

    def put(self, key: str, parse: dict[str, Any]) -> None:
        """Keep a parse."""
        with contextlib.suppress(sqlite3.Error):
            connection = self._connect()
            if connection:
                packed = zlib.compress(json.dumps(parse).encode(), 1)
                with connection:
                    connection.execute(
                        "INSERT OR REPLACE INTO pages VALUES (?, ?)", (bytes.fromhex(key), packed)
                    )
                self._has_written = True

    def _connect(self) -> sqlite3.Connection | None:
        if self._connection is None and self._path:
            connection = sqlite3.connect(self._path, timeout=10)
            try:
                connection.execute("PRAGMA synchronous = OFF")  # a lost cache is read again
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS pages (key BLOB PRIMARY KEY, parse BLOB)"
                )
            except sqlite3.Error:
                connection.close()
                self._path = ""  # damaged, or no place to write: not asked again
                raise
            self._connection = connection
        return self._connection

    def close(self) -> None:
        """Drop the oldest parses beyond those that are kept, and close the file."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._has_written:
            with contextlib.suppress(sqlite3.Error), connection:
                connection.execute(
                    "DELETE FROM pages WHERE rowid <= (SELECT max(rowid) FROM pages) - ?",
                    (_KEPT_PAGES,),
                )
        connection.close()


@cache
def reader_digest() -> str:
    """Names the code and the libraries that parse pages: others make other parses."""
    digest = hashlib.sha256()
    for name in PARSERS:
        with open(os.path.join(_MODULES, f"{name}.py"), "rb") as stream:
            digest.update(stream.read())
    for name in _READERS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            digest.update(f"{name} {metadata.version(name)}\n".encode())
    return digest.hexdigest()


def page_key(document: bytes, number: int, model: str = "") -> str:
    """The key of a page.

    Args:
        document: SHA-256 of its document.
        number: of the page.
        model: that read its image; "" where none did.
    """
    named = f"{reader_digest()} {number} {model}".encode() + document
    return hashlib.sha256(named).hexdigest()
