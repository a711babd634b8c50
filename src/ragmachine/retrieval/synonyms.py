"""The user's own synonyms: a text file with a line for each word, ``word: other, words``."""

from __future__ import annotations

import os

from ragmachine.errors import UsageError


def read_synonyms(path: str, root: str) -> dict[str, tuple[str, ...]]:
    """Words to the words they also stand for, lower-case; blank lines and ``#`` lines are skipped.

    Args:
        path: the file, relative to `root` or absolute; "" for none.
        root: the project root.
    Raises: UsageError: the file cannot be read, or a line has no colon.
    """
    if not path:
        return {}
    try:
        with open(os.path.join(root, os.path.expanduser(path)), encoding="utf-8-sig") as stream:
            lines = stream.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the synonyms file {path} cannot be read: {error}", remedy="mend synonyms_file"
        ) from None
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        word, colon, others = line.partition(":")
        words = tuple(other.strip() for other in others.split(",") if other.strip())
        if not colon or not word.strip() or not words:
            raise UsageError(
                f"{path}, line {number}: {line.strip()[:60]!r} is no synonym",
                remedy="write `word: other, words`",
            )
        key = word.strip().lower()
        found[key] = (*found.get(key, ()), *words)
    return found
