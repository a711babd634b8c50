"""Invented products and what their manuals say: values only, the same for the same seed.

Products come in families of four siblings that differ in a number or a letter, have the same parts
and the same properties, and share all of their prose. Only the values tell them apart.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

SIBLINGS = 4
_SCAN_EVERY, _FIRST_SCAN = 20, 6  # counted from 0: a dozen manuals have a scan too
_ENDINGS = (
    ("210", "215", "230", "230 S"),
    ("2", "3", "4", "5"),
    ("KX200", "KX200S", "KX240", "KX400"),
    ("Mini", "Plus", "Pro", "Max"),
    ("1.5", "2.0", "2.5", "3.0"),
)
_FAMILIES = (
    "Corvane", "Tarvel", "Ostrin", "Belmara", "Quillon", "Hesper", "Dorvik", "Lumeno", "Arkwell",
    "Sorrant", "Velmir", "Junpo", "Nastro", "Ferrow", "Gildane", "Kestin", "Mirelle", "Palvo",
    "Rondic", "Tessaro", "Umbrik", "Wexlor", "Yarrin", "Zephal", "Brantis",
)  # fmt: skip
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"  # what makers use: no I, O or Q beside 1 and 0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of product.

    Attributes:
        name: ``circulation pump``.
        properties: name in the table, name in a question, values, unit.
        parts: what is sold singly.
        tasks: verb, part and unit of interval of each piece of maintenance.
    """

    name: str
    properties: tuple[tuple[str, str, tuple[str, ...], str], ...]
    parts: tuple[str, ...]
    tasks: tuple[tuple[str, str, str], ...]


def _steps(first: float, step: float, count: int = 24) -> tuple[str, ...]:
    return tuple(f"{first + step * number:g}" for number in range(count))


