"""Follow-up questions made to stand alone by rules, from what was asked before.

A question that stands alone comes back untouched; in doubt it is taken for one. The rules are
English; a question in another language hardly meets one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .fragments import beside, completed, is_fragment, opening
from .ordinals import with_sources
from .phrases import noun_phrases
from .references import references, resolved
from .topics import topic
from .words import BE, SUBORDINATING, tokenize

_MOST_CHARS = 300  # who writes more says what it is about
_LOOK_BACK = 3


def rewrite(question: str, earlier: Sequence[str], sources: Mapping[int, str] | None = None) -> str:
    """A question with what it takes from the conversation put into words.

    Args:
        question: as asked.
        earlier: questions before it, each standing alone, oldest first.
        sources: paths of the last answer's sources by number, for "the second one".
    Returns: the very same text where the question stands alone, or where nothing was asked before.
    """
    text = " ".join(question.split())
    if not text or len(text) > _MOST_CHARS:
        return question
    named = with_sources(text, sources or {})
    before = [" ".join(one.split()) for one in earlier if one.strip()]
    done = _from_questions(named, before) if before else named
    return question if done == text else done


def _from_questions(text: str, before: Sequence[str]) -> str:
    previous = before[-1]
    start = opening(text)
    if is_fragment(start):
        return completed(_with_topics(start.rest, before), previous)
    if not start.join:
        done = _with_topics(text, before)
        return f"{done[:1].upper()}{done[1:]}" if done != text else text
    rest = _with_topics(start.rest, before)
    if [token.low for token in tokenize(rest)[:1] if token.low in SUBORDINATING]:  # "and if …?"
        return beside(rest, previous)
    if rest == start.rest:
        rest = _of_topic(start.rest, previous)
    if rest == start.rest:
        is_open = start.rest.lower().rstrip("?.! ").endswith(" then")
        return beside(start.rest, previous) if is_open else text
    return f"{rest[:1].upper()}{rest[1:]}"


def _with_topics(text: str, before: Sequence[str]) -> str:
    """Pronouns replaced; where their meaning is not plain, the question before put beside."""
    tokens = tokenize(text)
    found = references(text, tokens)
    if not found:
        return text

    def meant(is_plural: bool) -> str:
        for one in before[: -_LOOK_BACK - 1 : -1]:
            about = topic(one, tokenize(one), is_plural=is_plural)
            if about:
                return about
        return ""

    done = resolved(text, found, meant, before[-1])
    is_plain = done != text or any(reference.noun for reference in found)
    done = done if is_plain else beside(text, before[-1])
    return f"{done[:1].upper()}{done[1:]}" if text[:1].isupper() else done


def _of_topic(text: str, previous: str) -> str:
    """Ask "and what is the maximum?" of what the question before was about."""
    tokens = tokenize(text)
    found = noun_phrases(tokens)
    if len(found) != 1 or not found[0].is_attribute or found[0].last != len(tokens) - 1:
        return text
    about = topic(previous, tokenize(previous))
    is_definite = tokens[found[0].first].low == "the" and tokens[found[0].first - 1].low in BE
    if not about or not is_definite:
        return text
    end = tokens[-1].end
    return f"{text[:end]} of {about}{text[end:]}"
