"""What kind of value a question asks for, and which units hold one.

The patterns are general English and general code; none names anything of a particular corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_LITERAL = (
    r"-?\d[\w.]*|[rbf]?[\"'][^\"'\n]*[\"']|True\b|False\b|None\b|true\b|false\b|null\w*\b|\[|\{|\("
    r"|[A-Z][A-Z0-9_]{2,}\b|\w+\.\w+"
)


@dataclass(frozen=True, slots=True)
class Intent:
    """A kind of question.

    Attributes:
        asked: matches questions of this kind.
        held: matches units that hold such a value.
        weight: share of the full bonus.
    """

    asked: re.Pattern[str]
    held: re.Pattern[str]
    weight: float


def _intent(weight: float, asked: str, held: str) -> Intent:
    return Intent(re.compile(asked, re.IGNORECASE), re.compile(held, re.MULTILINE), weight)


_INTENTS = (
    _intent(0.5, r"\bdefaults?\b|\binitial", r"(?i:default)|\w\s*(?::[^=\n]+)?=\s*[^=\s]"),
    _intent(
        1.0,
        r"\bhow (?:many|much|long|often|large|big|fast)\b|\b(?:minimum|maximum|min|max|number"
        r"|version|size|limit|port|percent\w*|ratio|threshold|values?|range|count)\b",
        r"(?<![\w.])-?\d",
    ),
    _intent(
        1.0,
        r"\b(?:errors?|exceptions?|raises?|raised|fails?|asserts?|assertion|invalid)\b",
        r"\braise\b|\bthrow\b|\bassert|(?:Error|Exception)\b|_CHECK\b",
    ),
    _intent(0.8, r"\breturn(?:s|ed)?\b|\boutputs?\b", r"\b[Rr]eturns?\b|->|\byield\b"),
    _intent(
        0.6,
        r"\b(?:flag|option|argument|parameter|environment variable|env var|setting|field)s?\b",
        r"--[a-z]|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|`\w+`|\b\w+=",
    ),
    _intent(
        0.8,
        r"\b(?:command|install|build|run|start|launch|set up|enable|how (?:do|can|to|should))\b",
        r"^\s*(?:\$ )?(?:pip|uv|python3?|docker|git|curl|export|cmake|make|conda|sudo|apt|npm|cargo"
        r"|go|wget|kubectl|helm)\s|--[a-z]|[\w.]+\(.*\)",
    ),
    _intent(
        0.6,
        r"\b(?:where|path|url|endpoint|directory|folder|file|link|page|module)\b",
        r"https?://|/\w+/|\w/\w|\.(?:py|md|json|yaml|txt|sh)\b|\]\(",
    ),
    _intent(
        0.6,
        r"\b(?:when|conditions?|determines?|what happens|if|whether|prevents?|unless)\b",
        r"^\s*\}?\s*(?:el|else )?if\b|\b(?:[Ii]f|[Ww]hen|unless|otherwise)\b|\belse\b|\bassert\b",
    ),
    _intent(
        0.6,
        r"\b(?:why|reasons?|purpose|motivation)\b",
        r"(?i)\b(?:because|since|so that|in order to|to avoid|due to|as a result|therefore"
        r"|purpose)\b",
    ),
    _intent(
        0.4,
        r"\b(?:supported|available|possible|which|what) (?:\w+ )?\w+s\b|\blist\b",
        r"\n\s*[-*] |,\s.*,|\[.*,|\|",
    ),
)
# Words of the question that say what is asked for, and so name nothing.
_NOT_NAMES = frozenset(
    """
    argument attribute class config constant default defaults field function initial initialized
    method module option parameter property setting type value values variable
    """.split()
)
_DEFAULT = re.compile(r"\bdefaults?\b|\binitial", re.IGNORECASE)


def intent_scorer(question: str, names: Sequence[str]) -> Callable[[str], tuple[float, bool]]:
    """Judge units for one question.

    Args:
        question: as asked.
        names: its words that a program could use as a name.
    Returns: a function from a unit's text to the summed weights of the intents that it meets, and
        to whether it gives the value of a name in a question for a default.
    """
    intents = [intent for intent in _INTENTS if intent.asked.search(question)]
    asked = re.compile("|".join(rf"(?<!\w){re.escape(n)}(?!\w)" for n in names) or r"(?!)", re.I)
    subjects = [name for name in names if name.lower() not in _NOT_NAMES]
    given = _given_value(subjects) if subjects and _DEFAULT.search(question) else None

    def judge(text: str) -> tuple[float, bool]:
        # What the question says already is no answer to it.
        rest = asked.sub("", text)
        met = sum(intent.weight for intent in intents if intent.held.search(rest))
        return met, given is not None and given.search(text) is not None

    return judge


def _given_value(names: Sequence[str]) -> re.Pattern[str]:
    """Matches ``name = 3``, ``name: int = 3``, ``get("name", 3)`` and ``--name … default=3``."""
    name = "(?i:" + "|".join(re.escape(n) for n in names) + ")"
    return re.compile(
        rf"(?<![\w.])(?:\w+\.)?{name}[\"'`]?\s*(?::[^=\n]{{1,60}}|\*\*)?\s*(?:=(?!=)|,|:)\s*"
        rf"(?:{_LITERAL})"
        rf"|(?<!\w){name}(?!\w)[^.]{{0,200}}?\b[Dd]efault(?:s to|=| is|:)",
        re.DOTALL,
    )
