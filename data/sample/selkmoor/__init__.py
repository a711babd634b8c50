"""Driver for the Selkmoor family of tide-pool probes, controllers and gateway."""

from selkmoor.bus import Bus, LoopbackTransport, SerialTransport
from selkmoor.devices import Controller, Probe, Reading, spec_for
from selkmoor.errors import SelkmoorError

__version__ = "2.6.1"

__all__ = ["Bus", "Controller", "LoopbackTransport", "Probe", "Reading"]
__all__ += ["SelkmoorError", "SerialTransport", "spec_for"]
