"""Words that a question has because it is one, and that no answer has to hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Set

from ragmachine.degrees import DEGREES

_DEGREE = rf"\bhow ({DEGREES})\b"
_COMPARING = r"\b(differences?) (?:between|in|of)\b|\b(compare|contrast)\b"
# "I need", "tell me", "I am looking for"
_WISH = (
    r"\bI(?:['’]m| am)? (need|want|look(?:ing)? for|search(?:ing)? for)\b"
    r"|\b(tell|show|give) me\b|\b(please)\b"
)
# "which manual lists it", "where is it described"
_SAYING = (
    r"contains?|covers?|describes?|documents?|explains?|gives?|has|have|lists?|mentions?|names?"
    r"|says?|shows?|tells?"
)
_DOCUMENT = (
    r"books?|booklets?|brochures?|catalog(?:ue)?s?|chapters?|documents?|files?|guides?|handbooks?"
    r"|manuals?|pages?|sections?|sheets?|tables?"
)
_PLACE = (
    rf"\b(?:which|what) ((?:{_DOCUMENT}) (?:{_SAYING}))\b"
    rf"|\b(?:in|on) (?:which|what) ({_DOCUMENT})\b"
    r"|\bwhere (?:is|are|was|were|can|do|does)\b[^?.;]*?"
    r"\b(defined|described|documented|explained|found|given|listed|mentioned|named|shown|written)\b"
)
_ASKING = re.compile("|".join((_DEGREE, _COMPARING, _WISH, _PLACE)), re.IGNORECASE)
# A table says "Temperature, max." where people ask for the highest one.
_BOUNDS = (
    "biggest deepest fastest greatest heaviest highest largest longest max maximal maximum"
    " strongest tallest widest",
    "least lightest lowest min minimal minimum narrowest shallowest shortest slowest smallest",
)
_KIND = re.compile(
    r"(?<![\w.`])(?:arguments?|attributes?|class(?:es)?|code|constants?|constructors?|defaults?"
    r"|definitions?|environment|fields?|flags?|functions?|implementation|initiali[sz]ation"
    r"|initiali[sz]er|keywords?|members?|methods?|modules?|options?|parameters?|propert(?:y|ies)"
    r"|settings?|signature|types?|values?|variables?)(?![\w.`])",
    re.IGNORECASE,
)


def asking_words(question: str, *, has_names: bool) -> str:
    """The words of a question that only ask, blanks between them.

    They ask for a degree ("how long"), to compare ("the difference between") or where it is written
    ("which manual lists"), or say that one asks ("I need").

    Args:
        question: as asked.
        has_names: whether it names something; what kind of thing that is, such as "the constructor
            of `Pool`", then only asks too.
    """
    found = [" ".join(filter(None, match.groups())) for match in _ASKING.finditer(question)]
    if has_names:
        found += _KIND.findall(question)
    return " ".join(found)


def same_bounds(asked: Set[str], terms_of: Callable[[str], list[str]]) -> dict[str, Set[str]]:
    """Terms that say "the most" or "the least", each with those of a question that say the same.

    Args:
        asked: terms of the question.
        terms_of: cuts a text into terms.
    """
    same: dict[str, Set[str]] = {}
    for words in _BOUNDS:
        terms = frozenset(terms_of(words))
        if meant := terms & asked:
            same |= dict.fromkeys(terms, meant)
    return same
