"""Numbers with their units, however they are written: ``1,024`` is 1024, ``5 seconds`` is 5 s."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

_SPELLINGS = {
    "ns": "ns nanosecond nanoseconds",
    "us": "us µs μs microsecond microseconds",
    "ms": "ms msec msecs millisecond milliseconds",
    "s": "s sec secs second seconds",
    "min": "min mins minute minutes",
    "h": "h hr hrs hour hours",
    "day": "d day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years",
    "B": "B byte bytes",
    "kB": "kB KB kilobyte kilobytes",
    "MB": "MB megabyte megabytes",
    "GB": "GB gigabyte gigabytes",
    "TB": "TB terabyte terabytes",
    "KiB": "KiB Ki kibibyte kibibytes",
    "MiB": "MiB Mi mebibyte mebibytes",
    "GiB": "GiB Gi gibibyte gibibytes",
    "TiB": "TiB Ti tebibyte tebibytes",
    "bit": "bit bits",
    "mm": "mm millimetre millimetres millimeter millimeters",
    "cm": "cm centimetre centimetres centimeter centimeters",
    "m": "m metre metres meter meters",
    "km": "km kilometre kilometres kilometer kilometers",
    "g": "g gram grams",
    "kg": "kg kilogram kilograms",
    "V": "V volt volts",
    "A": "A amp amps ampere amperes",
    "mA": "mA milliampere milliamperes",
    "W": "W watt watts",
    "Hz": "Hz hertz",
    "kHz": "kHz kilohertz",
    "MHz": "MHz megahertz",
    "GHz": "GHz gigahertz",
    "°C": "°C",
    "%": "% percent",
    "EUR": "EUR € euro euros",
    "USD": "USD $ dollar dollars",
}
_UNITS = {word: unit for unit, words in _SPELLINGS.items() for word in words.split()}
_LONG_UNITS = {word: unit for word, unit in _UNITS.items() if word.islower() and len(word) > 3}
_WORDS = {
    word: str(number)
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), 1
    )
}
_SIGNS = str.maketrans({"−": "-", "\u00a0": " ", "\u202f": " "})
_DIGITS = r"\d{1,3}(?:[,_\u00a0\u202f]\d{3})+(?![\d_])(?:\.\d+)?|\d+(?:\.\d+)*|\.\d+"
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
# A sign after a word or a bracket is a minus between two numbers; 99d004 and fp16 hold no number.
QUANTITY = re.compile(
    rf"(?<![\w.])(?:(?P<sign>(?<![\w)\]}}-])[-−+])|v(?=\d))?"
    rf"(?P<digits>{_DIGITS})(?P<power>[eE][-+]?\d+)?"
    rf"(?:(?:[ \u00a0\u202f-]?(?P<unit>{_UNIT}|(?i:{'|'.join(sorted(_LONG_UNITS))}))(?!\w))|(?!\w))"
)
_SPELLED = re.compile(
    rf"(?<![\w-])(?P<word>{'|'.join(_WORDS)})(?!\w)(?:[ \u00a0-](?P<unit>{_UNIT})(?!\w))?",
    re.IGNORECASE,
)


class Quantity(NamedTuple):
    """A number and its unit.

    Attributes:
        value: one spelling for each value; a version such as ``1.10`` keeps its zero.
        unit: one name for each unit, "" for none; ``GB`` and ``GiB`` are two.
    """

    value: str
    unit: str = ""


def read_quantity(text: str) -> Quantity | None:
    """The quantity that a text consists of; None where there is none, or something else too."""
    match = QUANTITY.fullmatch(text.strip()) or _SPELLED.fullmatch(text.strip())
    return _quantity(match) if match else None


def quantities(text: str) -> frozenset[Quantity]:
    """All quantities of a text, each also without its unit.

    A number in words counts up to twelve: "one" only with a unit, since it is a pronoun else.
    """
    found = {_quantity(match) for match in QUANTITY.finditer(text)}
    for match in _SPELLED.finditer(text):
        if match["unit"] or match["word"].lower() != "one":
            found.add(_quantity(match))
    return frozenset(found | {Quantity(one.value) for one in found})


def _quantity(match: re.Match[str]) -> Quantity:
    unit = match["unit"] or ""
    unit = _UNITS.get(unit) or _UNITS.get(unit.lower(), unit)
    spelled = match.groupdict().get("word")
    if spelled:
        return Quantity(_WORDS[spelled.lower()], unit)
    sign = "-" if match["sign"] in ("-", "−") else ""
    return Quantity(sign + _value(match["digits"], match["power"] or "", bool(unit)), unit)


def _value(digits: str, power: str, has_unit: bool) -> str:
    digits = re.sub(r"[,_\u00a0\u202f]", "", digits)
    if digits.count(".") > 1:
        return digits
    number = Decimal(digits)
    if power and abs(int(power[1:])) < 100:
        number = Decimal(f"{digits}{power}")
    elif power:
        return f"{digits}{power.lower()}"
    if power or has_unit or number == number.to_integral_value():
        return f"{number.normalize():f}"
    return f"{number:f}"
