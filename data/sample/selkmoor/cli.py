"""The `selkmoor` command."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import selkmoor
from selkmoor import codec, config
from selkmoor.bus import Bus, LoopbackTransport, SerialTransport
from selkmoor.calibration import CalibrationPoint, fit_record
from selkmoor.codec import Identity, RawReading
from selkmoor.devices import LIMPET_3, WINKLE_8, Controller, Probe, ProbeSpec, spec_for
from selkmoor.errors import SelkmoorError
from selkmoor.scheduler import DutyLedger, TideProgram


def build_parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    parser = argparse.ArgumentParser(prog="selkmoor", description="Talk to Selkmoor devices.")
    parser.add_argument("--version", action="version", version=selkmoor.__version__)
    parser.add_argument("--config", type=Path, help="configuration file")
    parser.add_argument("--port", help="serial port, instead of the one in the file")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("scan", help="list the devices on the line")
    read = commands.add_parser("read", help="print one sample of a probe")
    read.add_argument("address", type=int)
    read.add_argument("--settled", action="store_true", help="wait until the water is at rest")
    read.add_argument("--json", action="store_true", help="one JSON object instead of text")
    run = commands.add_parser("run", help="switch an output on for a while")
    run.add_argument("address", type=int)
    run.add_argument("channel", type=int)
    run.add_argument("seconds", type=int, nargs="?", default=25)
    commands.add_parser("selftest", help="check the driver against pretend devices")
    return parser


def selftest() -> str:
    """Exercise every layer without hardware; an AssertionError names the culprit."""
    line = LoopbackTransport()
    water = RawReading(0, 13.25, 480, 34.1, None, 12.1)
    line.identities[3] = Identity(LIMPET_3.code, 2, (4, 7), 300117)
    line.identities[9] = Identity(WINKLE_8.code, 1, (3, 2), 800042)
    line.readings = {3: water, 9: water}
    bus = Bus(line, sleep=lambda _: None)
    assert [address for address, _ in bus.scan()] == [3, 9], "scan"
    line.drop_next = 2
    reading = Probe(bus, 3, LIMPET_3).read()
    assert reading.temperature == 13.25, "reading"
    Controller(bus, 9, WINKLE_8).dose(7, 16.0)
    assert line.outputs[9, 7] == 10, "dose"
    points = [CalibrationPoint(x, x * 0.97 + 0.2) for x in (10.0, 20.0, 35.0)]
    assert abs(fit_record("salinity", points).apply(points[1].measured) - 20.0) < 1e-6, "fit"
    ledger = DutyLedger()
    ledger.book(0.0, 1200.0)
    assert ledger.used(1200.0) == 1200.0, "ledger"
    assert TideProgram().target(0) == 620.0, "tide"
    noise = b"\x00\xa7\x01" + codec.encode_frame(codec.Frame(1, 2, 3, b"ok"))
    assert codec.StreamDecoder().feed(noise + bytes(60))[0].payload == b"ok", "codec"
    return "selftest passed"


def main(argv: list[str] | None = None) -> int:
    """Run one command and return the exit status."""
    arguments = build_parser().parse_args(argv)
    try:
        if arguments.command == "selftest":
            print(selftest())
            return 0
        settings = config.load(arguments.config)
        transport = SerialTransport(arguments.port or settings.bus.port, settings.bus.baud)
        bus = Bus(transport, settings.bus.reply_timeout)
        if arguments.command == "scan":
            for address, identity in bus.scan(settings.bus.max_address):
                print(f"{address:3}  {spec_for(identity.model_code).name:10} {identity.serial}")
            return 0
        identity = codec.unpack_identity(bus.request(arguments.address, codec.Command.IDENTIFY))
        spec = spec_for(identity.model_code)
        if arguments.command == "read":
            if not isinstance(spec, ProbeSpec):
                raise SelkmoorError(f"device {arguments.address} is a {spec.name}, not a probe")
            probe = Probe(bus, arguments.address, spec)
            reading = probe.read_settled() if arguments.settled else probe.read()
            values = {name: getattr(reading, name) for name in spec.channels}
            if reading.faults:
                values["faults"] = ",".join(fault.code for fault in reading.faults)
            text = " ".join(f"{name}={value}" for name, value in values.items())
            print(json.dumps(values) if arguments.json else text)
        else:
            if isinstance(spec, ProbeSpec):
                raise SelkmoorError(f"device {arguments.address} is a {spec.name}, no outputs")
            Controller(bus, arguments.address, spec).switch_on(arguments.channel, arguments.seconds)
        return 0
    except (SelkmoorError, TimeoutError, OSError, ValueError) as error:
        print(f"selkmoor: {error}", file=sys.stderr)
        return getattr(error, "exit_status", 1)


if __name__ == "__main__":
    sys.exit(main())
