"""Which words of the question before a fragment replaces: those of the same kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .phrases import Phrase, noun_phrases
from .words import CIRCUMSTANCES, Token, tokenize

_CODE = re.compile(r"([A-Za-z]+-?)(\d+)")
_VERSION = re.compile(r"^v?\d+(?:\.\d+)+$")


def counterpart(asked: Phrase, preposition: str, tokens: Sequence[Token]) -> Phrase | None:
    """What in the question before is of the same kind as what was asked for."""
    found = [phrase for phrase in noun_phrases(tokens) if not phrase.is_asked]
    best: tuple[int, Phrase] | None = None
    for phrase in found:
        score = _likeness(asked, preposition, phrase)
        if score > 0 and (best is None or score >= best[0]):
            best = (score, phrase)
    return best[1] if best else None


def _likeness(asked: Phrase, preposition: str, phrase: Phrase) -> int:
    """How much two phrases are of one kind; 0 where one cannot take the other's place."""
    score = 4 * (_kind(asked) == _kind(phrase)) + 4 * bool(heads(asked) & heads(phrase))
    if preposition and preposition == phrase.preposition:
        score += 3
    elif preposition in CIRCUMSTANCES and not score:
        return 0
    elif preposition in CIRCUMSTANCES and preposition != "by":
        return 0 if phrase.preposition not in CIRCUMSTANCES else score
    if _is_bare_word(asked) and _kind(phrase) in ("identifier", "flag"):
        return score + 1  # "and rollback?"
    if (
        asked.has_name != phrase.has_name
        and not score
        and not (asked.has_determiner and phrase.has_determiner)
    ):
        return 0
    if phrase.is_attribute and not phrase.has_name:
        is_meant = bool(heads(asked) & heads(phrase)) or preposition == phrase.preposition != ""
        return score if is_meant else 0
    return score + 1 + (asked.has_name == phrase.has_name)


def _is_bare_word(phrase: Phrase) -> bool:
    return len(phrase.words) == 1 and not phrase.has_determiner and not phrase.has_name


def heads(phrase: Phrase) -> set[str]:
    """Words that name the kind of thing: "Limpet" of "Limpet 3", "sensor" of "Delta Sensor"."""
    words = [token.text.lower() for token in phrase.words if token.text.isalpha()]
    return {words[-1]} if words else set()


def _kind(phrase: Phrase) -> str:
    """What a name looks like: the shape of its most peculiar word; "plain" for no name."""
    names = [token for token in phrase.words if token.is_name]
    if not names:
        return "plain"
    shapes = [_shape(token) for token in names]
    return next((shape for shape in shapes if shape not in ("number", "word")), shapes[0])


def _shape(token: Token) -> str:
    text = token.text
    if token.is_quoted:
        return _shape(tokenize(text[1:-1])[0]) if tokenize(text[1:-1]) else "quoted"
    for name, pattern in (
        ("version", _VERSION.pattern), ("number", r"\d+$"), ("flag", r"--?[A-Za-z]"),
        ("path", r".*/"), ("identifier", r".*(_|\w\.\w|\(\)|[a-z][A-Z])"),
        ("code", r"(?=.*\d)[\w-]+$"),
    ):  # fmt: skip
        if re.match(pattern, text):
            return name
    return "word"


def replaced(target: Phrase, asked: Phrase, body: str, previous: str) -> str:
    """The question before with one phrase in place of another."""
    tokens = target.tokens
    start, end = tokens[target.first].start, tokens[target.last].end
    new = body
    if not asked.has_determiner:
        place = _names_of(target) if asked.has_name else None
        start = tokens[place[0] if place else target.core].start
        end = tokens[place[1] if place else target.last].end
        code = _CODE.fullmatch(previous[start:end])
        if code and asked.words[-1].is_number and len(code[2]) == len(body):  # E-31, "and 32?"
            new = f"{code[1]}{body}"
    return f"{previous[:start]}{new}{previous[end:]}"


def _names_of(phrase: Phrase) -> tuple[int, int] | None:
    """Positions of the first and last of the names in a phrase, where they stand together."""
    names = [place for place in range(phrase.core, phrase.last + 1) if phrase.tokens[place].is_name]
    return (names[0], names[-1]) if names and names[-1] - names[0] == len(names) - 1 else None
