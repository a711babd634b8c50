"""What two questions must share before one answer may serve both.

A vector says that two questions are about the same thing; it hardly sees a number, a name or a
"not". Here every word counts, unless it only asks or joins: a word of one question that has no
counterpart in the other keeps them apart, however common it is. The lists are general English.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .phrasing import (
    ASKING,
    AUXILIARY,
    BEFORE_VERB,
    BEING,
    ENGLISH,
    GLUE,
    NOT,
    NUMBERS,
    PERSONS,
    ROLES,
    forms,
    is_participle,
    rewrite,
)

_MAX_CHARS = 500  # nobody asks the same in other words at such length
_MANNER = frozenset(["can", "could", "may", "might", "should"])
_TOKEN = re.compile(
    r"[(\[{]+(?=[\"`“'])"
    r"|(?:`(?P<code>[^`\n]+)`|\"(?P<double>[^\"\n]+)\"|“(?P<curly>[^”\n]+)”"
    r"|(?<!\w)'(?P<single>[^'\n]+)'(?!\w))(?:'s\b)?(?P<after>[.,;:?!)\]}]*)"
    r"|(?P<word>\S+)"
)
_OPENING = "([{\"'“‘«¿¡,;"
_CLOSING = re.compile(r"(?:[)\]}”’»,;:.?!…]|(?<!\d)[\"'])+$")  # 5' and 5" are feet and inches
_BREAKS = ",;:.?!"
_GOES_ON = re.compile(r"\s+[a-z]")
_POSSESSIVE = re.compile(r"(?<=\w)'(?:s|re|ve|ll|d|m)?$")
_LETTERS = re.compile(r"[^\W\d_](?:[^\W\d_]|['-])*")


@dataclass(frozen=True, slots=True)
class Word:
    """A word that counts.

    Attributes:
        text: in lower case.
        literal: as written, where capitals count: paths, options, quotations, names with more than
            letters in them, and numbers, with the preposition before them; else "".
        forms: its uninflected forms and its lines of words alike; empty for a name.
        place: position among the question's tokens, from 0.
        phrase: number of the phrase it stands in; prepositions and punctuation begin one.
        role: what the preposition before its phrase makes of it, see `ROLES`.
        is_object: whether there is such a preposition.
    """

    text: str
    literal: str
    forms: frozenset[str]
    place: int
    phrase: int
    role: str
    is_object: bool

    def matches(self, other: Word) -> bool:
        """Whether both mean the same: names letter by letter, other words in any inflection."""
        if self.text == other.text:
            return not (self.literal and other.literal) or self.literal == other.literal
        return not self.forms.isdisjoint(other.forms)


@dataclass(frozen=True, slots=True)
class Anchors:
    """What must not differ.

    Attributes:
        key: the question with blanks, case and outer punctuation folded, names as written.
        words: the words that count, in order.
        is_closed: whether it is answered by yes or no.
        is_passive: whether a form of "be" is in it.
        persons: who acts: "i", "you", "they". It is all the same how I do it and how you do.
    """

    key: str
    words: tuple[Word, ...]
    is_closed: bool
    is_passive: bool
    persons: frozenset[str]


def difference(left: Anchors, right: Anchors) -> str:
    """The kind of thing that keeps two questions apart.

    Returns: ``names`` (also numbers, quotations and negations), ``words`` (one has no counterpart),
        ``question`` (one asks whether and the other what), ``order`` (the same words in other
        roles), or "" where one answer may serve both.
    """
    if left.key == right.key:
        return "" if left.key else "words"
    names = {word.text for word in (*left.words, *right.words) if not word.forms}
    ours, theirs = ([w for w in side.words if w.text in names] for side in (left, right))
    if len(ours) != len(theirs) or not all(map(Word.matches, ours, theirs)):
        return "names"
    pairs = list(zip(ours, theirs, strict=True))
    free = [word for word in right.words if word.text not in names]
    for one in (word for word in left.words if word.text not in names):
        two = next(filter(one.matches, free), None)
        if two is None:
            return "words"
        free.remove(two)
        pairs.append((one, two))
    if free:
        return "words"
    if left.is_closed != right.is_closed or not _have_same_persons(left, right):
        return "question"
    return "order" if _has_swap(pairs) or _is_turned(left, right, pairs) else ""


def _is_turned(left: Anchors, right: Anchors, pairs: Sequence[tuple[Word, Word]]) -> bool:
    """Whether one says that something does what the other says is done to it.

    Where a person does it, or it is asked how, the passive says the same as the active.
    """
    if left.is_passive == right.is_passive:
        return False
    active = right if left.is_passive else left
    is_by_person = bool(active.persons) or any("=way" in word.forms for word in active.words)
    return not is_by_person and any(is_participle(word.text) for pair in pairs for word in pair)


def _have_same_persons(left: Anchors, right: Anchors) -> bool:
    """Whether the same persons act, or one says in the passive what the other's person does."""
    if left.persons and right.persons:
        return left.persons == right.persons
    other = right if left.persons else left
    return left.persons == right.persons or other.is_passive


