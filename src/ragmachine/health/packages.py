"""Python and packages: what this version needs, what its extras add, and what is there."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, requires, version

from ragmachine.health.checks import ABSENT, BROKEN, OK, Check

_OLDEST = (3, 11)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_AT_LEAST = re.compile(r">=\s*([\w.]+)")
_EXTRA = re.compile(r"extra\s*==\s*[\"']([\w-]+)[\"']")
_OTHER_SYSTEM = re.compile(r"(?:sys_platform|platform_system)\s*==\s*[\"'](\w+)[\"']")
# What an extra is for; each of pyproject.toml has a word here.
PURPOSES = {
    "ann": "approximate search in large sets of vectors",
    "dense": "vectors of passages by a local encoder (--bonus y)",
    "languages": "definitions in languages other than Python",
    "local": "answers by a small model in this process, without Ollama",
    "mcp": "tools for editors and agents",
    "measure": "ROUGE-L in `evaluate_answers`",
    "pdf": "PDF files, scanned pages included",
    "plots": "plots of `ablate`",
    "server": "the HTTP API and the web page",
    "watch": "`watch` as the operating system reports changes, instead of by looking",
}


def python_check(running: Sequence[int] = sys.version_info[:3]) -> Check:
    """Whether Python is one that this version runs on."""
    found = ".".join(map(str, running[:3]))
    if tuple(running[:2]) >= _OLDEST:
        return Check("python", OK, f"Python {found}")
    wanted = ".".join(map(str, _OLDEST))
    return Check("python", BROKEN, f"Python {found}, at least {wanted} is needed",
                 f"uv python install {wanted}")  # fmt: skip


def package_checks(
    is_checkout: bool,
    declared: Iterable[str] | None = None,
    installed: Callable[[str], str] = version,
) -> list[Check]:
    """One finding about the packages that are needed, and one about each extra.

    Args:
        is_checkout: whether the program runs from its repository, where `uv sync` mends it.
        declared: requirements as in package metadata; by default this program's own.
        installed: gives a package's version, or raises PackageNotFoundError.
    """
    if declared is None:
        try:
            declared = requires("ragmachine") or []
        except PackageNotFoundError:
            return [Check("packages", ABSENT, "ragmachine is not installed as a package: what it"
                          " needs is not on record", "uv sync")]  # fmt: skip
    groups: dict[str, list[str]] = {"": []}
    for line in declared:
        other = _OTHER_SYSTEM.search(line)
        if other and other[1].lower() not in (sys.platform, _system()):
            continue
        extra = _EXTRA.search(line)
        groups.setdefault(extra[1] if extra else "", []).append(line.partition(";")[0])
    checks = [_needed(groups.pop(""), installed, is_checkout)]
    return checks + [_extra(name, groups[name], installed, is_checkout) for name in sorted(groups)]


def _system() -> str:
    return {"linux": "linux", "darwin": "darwin", "win32": "windows"}.get(sys.platform, "")


def _needed(lines: list[str], installed: Callable[[str], str], is_checkout: bool) -> Check:
    faults = list(filter(None, (_fault(line, installed) for line in lines)))
    if not faults:
        return Check("packages", OK, f"all {len(lines)} packages that are needed")
    remedy = "uv sync" if is_checkout else "pip install --upgrade --force-reinstall ragmachine"
    return Check("packages", BROKEN, "; ".join(faults), remedy)


def _extra(
    name: str, lines: list[str], installed: Callable[[str], str], is_checkout: bool
) -> Check:
    purpose = PURPOSES.get(name, "")
    faults = list(filter(None, (_fault(line, installed) for line in lines)))
    if not faults:
        return Check(f"extra {name}", OK, purpose)
    remedy = (
        f"uv sync --inexact --extra {name}" if is_checkout else f"pip install 'ragmachine[{name}]'"
    )
    return Check(f"extra {name}", ABSENT, f"{purpose} ({'; '.join(faults)})".strip(), remedy)


def _fault(requirement: str, installed: Callable[[str], str]) -> str:
    """What is wrong with a package, in words; "" where nothing is."""
    name = _NAME.match(requirement.strip())
    if name is None:
        return ""
    try:
        found = installed(name[0])
    except PackageNotFoundError:
        return f"{name[0]} is not installed"
    least = _AT_LEAST.search(requirement)
    if least and _numbers(found) < _numbers(least[1]):
        return f"{name[0]} {found} is older than {least[1]}"
    return ""


def _numbers(written: str) -> list[int]:
    """The leading numbers of a version; trailing zeros do not count."""
    numbers = [int(part) for part in re.findall(r"\d+", written.partition("+")[0])]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers
