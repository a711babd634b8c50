"""Questions about the manuals, each with its pages and the values of a right answer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from manuals_facts import SIBLINGS, Manual
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
