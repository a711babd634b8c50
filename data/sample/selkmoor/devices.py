"""The models, and the objects a program holds to talk to one of them."""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from selkmoor import codec
from selkmoor.bus import Bus
from selkmoor.codec import Command
from selkmoor.errors import DeviceFault, DutyLimitExceeded, Fault, UnknownModel, faults_in
from selkmoor.retry import OUTPUT_POLICY, retrying

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class ProbeSpec:
    """Limits of one probe model.

    Attributes:
        sample_seconds: Default time between two samples.
        level_max_mm: Deepest water column the level cell can follow.
        calibration_days: Days a calibration stays valid.
        channels: Quantities it measures, in the order of the channel numbers.
    """

    name: str
    code: int
    sample_seconds: int
    level_max_mm: int
    calibration_days: int
    channels: tuple[str, ...]


@dataclass(frozen=True)
class ControllerSpec:
    """Limits of one controller model; seconds and amperes."""

    name: str
    code: int
    outputs: int
    amps_each: float
    amps_total: float
    watchdog_seconds: int
    rest_seconds: int
    max_run_seconds: int
    dosing_channels: tuple[int, ...] = ()


LIMPET_2 = ProbeSpec("Limpet 2", 0x21, 20, 900, 120, ("temperature", "level"))
LIMPET_3 = ProbeSpec("Limpet 3", 0x31, 15, 1500, 90, ("temperature", "level", "salinity"))
LIMPET_3S = ProbeSpec(
    "Limpet 3S", 0x33, 12, 1500, 60, ("temperature", "level", "salinity", "oxygen")
)
WINKLE_4 = ControllerSpec("Winkle 4", 0x54, 4, 6.0, 16.0, 45, 210, 1200)
WINKLE_8 = ControllerSpec("Winkle 8", 0x58, 8, 4.0, 20.0, 30, 150, 900, dosing_channels=(7, 8))

SPECS: dict[int, ProbeSpec | ControllerSpec] = {
    spec.code: spec for spec in (LIMPET_2, LIMPET_3, LIMPET_3S, WINKLE_4, WINKLE_8)
}

#: The oxygen channel of the Limpet 3S drifts faster than the rest of the probe.
OXYGEN_CALIBRATION_DAYS = 28
#: Largest single dose of a metering channel, in millilitres.
MAX_DOSE_ML = 75.0
#: What a metering pump delivers, in millilitres per second.
DOSE_RATE_ML_S = 1.6


def spec_for(code: int) -> ProbeSpec | ControllerSpec:
    """Look a model up by the code in its IDENTIFY reply.

    Raises:
        UnknownModel: No model of this release carries the code.
    """
    try:
        return SPECS[code]
    except KeyError:
        raise UnknownModel(f"model code 0x{code:02X}") from None


@dataclass(frozen=True)
class Reading:
    """One sample: degrees Celsius, millimetres, parts per thousand, mg per litre."""

    address: int
    taken_at: float
    temperature: float | None
    level: int | None
    salinity: float | None
    oxygen: float | None
    faults: tuple[Fault, ...] = ()

    @property
    def usable(self) -> bool:
        """False when the probe was dry or its temperature element is broken.

        A fouled salinity cell or an old oxygen cap spoils one channel only and
        leaves the rest of the sample standing.
        """
        return not {Fault.OUT_OF_WATER, Fault.THERMISTOR_OPEN} & set(self.faults)


