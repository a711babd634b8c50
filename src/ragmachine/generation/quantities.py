"""Amounts: a number with its unit, and when two of them are the same.

``1,024`` is ``1024`` and ``1k``; ``0.9`` is ``90 %``; ``90 seconds`` are ``1.5 minutes``. ``30
seconds`` are not ``30 minutes``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

GROUPS = r"[,_\u00a0\u202f ]"
# One line each: kind, size in the smallest unit of that kind, spellings. Short ones stand in the
# case that they are written in: m is a metre, M a million.
_UNITS = """
    time 1/1000000000 ns nanosecond nanoseconds
    time 1/1000000 us µs μs microsecond microseconds
    time 1/1000 ms msec millisecond milliseconds
    time 1 s sec secs second seconds
    time 60 min mins minute minutes
    time 3600 h hr hrs hour hours
    time 86400 day days
    time 604800 week weeks
    months 1 month months
    months 12 year years
    bits 1 bit bits
    bytes 1 byte bytes
    bytes 1000|1024 kB KB
    bytes 1024 KiB kibibytes
    bytes 1000000|1048576 MB megabyte megabytes
    bytes 1048576 MiB mebibytes
    bytes 1000000000|1073741824 GB gigabyte gigabytes
    bytes 1073741824 GiB gibibytes
    bytes 1000000000000|1099511627776 TB terabyte terabytes
    bytes 1099511627776 TiB tebibytes
    length 1/1000 mm millimetre millimetres millimeter millimeters
    length 1/100 cm centimetre centimetres centimeter centimeters
    length 1 m metre metres meter meters
    length 1000 km kilometre kilometres kilometer kilometers
    mass 1/1000 mg milligram milligrams
    mass 1 g gram grams
    mass 1000 kg kilogram kilograms
    volume 1/1000 ml mL millilitre millilitres milliliter milliliters
    volume 1 l L litre litres liter liters
    current 1/1000 mA milliamp milliamps
    current 1 A amp amps ampere amperes
    voltage 1/1000 mV
    voltage 1 V volt volts
    power 1 W watt watts
    power 1000 kW kilowatt kilowatts
    frequency 1 Hz hertz
    frequency 1000 kHz
    frequency 1000000 MHz
    frequency 1000000000 GHz
    celsius 1 °C
    fahrenheit 1 °F
    number 1/100 % percent
    number 1000|1024 k K thousand
    number 1000000|1048576 M million
    number 1000000000 B billion
"""
_KNOWN: dict[str, tuple[str, tuple[Fraction, ...]]] = {}
for _line in _UNITS.strip().splitlines():
    _kind, _sizes, *_spellings = _line.split()
    for _spelling in _spellings:
        _KNOWN[_spelling] = (_kind, tuple(Fraction(size) for size in _sizes.split("|")))
_UNIT = "|".join(sorted(map(re.escape, _KNOWN), key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?<![\w.])(?P<number>[-−]?(?:\d{{1,3}}(?:{GROUPS}\d{{3}})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?))"
    rf"(?!\.?\d)(?:[ \t\u00a0\u202f-]?(?P<unit>{_UNIT})(?![\w°]))?"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in a text with the unit behind it.

    Attributes:
        text: as written, such as ``30 seconds``.
        number: its number alone, as written.
        unit: its unit as written; "" for none.
        kind: of the unit, such as ``time``; ``number`` for none, for shares and for thousands.
        values: in the smallest unit of its kind; two where a ``kB`` may be either.
    """

    text: str
    number: str
    unit: str
    kind: str
    values: frozenset[Fraction]

    @property
    def plain(self) -> Fraction:
        """The number without its unit."""
        return _fraction(self.number)

    def equals(self, other: Amount) -> bool:
        """Whether both may be the same amount."""
        return self.kind == other.kind and not self.values.isdisjoint(other.values)


def amounts(text: str) -> list[Amount]:
    """The amounts in a text, in order; versions and numbers within names are none."""
    found = []
    for match in _AMOUNT.finditer(text):
        unit = match["unit"] or ""
        kind, sizes = _KNOWN.get(unit, ("number", (Fraction(1),)))
        number = _fraction(match["number"])
        values = frozenset(number * size for size in sizes)
        found.append(Amount(match[0], match["number"], unit, kind, values))
    return found


def other_unit(amount: Amount, known: Sequence[Amount]) -> str:
    """The amount that has the same number and another unit, where none is the same amount.

    Args:
        amount: of a sentence.
        known: of its source.
    Returns: "" where the source has the amount in any unit, the number without a unit, or not the
        number at all.
    """
    if not amount.unit or any(amount.equals(one) for one in known):
        return ""
    alike = [one for one in known if one.plain == amount.plain]
    return alike[0].text if alike and all(one.unit for one in alike) else ""


def _fraction(number: str) -> Fraction:
    return Fraction(re.sub(GROUPS, "", number).replace("−", "-"))
