"""Driver for the Selkmoor family of tide-pool probes, controllers and gateway."""

from selkmoor.bus import Bus, LoopbackTransport, SerialTransport
from selkmoor.calibration import CalibrationRecord, fit_record
from selkmoor.devices import Controller, Probe, Reading, spec_for
from selkmoor.errors import SelkmoorError

__version__ = "2.6.1"

__all__ = [
    "Bus",
    "CalibrationRecord",
    "Controller",
    "LoopbackTransport",
    "Probe",
    "Reading",
    "SelkmoorError",
    "SerialTransport",
    "fit_record",
    "spec_for",
]
