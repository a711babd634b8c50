"""What a sentence must have letter by letter from its source: numbers, names and quotations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from .phrasing import NUMBERS
from .quantities import GROUPS, Amount, amounts, other_unit

_QUOTED = re.compile(r"\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|(?<!\w)'([^'\n]{2,80})'(?!\w)")
_CODE = re.compile(r"`([^`\s]{2,80})`")
_IN_CODE = re.compile(r"(?<![\w.-])[^\W\d][\w-]*\w")
# Each begins at the start of a word, so that a long one is read once and not from every letter.
_NAME = re.compile(
    r"--[A-Za-z][\w-]*\w"
    r"|(?<!\w)(?:"
    r"(?<!\.)0[xob][0-9A-Fa-f]+(?!\w)"
    r"|[^\W\d]\w*(?:\.[^\W\d]\w*)+"  # LLM.generate, config.toml
    r"|\w*[^\W_]_\w+|_+[^\W_]\w*"
    r"|(?=\w{4})(?:\w*[a-z][A-Z]\w*|[A-Z]{2,}[a-z]{2,}\w*)"  # MiB is a unit
    r"|(?:[A-Za-z]+-){0,4}[A-Za-z]+-?\d\w*(?:-[A-Z\d]\w*)*"  # E-77, H100, SM-P-1216
    r")"
)
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]?")
_NUMBER = re.compile(
    rf"(?<![\w.])[-−]?(?:\d{{1,3}}(?:{GROUPS}\d{{3}})+(?![\d.]*\d)"
    r"|\d+(?:\.\d+)*(?:[eE][-+]?\d+)?)(?!_)"
)
_DIGITS = re.compile(r"\d+(?:\.\d+)*")


class Source:
    """A text in which numbers, names and quotations are looked for, in any case of letters.

    Args:
        text: a passage, with what is said about its place.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def has_number(self, number: str) -> bool:
        """Whether it has that value: ``1000`` for ``1,000`` and ``1000.0``, "eight" for ``8``.

        A sign counts where the number asked for has one.
        """
        value = _value(number)
        return value in self._values or f"-{value}" in self._values

    def has_name(self, name: str) -> bool:
        """Whether it has the name, with ``-`` or ``_`` in it; one with dots may be in parts."""
        return all(self._has(part) for part in re.split(r"[./]", name.strip("-")) if part)

    def has_quotation(self, quotation: str) -> bool:
        """Whether it has those words side by side; blanks and kinds of quotes do not matter."""
        return _flat(quotation) in self._flat

    def _has(self, name: str) -> bool:
        pattern = r"[-_]".join(map(re.escape, re.split(r"[-_]", name)))
        return re.search(rf"(?<!\w){pattern}(?!\w)", self.text, re.IGNORECASE) is not None

    @cached_property
    def _values(self) -> frozenset[str]:
        found = {match[0] for match in _NUMBER.finditer(self.text)}
        found |= {match[0] for match in _DIGITS.finditer(self.text)}
        words = set(re.findall(r"[a-z]+", self.text.casefold())) & NUMBERS.keys()
        return frozenset(map(_value, found)) | {NUMBERS[word] for word in words}

    def has_amount(self, amount: Amount) -> bool:
        """Whether it has the same amount in any unit: ``1024`` for ``1k``, ``0.9`` for ``90 %``."""
        return any(amount.equals(one) for one in self.amounts)

    @cached_property
    def amounts(self) -> list[Amount]:
        """Its numbers with the units behind them."""
        return amounts(self.text)

    @cached_property
    def _flat(self) -> str:
        return _flat(self.text)


class Exact:
    """The numbers, names and quotations of a sentence, each once, as written.

    Names have a form of their own, as ``--flag``, ``snake_case``, ``CamelCase``, ``a.b`` and
    ``E-77``, or stand alone between backticks. Acronyms are words.

    Args:
        text: the sentence, without citations and list marker.
    """

    def __init__(self, text: str) -> None:
        self.quotations = [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
        text = _QUOTED.sub(" ", text)
        names = [name for code in _CODE.findall(text) for name in _IN_CODE.findall(code)]
        spans = [m for m in _NAME.finditer(text) if not _ABBREVIATION.fullmatch(m[0])]
        self.names = list(dict.fromkeys([*(match[0] for match in spans), *names]))
        for match in reversed(spans):
            text = f"{text[: match.start()]}x{text[match.end() :]}"
        self.numbers = list(dict.fromkeys(match[0] for match in _NUMBER.finditer(text)))
        self.amounts = amounts(text)

    def missing_numbers(self, sources: Sequence[Source]) -> list[str]:
        """The numbers that none of the sources has, alone or as the same amount in another unit."""
        written = {amount.number: amount for amount in self.amounts}
        missing = []
        for one in self.numbers:
            amount = written.get(one)
            is_there = amount is not None and any(source.has_amount(amount) for source in sources)
            if not is_there and not any(source.has_number(one) for source in sources):
                missing.append(one)
        return missing

    def other_units(self, sources: Sequence[Source]) -> list[tuple[str, str]]:
        """Amounts whose number the sources have with another unit only, and what they have."""
        known = [amount for source in sources for amount in source.amounts]
        found = [(amount.text, other_unit(amount, known)) for amount in self.amounts]
        return [(text, other) for text, other in found if other]

    def missing(self, sources: Sequence[Source]) -> list[str]:
        """All that none of the sources has."""
        return [
            *(one for one in self.quotations if not any(s.has_quotation(one) for s in sources)),
            *(one for one in self.names if not any(s.has_name(one) for s in sources)),
            *self.missing_numbers(sources),
        ]


def _value(number: str) -> str:
    """One spelling of each value."""
    text = re.sub(GROUPS, "", number).replace("−", "-")
    sign = "-" if text.startswith("-") else ""
    whole, dot, rest = text.removeprefix("-").partition(".")
    if rest.isdigit():  # 1.10.0 is a version
        rest = rest.rstrip("0")
    return f"{sign}{whole.lstrip('0') or '0'}{dot if rest else ''}{rest}"


def _flat(text: str) -> str:
    return re.sub(r"[\s'\"“”‘’`]+", " ", text).strip().casefold()
