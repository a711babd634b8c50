"""What kind of value a question asks for, and which units hold one.

The patterns are general English and general code; none names anything of a particular corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragmachine.degrees import DEGREES

from .words import content_words, exact_names

_LITERAL = (
    r"-?\d[\w.]*|[rbf]?[\"'][^\"'\n]*[\"']|True\b|False\b|None\b|true\b|false\b|null\w*\b|\[|\{|\("
    r"|[A-Z][A-Z0-9_]{2,}\b|\w+\.\w+"
)

_ASKING = re.compile(
    rf"\bhow (?:{DEGREES})\b|\bwhen is it (?:time|due)\b"
    r"|\b(?:compare|contrast|differences? (?:between|in|of))\b",
    re.IGNORECASE,
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
        r"|version|size|limit|port|percent\w*|ratio|threshold|values?|range|count)\b"
        r"|\bwhich\b.*\b(?:more|less|fewer|(?:bigg|cheap|deep|fast|great|heavi|high|larg|light|long"
        r"|low|short|slow|small|strong|wid)er)\b",
        r"(?<![\w.])-?\d",
    ),
    _intent(
        1.0,
        # "how long may it be" asks for a length
        r"\bhow (?:late|long(?!.*\bbe\b)|often|old|soon)\b|\bwhen is it (?:time|due)\b"
        r"|\b(?:deadline|duration|interval|lifetime|period|timeout)s?\b"
        r"|\bwhich\b.*\b(?:earli|lat|long|old|short|soon)er\b",
        r"\d\s*(?:[mnu]?s|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|days?|weeks?|months?|years?)\b",
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
    argument attribute clas class config configuration constant default environment field flag
    function initial initialized keyword method module number option parameter property setting
    size type value variable
    """.split()
)
# What a question for a value is about stands in the group; the first pattern that matches counts.
_SUBJECT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:defaults?|initial)\b(?:\s+[\w-]+){0,3}?\s+(?:of|for)\s+(.+)",
        r"\bwhat\s+(?:do|does)\s+(.+?)\s+default\s+to\b",
        r"([\w.`-]+)(?:\s+\w+)?\s+(?:default|set|equal|initiali[sz]ed?)s?\s+to\b",
        r"\bto (?:what|which)(?: \w+)? (?:is|are|was|were|does|do)\s+(.+?)\s+(?:set|default)",
        r"\bvalues? (?:of|for)\s+(.+)",
        r"\b(?:default|initial)\s+(.+)",
        r"\b(?:is|are|does|do)\s+(.+?)\s+(?:set|enabled|disabled|have|hold|be|point)?\b.*\bdefault",
    )
)
# "The default port of Relay" is about port, unless what follows can only be a variable.
_OF_OWNER = re.compile(
    r"\b(?:defaults?|initial)\s+((?:[\w-]+(?:,\s*|\s+)){1,6}?)(?:of|for)\s+(.+)", re.IGNORECASE
)
_VARIABLE = re.compile(r"^(?:the\s+|an?\s+)?[`'\"]?(?:--[a-z]|\w*_|[A-Z]{3,}\b|[a-z]+[A-Z])")
_PLACE = re.compile(
    r"\b(?:in|inside|within|of|on|at|when|if|from|by|during|for|to|used|that|which|while|unless)\b"
    r"|[?;]|\.\s|,\s*and (?:what|how|why|for)\b|'s\b",
    re.IGNORECASE,
)
_VALUE_ASKED = re.compile(
    r"\bdefaults?\b|\binitial\b|\bvalues? (?:of|for)\b|\bset to\b|\bto what is\b", re.IGNORECASE
)
_CONSTANT_ASKED = re.compile(r"\b[Ww]hat (?:is|are)\s+`?([A-Z_][A-Z0-9_]{2,})`?(?!\w)")
_MOST_SUBJECT_WORDS = 4


