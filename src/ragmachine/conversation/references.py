"""Words of a question that point to something said before, and the question without them.

A pronoun counts only where nothing in its own question could be meant by it, and where it is not
the "it" of "is it possible to": a question wrongly changed is worse than one left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .phrases import ATTRIBUTES, EMPTY, Phrase, noun_phrases
from .words import (
    AUXILIARY,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    DO,
    MODAL,
    PREPOSITIONS,
    REQUESTS,
    SUBJECTS,
    Token,
)

_SINGULAR = frozenset(["it", "this", "that"])
_PLURAL = frozenset(["they", "them", "these", "those"])
_POSSESSIVE = frozenset(["its", "their"])
_DEMONSTRATIVE = frozenset(["this", "that", "these", "those"])
_EXPLETIVE_VERBS = frozenset("cost costs take takes help helps hurt matter matters make".split())
_EXPLETIVE_ADJECTIVES = frozenset(
    """
    advisable bad best better common correct dangerous difficult easy enough expensive faster fine
    good hard harmful important impossible legal likely necessary needed normal ok okay permitted
    possible recommended required right safe sensible slow true useful wise worth wrong
    """.split()
)
_NAMING = frozenset("call calls hate like mean".split())  # "what do you call it when"
_SAYING = frozenset("claim claims confirm confirms decide decides know says said say".split())
# What "this" before one of these means lies outside of the conversation.
_HERE = frozenset(
    """
    book case code corpus day documentation documents file folder library machine manual month
    package page place point product program project purpose question reason release repo
    repository software system team time tool version way week year
    """.split()
)
_MOST_WORDS = 5  # content words before a pronoun that points out of the question


@dataclass(frozen=True, slots=True)
class Reference:
    """Words that point back.

    Attributes:
        start, end: their place in the question, in characters.
        is_plural: whether several things, or one, are meant.
        owned: what belongs to it, in "its default value"; else "".
        noun: what it is called, in "that setting"; else "".
        is_deed: whether what is done, or said, is meant: "how do I do that".
    """

    start: int
    end: int
    is_plural: bool
    owned: str = ""
    noun: str = ""
    is_deed: bool = False


def references(question: str, tokens: Sequence[Token]) -> list[Reference]:
    """Pronouns that nothing in the question explains, in order; see this module."""
    found: list[Reference] = []
    for place, token in enumerate(tokens):
        reference = _reference_at(question, tokens, place)
        if reference is None or _is_bound(tokens, place):
            continue
        if token.low == "it" and _is_expletive(tokens, place):
            continue
        found.append(reference)
    things = [one for one in found if not one.is_deed]
    return things or found


def _reference_at(question: str, tokens: Sequence[Token], place: int) -> Reference | None:
    """What a word may point back with, whether or not it does."""
    token = tokens[place]
    low, is_plural = token.low, token.low in _PLURAL or token.low == "their"
    following = tokens[place + 1] if place + 1 < len(tokens) and not token.ends_phrase else None
    if low in _POSSESSIVE:
        last = _owned(tokens, place)
        if last == place:
            return None
        owned = question[tokens[place + 1].start : tokens[last].end]
        return Reference(token.start, tokens[last].end, is_plural, owned=owned)
    if low in _DEMONSTRATIVE:
        if following and following.low in ("one", "ones"):
            return Reference(token.start, following.end, is_plural)
        noun = _noun(tokens, place)
        if noun == place:
            if not _is_pronoun(tokens, place):
                return None
            is_deed = _is_deed(tokens, place)
            return Reference(token.start, token.end, is_plural, is_deed=is_deed)
        text = question[tokens[place + 1].start : tokens[noun].end]
        if noun < 0 or tokens[noun].low in _HERE:
            return None
        return Reference(token.start, tokens[noun].end, is_plural, noun=text)
    if low in ("it", "they", "them"):
        is_deed = low == "it" and _is_deed(tokens, place)
        return Reference(token.start, token.end, is_plural, is_deed=is_deed)
    return None


def _is_deed(tokens: Sequence[Token], place: int) -> bool:
    """Whether a pronoun means what is done or said rather than a thing."""
    before = tokens[place - 1].low if place else ""
    if before in _SAYING:
        return True
    return (
        before in ("do", "doing")
        and place > 1
        and (tokens[place - 2].low in SUBJECTS | {"to", "it", "they"} or before == "doing")
    )


def _owned(tokens: Sequence[Token], place: int) -> int:
    """Position of the last word of what is possessed: up to two words, the verb left out."""
    last = place
    for token in tokens[place + 1 : place + 4]:
        if not token.is_content:
            break
        last += 1
        if token.ends_phrase:
            break
    is_subject = place > 0 and tokens[place - 1].low in DO | MODAL | BE
    is_whole = place > 1 and tokens[place - 2].low in ("what", "which", "who")
    return last - 1 if is_subject and not is_whole and last > place + 1 else last


def _noun(tokens: Sequence[Token], place: int) -> int:
    """Position of the noun of "that setting"; `place` where there is none, -1 where it is unclear.

    "that" is no demonstrative in "the probe that fails" and "does it matter that pumps stop".
    """
    if tokens[place].ends_phrase or place + 1 == len(tokens) or not tokens[place + 1].is_content:
        return place
    before = tokens[place - 1].low if place else ""
    last = place + 1
    while last + 1 < len(tokens) and tokens[last + 1].is_content and not tokens[last].ends_phrase:
        last += 1
    length = last - place
    if before in DO | MODAL or (before in BE and not _asks_what(tokens, place)):
        if length > 1:
            return last - 1 if length < 4 else -1
        following = tokens[last + 1].low if last + 1 < len(tokens) else ""
        is_subject = before in BE and following in DETERMINERS | {"to"}  # "is this page the …"
        return -1 if is_subject else place
    is_ruled = before in PREPOSITIONS | BE or _is_verb(tokens, place - 1)
    if tokens[place].low == "that" and not is_ruled:
        return -1
    return last if length < 3 else -1


def _asks_what(tokens: Sequence[Token], place: int) -> bool:
    return place > 1 and tokens[place - 2].low in ("what", "which", "who")


def _is_verb(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word stands where "I", "to" or a request has its verb."""
    if place < 0 or not tokens[place].is_content:
        return False
    before = tokens[place - 1].low if place else ""
    return before in SUBJECTS | {"to", "what", "who"} or (place == 0 and tokens[0].low in REQUESTS)


