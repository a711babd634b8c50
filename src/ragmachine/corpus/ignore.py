"""Ignore files as git reads them: one pattern a line, the last that matches decides.

`discover` asks folder by folder on its way down, so a pattern is only ever held against the path
itself, never against a folder above it: what lies in an ignored folder is not reached at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# In the order in which they are asked: `.ragignore` has the last say wherever it stands.
IGNORE_FILES = (".ragignore", ".gitignore")

_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
_CLASS_ITEM = re.compile(r"\[:(?P<name>\w+):\]|\\?(?P<first>.)(?:-\\?(?P<last>[^\]]))?", re.S)
# two stars or more that are a whole name
_ANY_FOLDERS = re.compile(r"(?<![^/])\*\*+(?:/|\Z)")
_NEVER = "(?!)"


@dataclass(frozen=True, slots=True)
class _Pattern:
    regex: re.Pattern[str]
    is_negated: bool
    is_folder_only: bool


class IgnoreFile:
    """The patterns of one ignore file, for paths relative to its folder."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._patterns = [pattern for line in lines if (pattern := _parse(line))]
        self._patterns.reverse()
        every = "|".join(f"(?:{pattern.regex.pattern})" for pattern in self._patterns)
        self._any = re.compile(every or _NEVER, re.S)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True: ignored, False: expressly kept, None: not mentioned."""
        if not self._any.fullmatch(path):
            return None
        for pattern in self._patterns:
            if pattern.is_folder_only and not is_folder:
                continue
            if pattern.regex.fullmatch(path):
                return not pattern.is_negated
        return None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Ignore files in force in a folder, in the order in which they are asked.

    Attributes:
        files: (rank of its name, minus its depth, its folder with a final slash, its patterns).
    """

    files: tuple[tuple[int, int, str, IgnoreFile], ...] = ()

    def with_file(self, name: str, base: str, patterns: IgnoreFile) -> IgnoreRules:
        """These rules and those of one more file."""
        prefix = f"{base}/" if base else ""
        own = (IGNORE_FILES.index(name), -prefix.count("/"), prefix, patterns)
        return IgnoreRules(tuple(sorted((*self.files, own), key=lambda file: file[:2])))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether the first file that mentions the path ignores it."""
        for _, _, prefix, patterns in self.files:
            verdict = patterns.verdict(path[len(prefix) :], is_folder=is_folder)
            if verdict is not None:
                return verdict
        return False


def wanted(globs: Iterable[str]) -> IgnoreFile:
    """Globs as patterns of an ignore file at the root; ``./docs`` is ``docs``."""
    return IgnoreFile(glob.removeprefix("./") for glob in globs)


def names_path(patterns: IgnoreFile, path: str) -> bool:
    """Whether patterns match a file, or else the nearest folder above it that they mention."""
    verdict = patterns.verdict(path, is_folder=False)
    while verdict is None and "/" in path:
        path = path.rpartition("/")[0]
        verdict = patterns.verdict(path, is_folder=True)
    return bool(verdict)


def _parse(line: str) -> _Pattern | None:
    """One line; None for blank lines, comments and patterns that can match nothing."""
    line = line.rstrip("\r\n")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if not line or line.startswith("#"):
        return None
    is_negated = line.startswith("!")
    body = line[1:] if is_negated else line
    is_folder_only = body.endswith("/")
    body = body.removesuffix("/")
    is_by_name = "/" not in body
    body = body.removeprefix("/")
    if not body:
        return None
    regex = ("(?:.*/)?" if is_by_name else "") + _translate(body)
    return _Pattern(re.compile(regex, re.S), is_negated, is_folder_only)


def _translate(body: str) -> str:
    """A regular expression for a whole path."""
    parts = []
    position = 0
    while position < len(body):
        stars = _ANY_FOLDERS.match(body, position)
        if stars:
            parts.append("(?:.*/)?" if stars.group().endswith("/") else ".*")
            position = stars.end()
        else:
            name, position = _name(body, position)
            parts.append(name)
    return "".join(parts)


def _name(body: str, position: int) -> tuple[str, int]:
    """One name and the slash behind it; where the next one starts.

    Each star but the last takes the shortest match and never tries another.
    """
    runs = [""]
    slash = ""
    while position < len(body) and not slash:
        char = body[position]
        position += 1
        if char == "/":
            slash = char
        elif char == "*":
            runs.append("")
        elif char == "?":
            runs[-1] += "[^/]"
        elif char == "[":
            members, position = _class(body, position)
            runs[-1] += members
        elif char == "\\":
            if position == len(body):
                return _NEVER, position
            runs[-1] += re.escape(body[position])
            position += 1
        else:
            runs[-1] += re.escape(char)
    first, *rest = runs
    if not rest:
        return first + slash, position
    middle = "".join(f"(?>[^/]*?{run})" for run in rest[:-1] if run)
    return f"{first}{middle}[^/]*{rest[-1]}{slash}", position


def _class(body: str, position: int) -> tuple[str, int]:
    """A bracket expression from behind its `[`; it never matches a slash."""
    is_negated = body[position : position + 1] in ("!", "^")
    position += is_negated
    members = ""
    is_first = True
    while is_first or body[position : position + 1] != "]":
        is_first = False
        item = _CLASS_ITEM.match(body, position)
        if not item:
            return _NEVER, len(body)
        position = item.end()
        first, last = item["first"], item["last"] or item["first"]
        if item["name"]:
            members += _POSIX_CLASSES.get(item["name"], "")
        else:  # of a range the wrong way round, only the first counts
            members += f"{re.escape(first)}-{re.escape(last if first <= last else first)}"
    if is_negated:
        return f"[^/{members}]", position + 1
    return (f"(?!/)[{members}]" if members else _NEVER), position + 1