_COMMON = (
    ("Rated voltage", "rated voltage", ("110", "120", "220", "230", "240", "400"), "V"),
    ("Rated power input", "rated power", _steps(310, 45), "W"),
    ("Sound pressure level", "sound pressure level", _steps(41, 1), "dB(A)"),
    ("Net weight", "weight", _steps(4.2, 0.7), "kg"),
    ("Ambient temperature, max.", "highest ambient temperature", _steps(31, 1), "°C"),
    ("Length of power cord", "length of the power cord", _steps(1.2, 0.2), "m"),
)
KINDS = (
    Kind(
        "circulation pump",
        (
            ("Maximum flow rate", "maximum flow rate", _steps(22, 3), "l/min"),
            ("Delivery head", "delivery head", _steps(4.5, 0.6), "m"),
            ("Suction height", "suction height", _steps(2.1, 0.3), "m"),
            *_COMMON,
        ),
        ("Impeller", "Shaft seal", "Inlet strainer", "O-ring set", "Motor bearing", "Terminal box"),
        (
            ("Clean", "inlet strainer", "operating hours"),
            ("Replace", "shaft seal", "operating hours"),
            ("Grease", "motor bearing", "operating hours"),
            ("Check", "terminal box", "weeks"),
        ),
    ),
    Kind(
        "dehumidifier",
        (
            ("Moisture removal per day", "moisture removal per day", _steps(9, 2), "l"),
            ("Tank capacity", "capacity of the tank", _steps(2.5, 0.4), "l"),
            ("Refrigerant charge", "refrigerant charge", _steps(85, 15), "g"),
            *_COMMON,
        ),
        ("Air filter", "Water tank", "Float switch", "Drain hose", "Fan motor", "Castor wheel"),
        (
            ("Clean", "air filter", "operating hours"),
            ("Descale", "water tank", "weeks"),
            ("Check", "float switch", "weeks"),
            ("Replace", "drain hose", "operating hours"),
        ),
    ),
    Kind(
        "air compressor",
        (
            ("Final pressure", "final pressure", _steps(6.5, 0.5), "bar"),
            ("Receiver volume", "volume of the receiver", _steps(18, 4), "l"),
            ("Oil filling", "oil filling", _steps(0.4, 0.15), "l"),
            *_COMMON,
        ),
        ("Intake filter", "Drive belt", "Check valve", "Pressure switch", "Oil plug", "Pulley"),
        (
            ("Change", "intake filter", "operating hours"),
            ("Tension", "drive belt", "operating hours"),
            ("Test", "pressure switch", "weeks"),
            ("Clean", "check valve", "operating hours"),
        ),
    ),
    Kind(
        "espresso machine",
        (
            ("Pump pressure", "pump pressure", _steps(9, 0.5), "bar"),
            ("Boiler volume", "volume of the boiler", _steps(0.3, 0.15), "l"),
            ("Heating-up time", "heating-up time", _steps(35, 8), "s"),
            *_COMMON,
        ),
        ("Group gasket", "Steam wand", "Shower screen", "Drip tray", "Vibration pump", "Boiler"),
        (
            ("Descale", "boiler", "brewing cycles"),
            ("Replace", "group gasket", "brewing cycles"),
            ("Clean", "shower screen", "brewing cycles"),
            ("Rinse", "steam wand", "brewing cycles"),
        ),
    ),
    Kind(
        "label printer",
        (
            ("Print speed", "print speed", _steps(80, 15), "mm/s"),
            ("Print resolution", "print resolution", ("203", "300", "406", "600"), "dpi"),
            ("Roll diameter, max.", "largest roll diameter", _steps(95, 7), "mm"),
            *_COMMON,
        ),
        ("Print head", "Platen roller", "Cutter blade", "Media sensor", "Ribbon core", "Lid hinge"),
        (
            ("Clean", "print head", "labels"),
            ("Replace", "platen roller", "labels"),
            ("Replace", "cutter blade", "labels"),
            ("Dust", "media sensor", "weeks"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Manual:
    """One product and what its manual says.

    Attributes:
        file: its name, which says nothing of the product.
        product, kind: ``Corvane 210``, of that kind.
        title: of the file's own data; "" for none.
        warranty_months: as in the warranty.
        properties: (name in the table, name in a question, value with its unit).
        tasks: (verb, part, interval).
        parts: (part, its number).
        is_scan: whether its pages are images only.
        style: 0..3, decides the layout: rules or none, table or list, order of the sections.
    """

    file: str
    product: str
    kind: Kind
    title: str
    warranty_months: int
    properties: tuple[tuple[str, str, str], ...]
    tasks: tuple[tuple[str, str, str], ...]
    parts: tuple[tuple[str, str], ...]
    is_scan: bool
    style: int


def make_manuals(count: int, seed: int) -> list[Manual]:
    """The first manuals of a seed; a longer list begins with the shorter one.

    Args:
        count: at most four for each family name.
        seed: of all values.
    Raises: ValueError: more manuals than that.
    """
    if not 0 < count <= SIBLINGS * len(_FAMILIES):
        raise ValueError(f"from 1 to {SIBLINGS * len(_FAMILIES)} manuals, not {count}")
    used: set[str] = set()
    manuals: list[Manual] = []
    for family in range(-(-count // SIBLINGS)):
        manuals += _family(family, random.Random(f"{seed} {family}"), used)  # noqa: S311
    return manuals[:count]


def _family(family: int, dice: random.Random, used: set[str]) -> list[Manual]:
    """Four siblings: no two of them share a value that a question may ask for."""
    kind = KINDS[family % len(KINDS)]
    months = dice.sample((12, 18, 24, 30, 36, 42, 48, 60, 72, 84), SIBLINGS)
    values = [dice.sample(many, SIBLINGS) for _, _, many, _ in kind.properties]
    scales = {"weeks": (2, 3, 4, 6, 8, 10, 13, 26), "labels": range(4000, 90000, 3500)}
    intervals = [
        dice.sample(scales.get(unit, range(150, 4000, 50)), SIBLINGS) for _, _, unit in kind.tasks
    ]
    endings = _ENDINGS[(family // len(KINDS) + family) % len(_ENDINGS)]
    siblings = []
    for one, ending in enumerate(endings):
        number = family * SIBLINGS + one
        product = f"{_FAMILIES[family]} {ending}"
        form = dice.randrange(4)
        siblings.append(
            Manual(
                file=f"manual-{number + 1:03}.pdf",
                product=product,
                kind=kind,
                title=(f"{product} operating manual", "", "Operating manual")[dice.randrange(3)],
                warranty_months=months[one],
                properties=tuple(
                    (name, asked, f"{values[row][one]} {unit}")
                    for row, (name, asked, _, unit) in enumerate(kind.properties)
                ),
                tasks=tuple(
                    (verb, part, f"every {intervals[row][one]} {unit}")
                    for row, (verb, part, unit) in enumerate(kind.tasks)
                ),
                parts=tuple((part, _part_number(form, dice, used)) for part in kind.parts),
                is_scan=number % _SCAN_EVERY == _FIRST_SCAN,
                style=dice.randrange(4),
            )
        )
    return siblings


def _part_number(form: int, dice: random.Random, used: set[str]) -> str:
    """A number that no other part has, in one of the forms that makers use."""
    while True:
        digits = f"{dice.randrange(10**7, 10**8)}"
        two = "".join(dice.choices(_LETTERS, k=2))
        number = (
            f"{two}-{digits[:4]}-{digits[4:6]}",
            f"{digits[:4]}.{digits[4:7]}.{digits[6:]}",
            f"{two} {digits[:4]} {digits[4:6]}",
            f"{two[0]}{digits[:6]}",
        )[form]
        if number not in used:
            used.add(number)
            return number