def _has_swap(pairs: Sequence[tuple[Word, Word]]) -> bool:
    """Whether words changed roles or places, as from "int to float" to "float to int"."""
    for one, two in pairs:
        if one.role != two.role:
            return True
        for other, another in pairs:
            if one.phrase == other.phrase and two.phrase == another.phrase:
                if (one.place < other.place) != (two.place < another.place):
                    return True
            elif one.is_object == another.is_object != two.is_object == other.is_object:
                return True  # the fuse of the pump, the pump of the fuse
    return False


def read_anchors(question: str) -> Anchors:
    """Take a question apart.

    Args:
        question: in English; in another language every word counts as it is written, and of more
            than 500 characters so does the whole.
    """
    text = " ".join(unicodedata.normalize("NFC", question).replace("’", "'").split())
    if len(text) > _MAX_CHARS:
        only = Word(text, text, frozenset(), 0, 0, "", False)
        return Anchors(text, (only,), False, False, frozenset())
    return _read(text)


@lru_cache(maxsize=1 << 12)
def _read(text: str) -> Anchors:
    if not any(map(str.islower, text)):  # shouted
        text = re.sub(r"\b[^\W\d_]+\b(?![-_.\d])", lambda match: match[0].lower(), text)
    key = " ".join(
        token if is_literal or not _LETTERS.fullmatch(token) else token.lower()
        for token, is_literal, _ in _tokens(text)
    )
    tokens = list(_tokens(rewrite(text)))
    lows = {token.lower() for token, _, _ in tokens}
    persons = {PERSONS[one] for one in PERSONS if one in lows}
    return Anchors(
        key,
        tuple(_words(tokens)),
        is_closed=_is_closed(tokens),
        is_passive=not BEING.isdisjoint(lows),
        persons=frozenset(persons - {"i", "you"} if "how" in lows else persons),
    )


def _tokens(text: str) -> Iterator[tuple[str, bool, str]]:
    """Each token, whether it is quoted or called, and the punctuation after it."""
    for match in _TOKEN.finditer(text):
        quoted = match["code"] or match["double"] or match["curly"] or match["single"]
        if quoted:
            *inner, last = quoted.split() or [quoted]
            yield from ((piece, True, "") for piece in inner)
            yield last.removesuffix("()") or last, True, match["after"]
        elif match["word"]:
            whole = match["word"]
            called = whole.replace("()", "").lstrip(_OPENING)
            bare = _CLOSING.sub("", called)
            if called[len(bare) :] in ("!", "?") and _GOES_ON.match(text, match.end()):
                yield called, True, ""  # save!
            elif bare:
                yield _POSSESSIVE.sub("", bare), "()" in whole, called[len(bare) :]
            elif match.end() < len(text):  # punctuation alone is what is asked about
                yield whole, True, ""


