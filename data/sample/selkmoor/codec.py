"""Bytes on the Strand bus: framing, the check word and the payload layouts.

A frame is five header bytes, a payload of at most 56 bytes and two check bytes:

    offset  size  field
    0       1     sync, always 0xA7
    1       1     address of the device (0 is everybody)
    2       1     command
    3       1     sequence number, top bit set in replies
    4       1     payload length
    5       n     payload
    5 + n   2     check word, low byte first
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass

from selkmoor.errors import Fault, WireError

SYNC = 0xA7
BROADCAST = 0
GATEWAY_ADDRESS = 250
HEADER_SIZE = 5
CHECK_SIZE = 2
MAX_PAYLOAD = 56
REPLY_FLAG = 0x80
SEQUENCE_MODULUS = 128

CHECK_POLYNOMIAL = 0x8BB7
CHECK_SEED = 0x1D0F

#: What a probe sends for a quantity it has no sensor for.
ABSENT_UNSIGNED = 0xFFFF
ABSENT_SIGNED = 0x7FFF


class Command(enum.IntEnum):
    """Everything a device can be asked to do."""

    IDENTIFY = 0x01
    READ = 0x02
    WRITE_OUTPUT = 0x03
    GET_CALIBRATION = 0x04
    SET_CALIBRATION = 0x05
    CLEAR_FAULT = 0x06
    KEEPALIVE = 0x07
    SET_ADDRESS = 0x0A
    REBOOT = 0x0F


@dataclass(frozen=True)
class Frame:
    """One decoded frame; `address` is the sender's when `reply` is set."""

    address: int
    command: int
    sequence: int
    payload: bytes = b""
    reply: bool = False


def check_word(data: bytes) -> int:
    """Compute the 16-bit check word of header and payload, sync byte left out.

    The sync byte is excluded so that a receiver which joined mid-frame and a
    receiver which saw the whole of it run the same loop.
    """
    word = CHECK_SEED
    for byte in data:
        word ^= byte << 8
        for _ in range(8):
            shifted = word << 1
            word = (shifted ^ CHECK_POLYNOMIAL) & 0xFFFF if word & 0x8000 else shifted & 0xFFFF
    return word


def encode_frame(frame: Frame) -> bytes:
    """Serialise a frame, check word included.

    Raises:
        WireError: The payload is longer than the bus allows (E-14).
    """
    if len(frame.payload) > MAX_PAYLOAD:
        raise WireError(Fault.PAYLOAD_LENGTH, f"{len(frame.payload)} bytes, at most {MAX_PAYLOAD}")
    sequence = frame.sequence % SEQUENCE_MODULUS
    if frame.reply:
        sequence |= REPLY_FLAG
    body = bytes([frame.address, frame.command, sequence, len(frame.payload)]) + frame.payload
    return bytes([SYNC]) + body + check_word(body).to_bytes(CHECK_SIZE, "little")


class StreamDecoder:
    """Cut an endless run of bytes into frames and survive noise between them.

    A damaged frame costs only its own sync byte: the search resumes one byte
    later, so a good frame hidden behind a false sync is still found.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.damaged = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Add bytes and return the frames that are now complete."""
        self._buffer += data
        frames: list[Frame] = []
        while True:
            start = self._buffer.find(SYNC)
            if start < 0:
                self._buffer.clear()
                return frames
            del self._buffer[:start]
            if len(self._buffer) < HEADER_SIZE:
                return frames
            length = self._buffer[4]
            if length > MAX_PAYLOAD:
                del self._buffer[:1]
                continue
            total = HEADER_SIZE + length + CHECK_SIZE
            if len(self._buffer) < total:
                return frames
            body = bytes(self._buffer[1 : HEADER_SIZE + length])
            sent = int.from_bytes(self._buffer[total - CHECK_SIZE : total], "little")
            if sent != check_word(body):
                self.damaged += 1
                del self._buffer[:1]
                continue
            del self._buffer[:total]
            frames.append(
                Frame(
                    address=body[0],
                    command=body[1],
                    sequence=body[2] & ~REPLY_FLAG,
                    payload=body[4:],
                    reply=bool(body[2] & REPLY_FLAG),
                )
            )


