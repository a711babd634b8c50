"""The configuration file: one dataclass per table, every key with a default."""

from __future__ import annotations

import dataclasses
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from selkmoor.errors import ConfigError

DEFAULT_PATH = Path("/etc/selkmoor/selkmoor.toml")
PATH_VARIABLE = "SELKMOOR_CONFIG"


@dataclass(frozen=True)
class BusTable:
    """The serial line."""

    port: str = "/dev/ttySM0"
    baud: int = 38400
    reply_timeout: float = 0.35
    max_address: int = 24


@dataclass(frozen=True)
class SamplingTable:
    """How probes are read."""

    interval: int = 0  # 0 leaves the choice to the model
    median_window: int = 5
    settle_band: float = 0.08
    settle_timeout: float = 90.0
    stale_after: float = 180.0


@dataclass(frozen=True)
class PumpsTable:
    """When and how long pumps may run."""

    quiet_start: str = "22:30"
    quiet_end: str = "05:45"
    quiet_duty: float = 0.25
    window_minutes: int = 90
    max_on_minutes: int = 40


@dataclass(frozen=True)
class AlertsTable:
    """Limits, in the units of a reading."""

    temperature_low: float = 6.0
    temperature_high: float = 21.5
    salinity_low: float = 28.0
    salinity_high: float = 37.5
    oxygen_low: float = 5.2
    hold_seconds: int = 240
    repeat_minutes: int = 55


@dataclass(frozen=True)
class Config:
    """The whole file."""

    bus: BusTable = BusTable()
    sampling: SamplingTable = SamplingTable()
    pumps: PumpsTable = PumpsTable()
    alerts: AlertsTable = AlertsTable()


def load(path: Path | None = None) -> Config:
    """Read the file named by the argument, the environment or the default.

    A file that is not there means all defaults; one with a typing error in a
    key does not, because a misspelt alert limit would be an alert that never comes.

    Raises:
        ConfigError: Unknown table or key, wrong type, or a window too small.
    """
    path = path or Path(os.environ.get(PATH_VARIABLE, DEFAULT_PATH))
    if not path.exists():
        return Config()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from error
    config = Config()
    for name, values in data.items():
        if not hasattr(config, name):
            raise ConfigError(f"{path}: unknown table [{name}]")
        default = getattr(config, name)
        for key, value in values.items():
            if not hasattr(default, key):
                raise ConfigError(f"{path}: unknown key {name}.{key}")
            wanted = type(getattr(default, key))
            if type(value) is not wanted and not (wanted is float and type(value) is int):
                raise ConfigError(f"{path}: {name}.{key} wants {wanted.__name__}")
        table = dataclasses.replace(default, **values)
        config = dataclasses.replace(config, **{name: table})
    if config.sampling.median_window % 2 == 0:
        raise ConfigError(f"{path}: sampling.median_window must be odd")
    if config.pumps.max_on_minutes > config.pumps.window_minutes:
        raise ConfigError(f"{path}: pumps.max_on_minutes exceeds pumps.window_minutes")
    return config