def _is_pronoun(tokens: Sequence[Token], place: int) -> bool:
    """Whether "this" or "that" stands for a thing, and does not join two clauses."""
    token = tokens[place]
    before = tokens[place - 1].low if place else ""
    following = tokens[place + 1].low if place + 1 < len(tokens) else ""
    is_subject = before in AUXILIARY or (place == 0 and following in AUXILIARY)
    if token.low in ("those", "that") and following in ("who", "that", "which"):
        return False
    is_last = not following or token.ends_sentence
    ruled = following in PREPOSITIONS | CONJUNCTIONS | AUXILIARY and before in PREPOSITIONS
    return is_subject or is_last or ruled


def _is_bound(tokens: Sequence[Token], place: int) -> bool:
    """Whether something before a word, in the same question, may be what it means."""
    before = tokens[:place]
    if sum(token.is_content for token in before) > _MOST_WORDS:
        return True
    return any(not _is_attached(tokens, phrase, place) for phrase in noun_phrases(tokens)
               if phrase.first < place)  # fmt: skip


def _is_attached(tokens: Sequence[Token], phrase: Phrase, place: int) -> bool:
    """Whether a phrase cannot be what the word means: "the default of it", "a way to set it"."""
    if phrase.last >= place:  # the word itself was read as a part of it
        return True
    if phrase.has_name:
        return False
    between = tokens[phrase.last + 1 : place]
    if any(token.ends_phrase for token in tokens[phrase.last : place]):
        return False
    low = tokens[place].low
    joints = CONJUNCTIONS - {"than", "so"}
    is_joined = any(token.low in joints for token in between)
    if phrase.is_asked:  # "which release added it", "which errors does it raise"
        is_subject = tokens[place - 1].low in AUXILIARY
        is_object = low in _SINGULAR and not phrase.is_plural
        return not is_joined and (is_subject or is_object)
    is_empty = phrase.head in EMPTY | ATTRIBUTES
    if between and all(token.low in PREPOSITIONS for token in between):
        exists = tokens[0].low in BE and tokens[1].low == "there"
        return is_empty or exists or between[0].low == "of"
    return is_empty and not is_joined


def _is_expletive(tokens: Sequence[Token], place: int) -> bool:
    """Whether "it" only announces what comes: "does it cost much to …", "is it true that …"."""
    rest: list[str] = []
    for token in tokens[place + 1 :]:
        rest.append(token.low)
        if token.ends_sentence:
            break
    announced = [number for number, low in enumerate(rest) if low in ("to", "that", "if", "when",
                                                                      "for", "until")]  # fmt: skip
    if not announced or not rest:
        return False
    head = rest[: announced[0]]
    before = tokens[place - 1].low if place else ""
    if any(low in _EXPLETIVE_VERBS for low in head[:2]) or before in _NAMING:
        return True
    if before in BE and place > 1 and tokens[place - 2].low in _EXPLETIVE_ADJECTIVES:
        return True
    if before in BE or (head and head[0] in BE):
        is_participle = any(low.endswith("ed") and low not in _EXPLETIVE_ADJECTIVES for low in head)
        known = any(low in _EXPLETIVE_ADJECTIVES for low in head)
        return known or (not head and not is_participle)
    return False


def resolved(
    question: str, found: Sequence[Reference], topic_of: Callable[[bool], str], previous: str
) -> str:
    """The question with what its pronouns mean in their place.

    Args:
        question: as asked.
        found: see `references`.
        topic_of: what a plural, or a singular, means; "" where that is not plain.
        previous: the question before, to see whether "that setting" was in it.
    Returns: the question, unchanged where a pronoun's meaning is not plain.
    """
    pieces, done = [], 0
    for reference in found:
        meant = "" if reference.is_deed else topic_of(reference.is_plural)
        if not meant:
            return question
        text = _put(reference, meant, previous)
        if text is None:
            return question
        pieces += [question[done : reference.start], text]
        done = reference.end
    return "".join([*pieces, question[done:]])


def _put(reference: Reference, meant: str, previous: str) -> str | None:
    if reference.owned:
        return f"the {reference.owned} of {meant}"
    if not reference.noun:
        return meant
    noun = reference.noun.lower()
    if noun.split()[-1] in meant.lower().split():
        return meant
    if noun.split()[-1] in previous.lower().split() or noun in _KINDS:
        bare = re.sub(r"^(?:the|an?) ", "", meant, flags=re.IGNORECASE)
        return f"the {reference.noun} {bare}"
    return None


# What things are called in general.
_KINDS = frozenset(
    """
    api argument class command config device endpoint error exception field file flag function key
    message method model module operator option parameter part probe sensor service setting status
    step table tool type value variable warning
    """.split()
)
