"""Reports about an index and an installation as people read them, a line each."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragmachine.terminal.pages_text import pages_text

if TYPE_CHECKING:
    from ragmachine.health.checks import DoctorReport
    from ragmachine.health.collections import Collection
    from ragmachine.health.statistics import Group, Statistics
    from ragmachine.health.status import IndexStatus
    from ragmachine.watching import Update, WatchedIndex

_SHOWN = 10
_NAMED = 3
_STEPS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def megabytes(size: int) -> str:
    """A size as people read it."""
    return f"{size / 1e6:,.1f} MB"


def age(seconds: float) -> str:
    """How long ago, in the largest unit that fits."""
    for length, unit in _STEPS:
        if seconds >= length:
            number = int(seconds // length)
            return f"{number} {unit}{'' if number == 1 else 's'} ago"
    return "now"


def status_lines(status: IndexStatus) -> list[str]:
    """An index: what, when, how fresh, what was left out, sizes."""
    counts = status.counts
    root = status.corpus_root or "."
    built = status.built.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    lines = [
        f"index      {status.folder} ({status.generation})",
        f"of         {root}: {counts['files']:,} files, {counts['chunks']:,} chunks,"
        f" {counts['terms']:,} terms",
        *(f"             {path or '.'}{f', tagged {tag}' if tag else ''}"
          for path, tag in status.folders),
        f"built      {built}, {age(time.time() - status.built_ns / 1e9)}",
        *_freshness(status),
    ]  # fmt: skip
    if status.skipped:
        counted = ", ".join(f"{count} {reason}" for reason, count in status.skipped.items())
        lines.append(f"left out   {counted}")
    if status.pages.by_file:
        lines.append(f"pages      {pages_text(status.pages)}")
    if status.problems:
        lines.append(f"odd        {_files(len(status.problems))}")
        shown = [f"{path}: {reason}" for path, reason in status.problems]
        lines += _some(shown)
    parts = ", ".join(f"{name} {megabytes(size)}" for name, size in status.sizes.items())
    lines.append(f"on disk    {megabytes(sum(status.sizes.values()))}: {parts}")
    lines.append(f"vectors    {_vectors(status)}")
    if status.summaries:
        summaries = status.summaries
        lines.append(
            f"summaries  of {summaries['chunks']:,} of {counts['chunks']:,} chunks,"
            f" by {summaries['model']}"
        )
    return lines


def _freshness(status: IndexStatus) -> list[str]:
    changes = status.changes
    if status.is_fresh:
        return ["fresh      yes"]
    if status.notice:
        return [f"fresh      unknown: {status.notice}"]
    mend = f"`{status.command}` brings it up to date"
    if not changes.count:
        return [f"fresh      no: another version built it; {mend}"]
    groups = {"changed": changes.changed, "new": changes.new, "removed": changes.removed}
    counted = ", ".join(f"{len(paths):,} {name}" for name, paths in groups.items() if paths)
    paths = [f"{name}: {path}" for name, group in groups.items() for path in group]
    return [f"fresh      no: {counted}; {mend}", *_some(paths)]


def _vectors(status: IndexStatus) -> str:
    vectors, chunks = status.vectors, status.counts["chunks"]
    if vectors is None:
        return "none: `ragmachine index --bonus y` makes them"
    text = f"of {vectors.known:,} of {chunks:,} chunks, by {vectors.encoder}"
    if vectors.missing:
        text += f"; {vectors.missing:,} lack one: `ragmachine index --bonus y`"
    return text


def _some(lines: Sequence[str]) -> list[str]:
    more = [f"and {len(lines) - _SHOWN:,} more: --json shows all"] if len(lines) > _SHOWN else []
    return [f"             {line}" for line in [*lines[:_SHOWN], *more]]


def _files(count: int) -> str:
    return f"{count:,} file{'' if count == 1 else 's'}"


def doctor_lines(report: DoctorReport, *, is_quiet: bool = False) -> list[str]:
    """Every finding with its remedy; where settings come from. When quiet, faults alone."""
    lines = []
    for check in report.checks:
        if is_quiet and check.state == "ok":
            continue
        lines.append(f"{check.state:<7} {check.name:<12} {check.detail}".rstrip())
        if check.remedy:
            lines.append(
                f"{'':<21}{'mend' if check.state == 'broken' else 'add'} it: {check.remedy}"
            )
    if report.settings and not is_quiet:
        lines.append("settings that something sets:")
        lines += [f"  {one.name} = {one.value}  ({one.source})" for one in report.settings]
    faults = len(report.broken)
    lines.append(f"{faults} fault{'' if faults == 1 else 's'}" if faults else "nothing is broken")
    return lines


def collection_lines(found: Sequence[Collection]) -> list[str]:
    """The indexes side by side, a line each."""
    if not found:
        return ["no indexes yet: `ragmachine index --target_dir FOLDER` builds one"]
    width = max(len(one.name or "(no name)") for one in found)
    lines = []
    for one in found:
        name = (one.name or "(no name)").ljust(width)
        if one.problem:
            lines.append(f"{name}  {one.problem}")
        else:
            lines.append(
                f"{name}  {_files(one.files)}, {one.chunks:,} chunks of {one.corpus_root or '.'},"
                f" {megabytes(one.bytes)}, built {age(time.time() - one.built_ns / 1e9)}"
            )
    return lines


def statistics_lines(statistics: Statistics) -> list[str]:
    """Counts by type and by folder."""
    counts, length = statistics.counts, statistics.chunk_characters
    return [
        f"{statistics.corpus_root or '.'}: {counts['files']:,} files, {counts['chunks']:,} chunks,"
        f" {counts['passages']:,} passages, {counts['terms']:,} terms",
        f"chunks of {length['smallest']:,} to {length['largest']:,} characters,"
        f" median {length['median']:,.0f}, mean {length['mean']:,.0f}",
        *_table("type", statistics.types),
        *_table("folder", statistics.folders),
    ]


def _table(heading: str, groups: Sequence[Group]) -> list[str]:
    width = max([len(heading), *(len(group.name) for group in groups)])
    head = f"{heading.ljust(width)}  {'files':>7}  {'chunks':>8}  {'characters':>12}"
    return ["", head, *(
        f"{group.name.ljust(width)}  {group.files:>7,}  {group.chunks:>8,}  {group.characters:>12,}"
        for group in groups
    )]  # fmt: skip


def watching_line(place: WatchedIndex) -> str:
    """What is watched."""
    return f"watching {os.path.join(place.root, '')} for the index in {place.folder}; Ctrl-C ends"


def change_line(update: Update) -> str:
    """What one update did."""
    if update.error:
        return f"error: {update.error}"
    named = [f"{kind} {path}" for kind, path in update.changes[:_NAMED]]
    names = ", ".join(named) or "built anew"
    more = f" and {len(update.changes) - _NAMED:,} more" if len(update.changes) > _NAMED else ""
    return (
        f"{names}{more}: {update.files:,} files, {update.chunks:,} chunks, {update.seconds:.1f} s"
    )
