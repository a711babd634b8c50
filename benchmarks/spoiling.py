"""Makes wrong answers of right ones: a number, a unit, a name or a negation is changed."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from ragmachine.generation.exact import Exact
from ragmachine.generation.quantities import amounts
from ragmachine.generation.stitch import Passage

NEGATIONS = (
    (r"\b(is|are|was|were|do|does|did|can|may|must|will|should) not ", r"\1 "),
    (r"\bcannot\b", "can"),
    (r"\b(is|are|was|were|can|may|must|will|should) (?!not\b)", r"\1 not "),
)
UNITS = (
    ("seconds", "minutes", "hours", "days", "milliseconds"), ("s", "min", "h", "ms"),
    ("MiB", "GiB", "KiB"), ("MB", "GB", "KB"), ("mm", "cm", "m"), ("ml", "l"), ("mA", "A"),
)  # fmt: skip


def spoilt(answer: str, passages: Sequence[Passage], others: Sequence[str]) -> dict[str, str]:
    """The answer with one number, or one name, replaced; without what it has none of."""
    exact = Exact(answer)
    found = {}
    if exact.numbers:
        old = random.choice(exact.numbers)  # noqa: S311
        near = {n for p in passages for n in Exact(p.text).numbers} - set(exact.numbers)
        found["number changed"] = _swap(answer, old, str(random.randint(2, 9999)))  # noqa: S311
        if near:
            new = random.choice(sorted(near))  # noqa: S311
            found["number of the same passages"] = _swap(answer, old, new)
    names = sorted({n for other in others for n in Exact(other).names} - set(exact.names))
    if exact.names and names:
        old, new = random.choice(exact.names), random.choice(names)  # noqa: S311
        found["name changed"] = _swap(answer, old, new)
    found |= {"negation turned": turned(answer), "unit changed": other_unit(answer)}
    return {what: text for what, text in found.items() if text}


def turned(answer: str) -> str:
    """The answer with its first negation taken out, or one put behind its first auxiliary."""
    for pattern, replacement in NEGATIONS:
        changed = re.sub(pattern, replacement, answer, count=1)
        if changed != answer:
            return changed
    return ""


def other_unit(answer: str) -> str:
    """The answer with the unit of its first measure replaced by another of that kind."""
    for amount in amounts(answer):
        for units in UNITS:
            if amount.unit in units:
                new = units[(units.index(amount.unit) + 1) % len(units)]
                spelt = amount.text.removesuffix(amount.unit) + new
                return answer.replace(amount.text, spelt, 1)
    return ""


def _swap(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text)
