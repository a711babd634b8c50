"""Sources of the last answer, as a question names them: "the second one", "source 2", "[2]"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .phrases import noun_phrases
from .words import tokenize

_ORDINALS = {
    word: number
    for number, words in enumerate(
        ["first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th", "sixth 6th"]
    )
    for word in words.split()
} | {"last": -1}
_ORDINAL = re.compile(
    rf"\b(?:the )?({'|'.join(_ORDINALS)}) (?:one|source|passage|citation|file|page|result|hit)\b"
    r"|(?:\b(?:source|passage|citation|number) )?(\[\d{1,3}\])"
    r"|\b(?:source|passage|citation) (?:number )?(\d{1,3})\b(?![.\d])",
    re.IGNORECASE,
)


def with_sources(question: str, sources: Mapping[int, str]) -> str:
    """The question with the files of "the second source" or "[2]" in place of these words.

    Args:
        question: as asked.
        sources: paths of the last answer's sources by their numbers, in their order.
    Returns: the question, unchanged where there is no such source.
    """
    paths = list(sources.values())

    def named(match: re.Match[str]) -> str:
        ordinal, *numbers = match.groups()
        digits = next((number.strip("[]") for number in numbers if number), "")
        if digits:
            return sources.get(int(digits), match[0])
        number = _ORDINALS[ordinal.lower()]
        # "which of the two is the second one": the question says itself what it is one of
        if noun_phrases(tokenize(question[: match.start()])) or not -1 <= number < len(paths):
            return match[0]
        return paths[number] if paths else match[0]

    return _ORDINAL.sub(named, question)
