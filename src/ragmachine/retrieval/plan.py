"""Questions of several parts, cut by rules into at most three sub-queries."""

from __future__ import annotations

import re

MAX_PARTS = 3
_MIN_WORDS = 2
_SPLIT = re.compile(
    r"\?\s+(?=\S)|;\s+|\s*,?\s+and\s+(?=(?:what|which|how|why|where|when|who|does|is|are|can)\b)",
    re.IGNORECASE,
)
_OF_EACH = re.compile(
    r"^(?P<lead>(?:compare|contrast)\s+)?(?:the\s+)?(?P<what>[\w\s-]{3,60}?)\s+(?P<link>of|for|in|on|with)\s+"
    r"(?:the\s+)?(?P<first>[^,;?]{2,60}?)\s+(?:and|vs\.?|versus|or)\s+(?:the\s+)?(?P<second>[^,;?]{2,60}?)\s*\??$",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"^(?:which|what)(?:\s+one|\s+of\s+(?:them|the\s+two))?\s+"
    r"(?P<verb>has|is|gives|offers|needs|takes|uses)\s+"
    r"(?:the\s+|an?\s+)?(?P<what>[\w\s-]{3,60}?)\s*[,:]\s*(?:the\s+)?(?P<first>[^,;?]{2,60}?)\s+or\s+"
    r"(?:the\s+)?(?P<second>[^,;?]{2,60}?)\s*\??$",
    re.IGNORECASE,
)
_COMPARATIVE = re.compile(
    r"(?:more|less|fewer|greater|better|worse|longer|shorter|higher|lower|larger|bigger|smaller|faster"
    r"|slower|wider|deeper|heavier|lighter|stronger|cheaper)\b",
    re.IGNORECASE,
)
_DEGREE = re.compile(rf"^{_COMPARATIVE.pattern}\s+(?=\w)", re.IGNORECASE)
_BETWEEN = re.compile(
    r"^.*?\bdifferences?(?:\s+in\s+(?:the\s+)?(?P<property>[\w\s-]{3,60}?))?\s+between\s+(?:the\s+)?(?P<first>[^,;?]{2,80}?)\s+and\s+"
    r"(?:the\s+)?(?P<second>[^,;?]{2,80}?)(?P<tail>\s+(?:in|for|when|of)\s+[^?]*)?\s*\??$",
    re.IGNORECASE,
)


def decompose(query: str) -> tuple[str, ...]:
    """Sub-queries of a question in its order; the question alone when it has one part.

    "Compare the warranty of X and Y" gives "warranty of X", "warranty of Y"; "A? B?" and "A; B"
    give their parts; "what is X and how does Y …" is cut where the second question begins.
    """
    text = " ".join(query.split())
    sides = compared(text)
    if sides:
        return sides
    between = _BETWEEN.match(text)
    if between:
        tail = between["tail"] or ""
        return (f"{between['first']}{tail}", f"{between['second']}{tail}")
    parts = [part.strip(" ,;?") for part in _SPLIT.split(text)]
    parts = [part for part in parts if len(part.split()) >= _MIN_WORDS]
    if len(parts) < 2:
        return (query,)
    if len(parts) > MAX_PARTS:
        parts = [*parts[: MAX_PARTS - 1], " ".join(parts[MAX_PARTS - 1 :])]
    return tuple(parts)


def compared(query: str) -> tuple[str, ...]:
    """What a comparison asks of either side, in its order; nothing for another question.

    "Which has the longer warranty, X or Y?" gives "warranty of X", "warranty of Y"; so do "compare
    the warranty of X and Y" and "the difference in warranty between X and Y". "The difference
    between X and Y" names nothing that is asked of both: the passage that has it holds both.
    """
    text = " ".join(query.split())
    sides = ("first", "second")
    which = _WHICH.match(text)
    if which and (which["verb"].lower() != "is" or _COMPARATIVE.match(which["what"])):
        asked = _DEGREE.sub("", which["what"])
        return tuple(f"{asked} of {which[side]}" for side in sides)
    between = _BETWEEN.match(text)
    if between and between["property"]:
        tail = between["tail"] or ""
        return tuple(f"{between['property']} of {between[side]}{tail}" for side in sides)
    each = _OF_EACH.match(text)
    if each and each["lead"]:
        return tuple(f"{each['what']} {each['link']} {each[side]}" for side in sides)
    return ()