class Probe:
    """A Limpet on the bus."""

    def __init__(self, bus: Bus, address: int, spec: ProbeSpec) -> None:
        self.bus = bus
        self.address = address
        self.spec = spec

    def read(self) -> Reading:
        """Take one sample; faults are listed in it and not raised."""
        raw = codec.unpack_reading(self.bus.request(self.address, Command.READ))
        return Reading(
            address=self.address,
            taken_at=time.time(),
            temperature=raw.temperature,
            level=raw.level,
            salinity=raw.salinity,
            oxygen=raw.oxygen,
            faults=tuple(faults_in(raw.status)),
        )

    def read_median(self, window: int = 5, pause: float = 0.4) -> float:
        """Return the median temperature of a few quick samples.

        A passing wavelet reaches one or two of five samples and never three,
        so the median ignores it where a mean would not.

        Raises:
            DeviceFault: None of the samples was usable.
        """
        values: list[float] = []
        seen: list[Fault] = []
        for _ in range(window):
            reading = self.read()
            seen += reading.faults
            if reading.usable and reading.temperature is not None:
                values.append(reading.temperature)
            time.sleep(pause)
        if not values:
            raise DeviceFault(self.address, sorted(set(seen), key=lambda fault: fault.code))
        return statistics.median(values)

    def read_settled(self, band: float = 0.08, timeout: float = 90.0) -> Reading:
        """Wait until three samples in a row agree within `band` degrees.

        Raises:
            TimeoutError: The water did not come to rest within `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        recent: list[float] = []
        while time.monotonic() < deadline:
            reading = self.read()
            if reading.usable and reading.temperature is not None:
                recent = [*recent[-2:], reading.temperature]
                if len(recent) == 3 and max(recent) - min(recent) <= band:
                    return reading
            else:
                recent.clear()
            time.sleep(min(1.0, self.spec.sample_seconds / 10))
        raise TimeoutError(f"probe {self.address} did not settle in {timeout:.0f} s")


def needs_interlock(method: F) -> F:
    """Refuse the call while the safety loop of the controller is open (E-34)."""

    @functools.wraps(method)
    def wrapper(self: Controller, *args: Any, **kwargs: Any) -> Any:
        if not self.interlock_closed():
            raise DeviceFault(self.address, [Fault.INTERLOCK])
        return method(self, *args, **kwargs)

    return wrapper  # type: ignore[return-value]


class Controller:
    """A Winkle on the bus, with its outputs numbered from 1."""

    def __init__(self, bus: Bus, address: int, spec: ControllerSpec) -> None:
        self.bus = bus
        self.address = address
        self.spec = spec

    @property
    def keepalive_seconds(self) -> float:
        """How often to call `keepalive`: three times per watchdog period."""
        return self.spec.watchdog_seconds / 3

    def keepalive(self) -> None:
        """Tell the controller that somebody is still in charge."""
        self.bus.request(self.address, Command.KEEPALIVE)

    def interlock_closed(self) -> bool:
        """Read the state of the safety loop."""
        raw = codec.unpack_reading(self.bus.request(self.address, Command.READ))
        return Fault.INTERLOCK not in faults_in(raw.status)

    @needs_interlock
    def switch_on(self, channel: int, seconds: int) -> None:
        """Close an output; it opens by itself after `seconds`.

        There is no way to close an output for good: the controller counts the
        time itself, so a program that crashes cannot drain a pool.

        Raises:
            DutyLimitExceeded: Longer than this model allows in one run.
            DeviceFault: The interlock loop is open.
        """
        self._check_channel(channel)
        if not 0 < seconds <= self.spec.max_run_seconds:
            raise DutyLimitExceeded(
                f"{seconds} s, at most {self.spec.max_run_seconds} s in one run"
            )
        self._write(channel, True, seconds)

    def switch_off(self, channel: int) -> None:
        """Open an output; works with the interlock open as well."""
        self._check_channel(channel)
        self._write(channel, False, 0)

    def all_off(self) -> None:
        """Open every output, last channel first so that dosing stops before flow."""
        for channel in range(self.spec.outputs, 0, -1):
            self.switch_off(channel)

    def dose(self, channel: int, millilitres: float) -> float:
        """Meter out an additive and return the seconds the pump will run.

        Raises:
            ValueError: The channel does not meter, or the dose is too large.
        """
        if channel not in self.spec.dosing_channels:
            raise ValueError(f"channel {channel} of a {self.spec.name} does not meter")
        if not 0 < millilitres <= MAX_DOSE_ML:
            raise ValueError(f"{millilitres} ml, at most {MAX_DOSE_ML} ml at a time")
        seconds = millilitres / DOSE_RATE_ML_S
        self.switch_on(channel, max(1, round(seconds)))
        return seconds

    @retrying(OUTPUT_POLICY)
    def _write(self, channel: int, on: bool, seconds: int) -> None:
        payload = codec.pack_output(channel, on, seconds)
        self.bus.request_once(self.address, Command.WRITE_OUTPUT, payload)

    def _check_channel(self, channel: int) -> None:
        if not 1 <= channel <= self.spec.outputs:
            raise ValueError(f"a {self.spec.name} has outputs 1 to {self.spec.outputs}")
