"""Turning readings of known solutions into a gain and an offset."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

from selkmoor import codec
from selkmoor.devices import OXYGEN_CALIBRATION_DAYS, ProbeSpec
from selkmoor.errors import CalibrationError, Fault

GAIN_MIN = 0.88
GAIN_MAX = 1.14

#: Largest offset believed per channel: degrees, millimetres, ppt, mg per litre.
OFFSET_LIMITS = {"temperature": 0.9, "level": 35.0, "salinity": 2.4, "oxygen": 1.1}

#: Fewest points per channel. Level is a straight line through a known zero in
#: air, so one point is enough; conductivity bends and wants three.
MIN_POINTS = {"temperature": 2, "level": 1, "salinity": 3, "oxygen": 2}

SOAK_SECONDS = 360
STABLE_SECONDS = 45
#: Largest spread, relative to the mean, that counts as stable.
STABLE_SPREAD = 0.004

SALINITY_REFERENCE_C = 15.0
SALINITY_PER_DEGREE = 0.0212


@dataclass(frozen=True)
class CalibrationPoint:
    """A known value and what the probe made of it, in the unit of the channel."""

    expected: float
    measured: float


@dataclass(frozen=True)
class CalibrationRecord:
    """The straight line that corrects one channel."""

    channel: str
    gain: float
    offset: float
    points: int
    made_at: int

    def apply(self, measured: float) -> float:
        """Correct a raw value."""
        return measured * self.gain + self.offset

    def expires_at(self, spec: ProbeSpec) -> int:
        """Second since the epoch at which the probe starts to report E-41."""
        days = OXYGEN_CALIBRATION_DAYS if self.channel == "oxygen" else spec.calibration_days
        return self.made_at + days * 86_400

    def to_payload(self, spec: ProbeSpec) -> bytes:
        """Serialise for SET_CALIBRATION; channels are numbered from 0."""
        number = spec.channels.index(self.channel)
        return codec.pack_calibration(number, self.points, self.gain, self.offset, self.made_at)


def fit_record(
    channel: str, points: list[CalibrationPoint], now: float | None = None
) -> CalibrationRecord:
    """Fit the line by least squares and refuse one that cannot be right.

    Raises:
        CalibrationError: Too few points (E-43), or a gain or offset so far out
            that a dirty cell or a wrong bottle is the likelier cause (E-42).
    """
    needed = MIN_POINTS[channel]
    if len(points) < needed:
        raise CalibrationError(
            Fault.TOO_FEW_POINTS, f"{channel} needs {needed}, {len(points)} given"
        )
    if len(points) == 1:
        gain, offset = 1.0, points[0].expected - points[0].measured
    else:
        gain, offset = _least_squares(points)
    if not GAIN_MIN <= gain <= GAIN_MAX:
        raise CalibrationError(Fault.GAIN_BOUNDS, f"{channel} gain {gain:.3f}")
    limit = OFFSET_LIMITS[channel]
    if abs(offset) > limit:
        raise CalibrationError(Fault.GAIN_BOUNDS, f"{channel} offset {offset:.2f}, limit {limit}")
    made_at = int(time.time() if now is None else now)
    return CalibrationRecord(channel, gain, offset, len(points), made_at)


def _least_squares(points: list[CalibrationPoint]) -> tuple[float, float]:
    mean_x = sum(point.measured for point in points) / len(points)
    mean_y = sum(point.expected for point in points) / len(points)
    spread = sum((point.measured - mean_x) ** 2 for point in points)
    if spread == 0:
        raise CalibrationError(Fault.GAIN_BOUNDS, "all points were measured the same")
    slope = sum((p.measured - mean_x) * (p.expected - mean_y) for p in points) / spread
    return slope, mean_y - slope * mean_x


class StabilityGate:
    """Hold a point back until the probe has come to rest in the solution."""

    def __init__(self, seconds: float = STABLE_SECONDS, spread: float = STABLE_SPREAD) -> None:
        self.seconds = seconds
        self.spread = spread
        self._samples: deque[tuple[float, float]] = deque()

    def add(self, when: float, value: float) -> bool:
        """Add a sample and say whether the last `seconds` were quiet."""
        self._samples.append((when, value))
        while when - self._samples[0][0] > self.seconds:
            self._samples.popleft()
        covered = when - self._samples[0][0]
        # One sample interval may be missing at the start of the window.
        if len(self._samples) < 4 or covered < self.seconds * 0.8:
            return False
        values = [value for _, value in self._samples]
        mean = sum(values) / len(values)
        return max(values) - min(values) <= self.spread * abs(mean)


def compensate_salinity(raw: float, temperature: float) -> float:
    """Refer a raw salinity to 15 degrees, 2.12 percent per degree away from it."""
    return raw / (1 + SALINITY_PER_DEGREE * (temperature - SALINITY_REFERENCE_C))
