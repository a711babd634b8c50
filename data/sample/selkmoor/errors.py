"""Fault codes and exceptions shared by every module of the driver."""

from __future__ import annotations

import enum


class Fault(enum.Enum):
    """A numbered fault, as printed on a controller display and in the logs.

    The tens digit names the area: 1 is the bus, 2 a probe, 3 an output,
    4 calibration and 5 the gateway.
    """

    FRAME_CHECK = ("E-11", "frame check failed")
    NO_REPLY = ("E-12", "no reply in time")
    WRONG_SEQUENCE = ("E-13", "reply carries another sequence number")
    PAYLOAD_LENGTH = ("E-14", "payload too long")
    OUT_OF_WATER = ("E-21", "probe out of water")
    THERMISTOR_OPEN = ("E-22", "temperature element open circuit")
    CELL_FOULED = ("E-23", "salinity cell fouled")
    CAP_EXPIRED = ("E-24", "oxygen cap past its service life")
    OVERCURRENT = ("E-31", "output over current")
    WATCHDOG = ("E-32", "watchdog tripped, outputs in safe state")
    DOSING_DRY = ("E-33", "dosing line ran dry")
    INTERLOCK = ("E-34", "interlock loop open")
    CALIBRATION_EXPIRED = ("E-41", "calibration past its interval")
    GAIN_BOUNDS = ("E-42", "calibration gain out of bounds")
    TOO_FEW_POINTS = ("E-43", "too few calibration points")
    STORAGE_FULL = ("E-51", "gateway storage full")
    CLOCK_LOST = ("E-52", "gateway clock not set")

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        self.text = text

    def __str__(self) -> str:
        return f"{self.code} {self.text}"


#: Faults of the wire rather than of the device: asking again may well succeed.
TRANSIENT = frozenset({Fault.FRAME_CHECK, Fault.NO_REPLY, Fault.WRONG_SEQUENCE})

#: Bit positions of the status byte that opens every reading payload.
STATUS_BITS: tuple[Fault, ...] = (
    Fault.OUT_OF_WATER,
    Fault.THERMISTOR_OPEN,
    Fault.CELL_FOULED,
    Fault.CAP_EXPIRED,
    Fault.OVERCURRENT,
    Fault.WATCHDOG,
    Fault.INTERLOCK,
    Fault.CALIBRATION_EXPIRED,
)


def faults_in(status: int) -> list[Fault]:
    """List the faults set in a status byte, lowest bit first."""
    return [fault for bit, fault in enumerate(STATUS_BITS) if status & (1 << bit)]


class SelkmoorError(Exception):
    """Base of everything the driver raises on purpose."""

    #: What the command line returns to the shell when this one escapes.
    exit_status = 1


class WireError(SelkmoorError):
    """A frame was lost or damaged; `fault` says how."""

    exit_status = 4

    def __init__(self, fault: Fault, detail: str = "") -> None:
        super().__init__(f"{fault}: {detail}" if detail else str(fault))
        self.fault = fault


class DeviceFault(SelkmoorError):
    """The device answered, and what it answered is one or more faults."""

    exit_status = 3

    def __init__(self, address: int, faults: list[Fault]) -> None:
        listed = ", ".join(fault.code for fault in faults)
        super().__init__(f"device {address} reports {listed}")
        self.address = address
        self.faults = faults


class ConfigError(SelkmoorError):
    """The configuration file holds an unknown key or a value out of range."""

    exit_status = 5


class CalibrationError(SelkmoorError):
    """A set of calibration points cannot be turned into a usable record."""

    exit_status = 6

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(f"{fault}: {detail}")
        self.fault = fault


class DutyLimitExceeded(SelkmoorError):
    """A pump was asked to run longer than its ledger still allows."""

    exit_status = 7


class UnknownModel(SelkmoorError):
    """An IDENTIFY reply holds a model code this release does not know."""


class BreakerOpen(SelkmoorError):
    """Requests to a device are held back after a run of failures."""

    exit_status = 4