def _words(tokens: Sequence[tuple[str, bool, str]]) -> list[Word]:
    """The words that count."""
    found: list[Word] = []
    phrase, joint, is_start = 0, "", True
    lows = [token.lower() for token, _, _ in tokens]
    is_english = not ENGLISH.isdisjoint(lows)
    for place, (token, is_literal, after) in enumerate(tokens):
        low, at = lows[place], (place, phrase, ROLES.get(joint, ""), bool(joint))
        before = lows[place - 1] if place else ""
        if is_literal or _is_name(token, is_start=is_start):
            literal = token if is_literal or not _LETTERS.fullmatch(token) else ""
            found.append(Word(low, _bound(before, literal), frozenset(), *at))
        elif not is_english:
            found.append(Word(low, "", frozenset([low]), *at))
        elif low in NUMBERS:
            found.append(Word(NUMBERS[low], _bound(before, NUMBERS[low]), frozenset(), *at))
        elif _is_joining(lows, place):
            phrase, joint = phrase + 1, low
        elif _counts(lows, place):
            found.extend(Word(text, "", kinds, *at) for text, kinds in _counted(lows, place))
        if after and after[0] in _BREAKS:
            phrase, joint = phrase + 1, ""
        is_start = bool(after) and after[-1] in ".:?!"
    if any("=way" in word.forms for word in found):
        found = [word for word in found if word.text not in _MANNER]
    return found


def _is_joining(lows: Sequence[str], place: int) -> bool:
    """Whether a word begins a phrase; a "when" at the start asks, unless another word does."""
    low = lows[place]
    if low == "when" and place == 0:
        return not ASKING.isdisjoint(lows)
    is_loose = place + 1 == len(lows) or lows[place + 1] in ASKING
    return low in ROLES and not is_loose and not _is_infinitive(lows, place)


def _is_infinitive(lows: Sequence[str], place: int) -> bool:
    return lows[place] == "to" and (place == 0 or lows[place - 1] in BEFORE_VERB)


def _is_name(token: str, *, is_start: bool) -> bool:
    """Whether a token names something: a capital within, or at its head within a sentence."""
    if not _LETTERS.fullmatch(token):
        return True
    if token.rstrip("'") == "I":
        return False
    return any(map(str.isupper, token[1:])) or (token[0].isupper() and not is_start)


def _counts(lows: Sequence[str], place: int) -> bool:
    """Whether a word in lower case counts; "do" does as a verb of its own, "a" as a name.

    So does a preposition without what it stands before: "on which line?" is "which line on?".
    """
    low = lows[place]
    following = lows[place + 1] if place + 1 < len(lows) else ""
    if low in ("do", "does", "a"):
        is_last = not following or following in ROLES
        return place > 0 and (is_last or (low == "a" and following in AUXILIARY))
    return low not in GLUE and not _is_infinitive(lows, place)


def _counted(lows: Sequence[str], place: int) -> Iterator[tuple[str, frozenset[str]]]:
    """What a word in lower case counts as: a negation, itself, or both as in "can't"."""
    low = lows[place]
    base = {"cannot": "can", "can't": "can", "won't": "will"}.get(low, low.removesuffix("n't"))
    if base not in GLUE and base not in NOT:
        yield base, forms(base, lows, place)
    if low in NOT or low.endswith("n't"):
        yield "not", frozenset()


def _bound(before: str, literal: str) -> str:
    """A number with its preposition: "for 5 minutes" is not "in 5 minutes"; else as it is."""
    is_bound = literal[:1].isdigit() and before in ROLES and before != "of"
    return f"{before} {literal}" if is_bound else literal


def _is_closed(tokens: Sequence[tuple[str, bool, str]]) -> bool:
    """Whether a sentence begins as one that is answered by yes or no, and nothing asks what."""
    lows = [token.lower().removesuffix("n't") for token, _, _ in tokens]
    if not lows or not ASKING.isdisjoint(lows) or lows[0] == "when":
        return False
    ends = [place + 1 for place, (_, _, after) in enumerate(tokens) if after[-1:] in (*"?.!:",)]
    starts = [0, *ends]
    return any(lows[place] in AUXILIARY for place in starts if place < len(lows))