# Status, temperature, level, salinity, oxygen, supply: ten bytes in all.
_READING = struct.Struct("<BhHHHB")
# Channel, number of points, gain, offset, seconds since the epoch: fourteen bytes.
_CALIBRATION = struct.Struct("<BBffI")
# Model code, hardware revision, firmware major and minor, serial number: eight bytes.
_IDENTITY = struct.Struct("<BBBBI")
# Channel, wanted state, seconds before the output drops by itself: four bytes.
_OUTPUT = struct.Struct("<BBH")


@dataclass(frozen=True)
class RawReading:
    """A reading payload in engineering units; None where the probe has no sensor."""

    status: int
    temperature: float | None
    level: int | None
    salinity: float | None
    oxygen: float | None
    supply_volts: float


def pack_reading(raw: RawReading) -> bytes:
    """Serialise a reading: hundredths of a unit, millimetres and tenths of a volt."""

    def hundredths(value: float | None, absent: int) -> int:
        return absent if value is None else round(value * 100)

    return _READING.pack(
        raw.status,
        hundredths(raw.temperature, ABSENT_SIGNED),
        ABSENT_UNSIGNED if raw.level is None else raw.level,
        hundredths(raw.salinity, ABSENT_UNSIGNED),
        hundredths(raw.oxygen, ABSENT_UNSIGNED),
        round(raw.supply_volts * 10),
    )


def unpack_reading(payload: bytes) -> RawReading:
    """Parse a reading payload.

    Raises:
        WireError: The payload is not ten bytes long (E-14).
    """
    if len(payload) != _READING.size:
        raise WireError(Fault.PAYLOAD_LENGTH, f"reading of {len(payload)} bytes")
    status, temperature, level, salinity, oxygen, supply = _READING.unpack(payload)
    return RawReading(
        status=status,
        temperature=None if temperature == ABSENT_SIGNED else temperature / 100,
        level=None if level == ABSENT_UNSIGNED else level,
        salinity=None if salinity == ABSENT_UNSIGNED else salinity / 100,
        oxygen=None if oxygen == ABSENT_UNSIGNED else oxygen / 100,
        supply_volts=supply / 10,
    )


@dataclass(frozen=True)
class Identity:
    """What a device says about itself in reply to IDENTIFY."""

    model_code: int
    hardware_revision: int
    firmware: tuple[int, int]
    serial: int


def pack_identity(identity: Identity) -> bytes:
    """Serialise an identity payload."""
    return _IDENTITY.pack(
        identity.model_code, identity.hardware_revision, *identity.firmware, identity.serial
    )


def unpack_identity(payload: bytes) -> Identity:
    """Parse an identity payload; bytes after the eighth are for later revisions."""
    if len(payload) < _IDENTITY.size:
        raise WireError(Fault.PAYLOAD_LENGTH, f"identity of {len(payload)} bytes")
    code, revision, major, minor, serial = _IDENTITY.unpack_from(payload)
    return Identity(code, revision, (major, minor), serial)


def pack_calibration(channel: int, points: int, gain: float, offset: float, when: int) -> bytes:
    """Serialise one calibration record; `when` is in seconds since the epoch."""
    return _CALIBRATION.pack(channel, points, gain, offset, when)


def pack_output(channel: int, on: bool, seconds: int) -> bytes:
    """Serialise an output command; channels count from 1."""
    return _OUTPUT.pack(channel, 1 if on else 0, seconds)


def unpack_output(payload: bytes) -> tuple[int, bool, int]:
    """Parse an output command into channel, state and seconds."""
    channel, on, seconds = _OUTPUT.unpack(payload)
    return channel, bool(on), seconds
