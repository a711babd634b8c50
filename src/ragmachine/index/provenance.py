"""What made an index, so that one made by other code or other versions is built anew."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SHAPING = ("chunking", "corpus", "index", "file_types.py")


def code_digest(parts: Sequence[str] = _SHAPING) -> str:
    """SHA-256, shortened, of the package's own modules in these folders or files.

    Nobody has to remember to raise a number when a tokenizer or a chunker changes.
    """
    digest = hashlib.sha256()
    for part in parts:
        path = os.path.join(_PACKAGE, part)
        names = sorted(os.listdir(path)) if os.path.isdir(path) else [""]
        for name in names:
            if name and not name.endswith(".py"):
                continue
            with open(os.path.join(path, name) if name else path, "rb") as stream:
                digest.update(name.encode() + b"\0" + stream.read())
    return digest.hexdigest()[:16]


def versions() -> dict[str, str]:
    """What shapes an index, for the manifest."""
    from importlib.metadata import version

    names = ("bm25s", "numpy", "PyStemmer", "markdown-it-py")
    return {
        "code": code_digest(),
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **{name: version(name) for name in names},
    }
