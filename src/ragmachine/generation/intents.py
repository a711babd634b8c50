"""What kind of value a question asks for, and which units hold one."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Intent:
    """A kind of question.

    Attributes:
        asked: matches questions of this kind.
        held: matches units that hold such a value.
        bonus: added to their score, which is 1 when every asked term is there.
    """

    asked: re.Pattern[str]
    held: re.Pattern[str]
    bonus: float

    def holds(self, text: str) -> bool:
        """Whether the unit holds a value of this kind."""
        return self.held.search(text) is not None


def _intent(asked: str, held: str, bonus: float) -> Intent:
    return Intent(re.compile(asked, re.IGNORECASE), re.compile(held, re.MULTILINE), bonus)


_INTENTS = (
    _intent(r"\bdefaults?\b|\binitial", r"(?i:default)|\w\s*(?::[^=\n]+)?=\s*[^=\s]|\bor\s+[\w\"'\[{]", 0.2),
    _intent(
        r"\bhow (?:many|much|long|often|large|big)\b|\b(?:minimum|maximum|min|max|number|version|size|limit|port"
        r"|percent\w*|ratio|threshold|value|range)\b",
        r"(?<![\w.])-?\d", 0.15,
    ),
    _intent(r"\b(?:error|exception|raises?|raised|fails?|assert\w*|invalid)\b", r"\braise\b|\bthrow\b|\bassert|TORCH_CHECK|Error\b|Exception\b", 0.2),
    _intent(r"\breturn(?:s|ed)?\b|\boutputs?\b", r"\breturns?\b|->|\byield\b|(?i:returns?:)", 0.15),
    _intent(
        r"\b(?:flag|option|argument|parameter|environment variable|env var|setting)s?\b",
        r"--[a-z]|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|`\w+`|\w+=", 0.1,
    ),
    _intent(r"\b(?:command|install|build|run|start|launch|how (?:do|can|to|should))\b",
            r"^\s*(?:\$ )?(?:pip|uv|python3?|docker|git|curl|export|vllm|cmake|make|conda|sudo|apt|npm|cargo|go) |```|\bimport\b|--[a-z]", 0.15),
    _intent(r"\b(?:where|path|url|endpoint|directory|folder|file|link)\b", r"https?://|/\w+/|\w/\w|\.(?:py|md|json|yaml|txt|sh)\b|\]\(", 0.1),
    _intent(r"\b(?:when|condition|determines?|what happens|if|whether|prevents?)\b",
            r"^\s*(?:\}?\s*el)?(?:se )?if\b|\b(?:[Ii]f|[Ww]hen|unless|otherwise)\b|\belse\b|\bassert\b", 0.1),
    _intent(r"\b(?:why|reason|purpose)\b", r"\b(?:because|since|so that|in order to|to avoid|due to|as a result|therefore)\b", 0.1),
    _intent(r"\b(?:types?|dtypes?|class)\b", r"\w\s*:\s*[A-Z\w\[]+|->|dtype", 0.05),
    _intent(r"\b(?:supported|available|possible|which|what) (?:\w+ )?(?:\w+s)\b|\blist\b", r"\n\s*[-*] |,\s.*,|\[.*,|\|", 0.05),
)


def read_intents(question: str) -> list[Intent]:
    """The kinds that a question is of, often more than one."""
    return [intent for intent in _INTENTS if intent.asked.search(question)]
