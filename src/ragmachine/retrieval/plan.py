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
_BETWEEN = re.compile(
    r"^(?P<what>.*?\bdifferences?)\s+between\s+(?:the\s+)?(?P<first>[^,;?]{2,80}?)\s+and\s+"
    r"(?:the\s+)?(?P<second>[^,;?]{2,80}?)(?P<tail>\s+(?:in|for|when|of)\s+[^?]*)?\s*\??$",
    re.IGNORECASE,
)


def decompose(query: str) -> tuple[str, ...]:
    """Sub-queries of a question in its order; the question alone when it has one part.

    "Compare the warranty of X and Y" gives "warranty of X", "warranty of Y"; "A? B?" and "A; B"
    give their parts; "what is X and how does Y …" is cut where the second question begins.
    """
    text = " ".join(query.split())
    between = _BETWEEN.match(text)
    if between:
        tail = between["tail"] or ""
        return (f"{between['first']}{tail}", f"{between['second']}{tail}")
    each = _OF_EACH.match(text)
    if each and each["lead"]:
        return tuple(f"{each['what']} {each['link']} {each[side]}" for side in ("first", "second"))
    parts = [part.strip(" ,;?") for part in _SPLIT.split(text)]
    parts = [part for part in parts if len(part.split()) >= _MIN_WORDS]
    if len(parts) < 2:
        return (query,)
    if len(parts) > MAX_PARTS:
        parts = [*parts[: MAX_PARTS - 1], " ".join(parts[MAX_PARTS - 1 :])]
    return tuple(parts)
