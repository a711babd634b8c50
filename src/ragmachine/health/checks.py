"""One finding about the installation, and the report of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

OK, ABSENT, BROKEN = "ok", "absent", "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding.

    Attributes:
        name: what was looked at, e.g. ``python``, ``package numpy``, ``extra dense``.
        state: ``ok``; ``absent``: not there, and the program does without; ``broken``: needed.
        detail: what was found, one line.
        remedy: the command that mends it, or "" where nothing is to be done.
    """

    name: str
    state: str
    detail: str
    remedy: str = ""

    def to_json(self) -> dict[str, str]:
        """The finding as JSON."""
        return {
            "name": self.name,
            "state": self.state,
            "detail": self.detail,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class SettingSource:
    """A setting that is not at its default: its value, and the file or variable that sets it."""

    name: str
    value: str
    source: str

    def to_json(self) -> dict[str, str]:
        """The source as JSON."""
        return {"name": self.name, "value": self.value, "source": self.source}


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """All findings, in the order of looking, and where settings come from."""

    checks: Sequence[Check]
    settings: Sequence[SettingSource] = field(default=())

    @property
    def broken(self) -> list[Check]:
        """What is needed and broken."""
        return [check for check in self.checks if check.state == BROKEN]

    def to_json(self) -> dict[str, Any]:
        """The report as one JSON document."""
        return {
            "healthy": not self.broken,
            "checks": [check.to_json() for check in self.checks],
            "settings": [setting.to_json() for setting in self.settings],
        }
