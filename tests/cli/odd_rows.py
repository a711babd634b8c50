"""One row of the tables of odd command lines, and short ways to write it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """A command line and what it must do; ``@root`` and ``@tmp`` stand for folders.

    Attributes:
        code: exit code.
        out, err: text that stdout and stderr must hold; an empty `err` means nothing on stderr,
            None one line or none.
        environment: variables on top of the house's.
    """

    id: str
    argv: list[str]
    code: int
    out: str = ""
    err: str | None = ""
    environment: dict[str, str] = field(default_factory=dict)


def works(name: str, line: str | list[str], out: str = "", err: str | None = "", **env: str) -> Row:
    """A row that ends well."""
    return Row(name, shlex.split(line) if isinstance(line, str) else line, 0, out, err, env)


def fails(name: str, line: str | list[str], err: str, **env: str) -> Row:
    """A row that is meant well and cannot be done."""
    return Row(name, shlex.split(line) if isinstance(line, str) else line, 1, "", err, env)


def refused(name: str, line: str | list[str], err: str, **env: str) -> Row:
    """A row that cannot be meant."""
    return Row(name, shlex.split(line) if isinstance(line, str) else line, 2, "", err, env)
