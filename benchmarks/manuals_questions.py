"""Questions about the manuals, each with its pages and the values of a right answer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from manuals_facts import KINDS, SIBLINGS, Manual
from manuals_pdf import MAINTENANCE, PARTS, PROPERTIES, WARRANTY

COMPARISON, NUMBER = "comparison", "part by number"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its answer key.

    Attributes:
        text: what is asked.
        kind: ``warranty``, ``specification``, … for the table.
        pages: (file, page) of every page that the answer needs.
        values: what a right answer contains.
        is_scan: whether one of the pages is an image.
    """

    text: str
    kind: str
    pages: tuple[tuple[str, int], ...]
    values: tuple[str, ...]
    is_scan: bool


_WARRANTY = (
    "How long is the warranty of the {product}?",
    "How many months of warranty does the {product} have?",
    "What is the warranty period for the {product} {kind}?",
)
_PROPERTY = (
    "What is the {name} of the {product}?",
    "{product} {name}",
    "Which {name} does the {product} {kind} have?",
)
_TASK = (
    "How often do I have to {verb} the {part} of the {product}?",
    "When is it time to {verb} the {part} on my {product}?",
    "Maintenance interval of the {part}, {product}",
)
_PART = (
    "What is the part number of the {part} for the {product}?",
    "Which number do I order a {part} for a {product} under?",
)
_NUMBER = (
    "Which manual lists part number {number}?",
    "What is {number}?",
    "I need part {number}: what is it and where is it listed?",
)
_COMPARED = (
    "Which has the longer warranty, the {product} or the {other}?",
    "Compare the {name} of the {product} and the {other}",
    "What is the difference in {name} between {product} and {other}?",
)


def make_questions(
    manuals: Sequence[Manual], pages: Mapping[str, Mapping[str, int]], seed: int
) -> list[Asked]:
    """Seven questions about each manual, and a comparison for every second one.

    Args:
        manuals: in order.
        pages: by file, the page of each fact.
        seed: chooses what is asked, and how.
    """
    return [
        asked
        for number, manual in enumerate(manuals)
        for asked in _about(number, manuals, pages, random.Random(f"{seed} {manual.file}"))  # noqa: S311
    ]


def make_unanswerable(manuals: Sequence[Manual], seed: int) -> list[tuple[str, str]]:
    """Three questions about each manual that no manual answers, each after what is wrong with it.

    They ask for a property that products of another kind have, for a product that nobody makes, and
    for a number that no part has; else they are as `make_questions` asks.

    Args:
        manuals: in order.
        seed: chooses what is asked, and how.
    """
    numbers = {number for manual in manuals for _, number in manual.parts}
    asked = []
    for manual in manuals:
        dice = random.Random(f"{seed} unanswerable {manual.file}")  # noqa: S311
        said = {"product": manual.product, "kind": manual.kind.name}
        own = {name for _, name, _ in manual.properties}
        others = sorted({name for kind in KINDS for _, name, _, _ in kind.properties} - own)
        text = dice.choice(_PROPERTY).format(**said, name=dice.choice(others))
        asked.append(("property of another kind", text))
        said["product"] = f"{manual.product.split()[0]} {dice.randrange(500, 1000)}"
        asked.append(("product that nobody makes", dice.choice(_WARRANTY).format(**said)))
        number = _other_number(dice.choice(manual.parts)[1], numbers)
        asked.append(("number of no part", dice.choice(_NUMBER).format(number=number)))
    return asked


def _other_number(number: str, used: set[str]) -> str:
    """A number of the same form that no part has."""
    for step in range(1, 10):
        other = "".join(str((int(c) + step) % 10) if c.isdigit() else c for c in number)
        if other not in used:
            return other
    raise ValueError(f"every number like {number} is used")


def _about(
    number: int,
    manuals: Sequence[Manual],
    pages: Mapping[str, Mapping[str, int]],
    dice: random.Random,
) -> Iterator[Asked]:
    manual = manuals[number]
    said = {"product": manual.product, "kind": manual.kind.name}

    def one(templates: Sequence[str], kind: str, fact: str, value: str, **names: str) -> Asked:
        text = dice.choice(templates).format(**said, **names)
        where = (manual.file, pages[manual.file][fact])
        return Asked(text, kind, (where,), (value,), manual.is_scan)

    yield one(_WARRANTY, "warranty", WARRANTY, f"{manual.warranty_months} months")
    for _, name, value in dice.sample(manual.properties, 2):
        yield one(_PROPERTY, "specification", PROPERTIES, value, name=name)
    verb, part, interval = dice.choice(manual.tasks)
    yield one(_TASK, "maintenance", MAINTENANCE, interval, verb=verb.lower(), part=part)
    part, part_number = dice.choice(manual.parts)
    yield one(_PART, "number of a part", PARTS, part_number, part=part.lower())
    for part, part_number in dice.sample(manual.parts, 2):
        yield one(_NUMBER, NUMBER, PARTS, part, number=part_number)
    if number % 2:
        # a sibling or a product of the same kind is compared; the odd one of a short list is not
        step = dice.choice((1, SIBLINGS * 5)) if number >= SIBLINGS * 5 else 1
        yield _comparison(manual, manuals[number - step], pages, dice)


def _comparison(
    manual: Manual, other: Manual, pages: Mapping[str, Mapping[str, int]], dice: random.Random
) -> Asked:
    template = dice.choice(_COMPARED)
    row = dice.randrange(len(manual.properties))
    mine, name = manual.properties[row], manual.properties[row][1]
    fact = PROPERTIES if "{name}" in template else WARRANTY
    values = (
        (mine[2], other.properties[row][2])
        if fact == PROPERTIES
        else (f"{manual.warranty_months} months", f"{other.warranty_months} months")
    )
    text = template.format(product=manual.product, other=other.product, name=name)
    where = tuple((one.file, pages[one.file][fact]) for one in (manual, other))
    return Asked(text, COMPARISON, where, values, manual.is_scan or other.is_scan)
