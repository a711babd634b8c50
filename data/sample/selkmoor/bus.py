"""The Strand bus: who talks when, and the two ways to reach the wire."""

from __future__ import annotations

import os
import select
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator
from typing import Protocol

from selkmoor import codec
from selkmoor.codec import Command, Frame, Identity, RawReading, StreamDecoder
from selkmoor.errors import Fault, WireError
from selkmoor.retry import CircuitBreaker, RetryPolicy, retrying

MAX_ADDRESS = 24
DEFAULT_BAUD = 38400
REPLY_TIMEOUT = 0.35
SCAN_TIMEOUT = 0.12
#: Silence between two frames; shorter than this and a Winkle misses the sync byte.
GAP_SECONDS = 0.004

_SPEEDS = {
    9600: termios.B9600,
    19200: termios.B19200,
    38400: termios.B38400,
    57600: termios.B57600,
}


class Transport(Protocol):
    """Anything that moves bytes."""

    def write(self, data: bytes) -> None:
        """Send bytes."""

    def read(self, timeout: float) -> bytes:
        """Return what arrived, empty when nothing did within `timeout` seconds."""


class SerialTransport:
    """A serial port of the operating system, eight data bits and no parity."""

    def __init__(self, port: str, baud: int = DEFAULT_BAUD) -> None:
        if baud not in _SPEEDS:
            raise ValueError(f"baud {baud}, one of {sorted(_SPEEDS)}")
        self._fd = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._fd)
        attributes = termios.tcgetattr(self._fd)
        attributes[4] = attributes[5] = _SPEEDS[baud]
        termios.tcsetattr(self._fd, termios.TCSANOW, attributes)

    def write(self, data: bytes) -> None:
        """Send bytes and wait until the last one has left the port."""
        os.write(self._fd, data)
        termios.tcdrain(self._fd)

    def read(self, timeout: float) -> bytes:
        """Return what arrived within the time."""
        ready, _, _ = select.select([self._fd], [], [], timeout)
        return os.read(self._fd, 256) if ready else b""


class LoopbackTransport:
    """Pretend devices in memory, for tests and for `selkmoor selftest`."""

    def __init__(self) -> None:
        self.identities: dict[int, Identity] = {}
        self.readings: dict[int, RawReading] = {}
        self.outputs: dict[tuple[int, int], int] = {}
        self.drop_next = 0
        self._decoder = StreamDecoder()
        self._pending = b""

    def write(self, data: bytes) -> None:
        """Answer each complete request at once."""
        for frame in self._decoder.feed(data):
            if frame.address not in self.identities:
                continue
            if self.drop_next:
                self.drop_next -= 1
                continue
            reply = Frame(
                frame.address, frame.command, frame.sequence, self._answer(frame), reply=True
            )
            self._pending += codec.encode_frame(reply)

    def _answer(self, frame: Frame) -> bytes:
        if frame.command == Command.IDENTIFY:
            return codec.pack_identity(self.identities[frame.address])
        if frame.command == Command.READ:
            return codec.pack_reading(self.readings[frame.address])
        if frame.command == Command.WRITE_OUTPUT:
            channel, on, seconds = codec.unpack_output(frame.payload)
            self.outputs[frame.address, channel] = seconds if on else 0
        return b""

    def read(self, timeout: float) -> bytes:
        """Return the answers so far."""
        pending, self._pending = self._pending, b""
        return pending


class Bus:
    """One line with up to 24 devices, of which only one may be asked at a time."""

    def __init__(
        self,
        transport: Transport,
        reply_timeout: float = REPLY_TIMEOUT,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._transport = transport
        self._reply_timeout = reply_timeout
        self._sleep = sleep
        self._lock = threading.Lock()
        self._sequence = 0
        self._decoder = StreamDecoder()
        self._breakers: dict[int, CircuitBreaker] = {}
        self._request = retrying(policy or RetryPolicy(), sleep)(self.request_once)

    def request(self, address: int, command: Command, payload: bytes = b"") -> bytes:
        """Ask a device, repeat on wire errors, and keep count of its failures.

        Raises:
            WireError: Every attempt failed.
            BreakerOpen: The device failed so often that it is left alone for now.
        """
        breaker = self._breakers.setdefault(address, CircuitBreaker())
        breaker.guard(address)
        try:
            answer = self._request(address, command, payload)
        except WireError:
            breaker.failure()
            raise
        breaker.success()
        return answer

    def request_once(
        self, address: int, command: Command, payload: bytes = b"", timeout: float | None = None
    ) -> bytes:
        """Ask a device a single time and return the payload of its reply."""
        with self._lock:
            self._sequence = (self._sequence + 1) % codec.SEQUENCE_MODULUS
            self._sleep(GAP_SECONDS)
            request = Frame(address, command, self._sequence, payload)
            self._transport.write(codec.encode_frame(request))
            return self._await_reply(request, timeout or self._reply_timeout)

    def _await_reply(self, request: Frame, timeout: float) -> bytes:
        deadline = time.monotonic() + timeout
        damaged = self._decoder.damaged
        fault = Fault.NO_REPLY
        while (left := deadline - time.monotonic()) > 0:
            data = self._transport.read(left)
            if not data and isinstance(self._transport, LoopbackTransport):
                break
            for frame in self._decoder.feed(data):
                # Half-duplex adapters echo our own request: not a reply, so skip it.
                if not frame.reply or frame.address != request.address:
                    continue
                if frame.sequence == request.sequence and frame.command == request.command:
                    return frame.payload
                fault = Fault.WRONG_SEQUENCE
        if self._decoder.damaged > damaged:
            fault = Fault.FRAME_CHECK
        raise WireError(fault, f"device {request.address}, {Command(request.command).name}")

    def scan(self, last: int = MAX_ADDRESS) -> Iterator[tuple[int, Identity]]:
        """Yield the address and identity of every device that answers.

        Each address gets one short try, without repeats: a full sweep of an
        empty line stays under three seconds.
        """
        for address in range(1, last + 1):
            try:
                payload = self.request_once(address, Command.IDENTIFY, timeout=SCAN_TIMEOUT)
            except WireError:
                continue
            yield address, codec.unpack_identity(payload)
