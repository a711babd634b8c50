"""What made an index, so that one made by other code or other versions is built anew."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Sequence

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SHAPING = (
    "chunking",
    "corpus",
    os.path.join("corpus", "loaders"),
    "index",
    "file_types.py",
    "places.py",
)


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
    """What shapes an index, for the manifest: an optional parser as well, where it is installed."""
    from ragmachine.chunking.languages import GRAMMAR_PACKAGES

    names = ("bm25s", "numpy", "PyStemmer", "markdown-it-py")
    return {
        "code": code_digest(),
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **{name: _version(name) for name in names},
        **{name: found for name in GRAMMAR_PACKAGES if (found := _version_or_none(name))},
    }


def _version_or_none(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError

    try:
        return _version(package)
    except PackageNotFoundError:
        return None


def _version(package: str) -> str:
    """The installed version; as `importlib.metadata.version`, which parses all the metadata."""
    from importlib.metadata import distribution

    found = distribution(package)
    line = re.search(r"^Version: *(\S+) *$", found.read_text("METADATA") or "", re.M)
    return line[1] if line else found.version