def intent_scorer(question: str, names: Sequence[str]) -> Callable[[str], tuple[float, bool]]:
    """Judge units for one question.

    Args:
        question: as asked.
        names: its words that a program could use as a name.
    Returns: a function from a unit's text to the summed weights of the intents that it meets, and
        to whether it gives the value that a question for a value asks for.
    """
    intents = [intent for intent in _INTENTS if intent.asked.search(question)]
    said = "|".join(map(re.escape, names)) or r"(?!)"
    asked = re.compile(rf"(?<!\w)(?:{said})(?!\w)", re.IGNORECASE)
    subjects = value_subjects(question, names)
    given = _given_value(subjects) if subjects else None

    def judge(text: str) -> tuple[float, bool]:
        held = [intent for intent in intents if intent.held.search(text)]
        # What the question says already is no answer to it.
        rest = asked.sub("", text) if held else ""
        met = sum(intent.weight for intent in held if intent.held.search(rest))
        return met, given is not None and given.search(text) is not None

    return judge


def without_asking(question: str) -> str:
    """The question without what only asks for a degree or to compare: "how long", "compare"."""
    return _ASKING.sub(" ", question)


def value_subjects(question: str, names: Sequence[str]) -> list[str]:
    """The names whose value is asked for; none where a question asks for no value.

    "The default of `size` in Pool" is about ``size``; of several candidates identifiers count.

    Args:
        question: as asked.
        names: its words that a program could use as a name.
    """
    if constant := _CONSTANT_ASKED.search(question):
        return [constant[1]]
    if not _VALUE_ASKED.search(question):
        return []
    known = [name for name in names if name.lower().removesuffix("s") not in _NOT_NAMES]
    if (match := _OF_OWNER.search(question)) and not _VARIABLE.search(match[2]):
        words = [word for word in content_words(match[1]) if word in known]
        if words:
            return words[:_MOST_SUBJECT_WORDS]
    for pattern in _SUBJECT:
        if match := pattern.search(question):
            phrase = _PLACE.split(match[1], maxsplit=1)[0]
            identifiers = [name for name in exact_names(phrase) if name in names]
            said = [word for word in content_words(phrase) if word in names]
            words = [word for word in said if word in known] or said
            if identifiers or words:
                return identifiers or words[:_MOST_SUBJECT_WORDS]
    return [name for name in exact_names(question) if name in names] or known


def _given_value(names: Sequence[str]) -> re.Pattern[str]:
    """Matches ``name = 3``, ``name: int = 3``, ``get("name", 3)``, ``--name … default=3``, a row.

    A name may be written with ``-`` for ``_``.
    """
    name = "(?i:" + "|".join(map(_spellings, names)) + ")"
    before = r"(?<![\w.-])(?:-{1,2}|(?:\w+\.)+)?"
    said = r"\b[Dd]efault(?:s? to|s?=|s? is|s?:|ed to)"
    return re.compile(
        rf"{before}{name}[\"'`]?\s*(?::[^=\n]{{1,80}}|\*\*)?\s*(?:=(?!=)|,|:)\s*(?:{_LITERAL})"
        rf"|(?<!\w){name}(?!\w)(?:(?!\.\s)[\s\S]){{0,250}}?{said}"
        rf"|\b[Dd]efault [^.\n|]{{0,40}}(?<!\w){name}(?!\w)[`\"']? (?:is|are|to|of)\b"
        rf"|\A\|[^\n]*[Dd]efault[^\n]*\n[^\n]*(?<!\w){name}(?!\w)"
        rf"|(?<![\w.]){name} (?:is None(?! or)|or {_LITERAL}|if (?:\w+\.)*{name} is not None else)",
    )


def _spellings(name: str) -> str:
    parts = [re.escape(part) for part in re.split(r"[-_]+", name.strip("-_")) if part]
    edge = "_*" if name.startswith("_") else ""
    return edge + "[-_]".join(parts) if parts else re.escape(name)
