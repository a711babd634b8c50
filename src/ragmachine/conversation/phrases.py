"""The noun phrases of a question, as far as function words and capitals show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmachine.generation.phrasing import is_participle

from .words import (
    BE,
    DETERMINERS,
    DO,
    HAVE,
    MODAL,
    PREPOSITIONS,
    REQUESTS,
    SUBJECTS,
    SUBORDINATING,
    Token,
)

# What a thing has: "the price of the pump" is about the pump.
ATTRIBUTES = frozenset(
    """
    accuracy address age arguments capacity cause colour color consequence cost count default depth
    difference duration effect format frequency height interval length lifetime limit lowest highest
    mass max maximum meaning min minimum name number options order parameters period precision price
    purpose range reason shape signature size speed state status syntax temperature thickness
    tolerance type unit units value values version voltage warranty weight width
    """.split()
)
# Nouns that stand for nothing that "it" could mean.
EMPTY = frozenset(
    """
    advance case chance code default docs documentation end example examples fact general hand idea
    kind method need order place point possibility practice problem reason sort start step steps
    thing time times top trick use way ways
    """.split()
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase.

    Attributes:
        tokens: those of the question.
        first, last: positions of its first and last word, the determiner included.
        core: position of the first word behind the determiner.
        preposition: the word before it, where that is one, else "".
        is_asked: whether "which" or "what" stands before it.
    """

    tokens: Sequence[Token]
    first: int
    last: int
    core: int
    preposition: str = ""
    is_asked: bool = False

    @property
    def words(self) -> Sequence[Token]:
        """Its words without the determiner."""
        return self.tokens[self.core : self.last + 1]

    @property
    def has_determiner(self) -> bool:
        """Whether "the", "a" or the like begins it."""
        return self.core > self.first

    @property
    def has_name(self) -> bool:
        """Whether one of its words is a name."""
        return any(token.is_name for token in self.words)

    @property
    def head(self) -> str:
        """Its last word that is no number, in lower case: what kind of thing it is."""
        plain = [token.low for token in self.words if not token.is_number and not token.is_quoted]
        return plain[-1] if plain else self.words[-1].text.lower()

    @property
    def is_attribute(self) -> bool:
        """Whether it is what something else has: a price, a default."""
        return self.head in ATTRIBUTES

    @property
    def is_plural(self) -> bool:
        """Whether its head ends like a plural."""
        head = self.head
        return head.endswith("s") and not head.endswith(("ss", "us", "is")) and len(head) > 3


def noun_phrases(tokens: Sequence[Token]) -> list[Phrase]:
    """Noun phrases in order: behind determiners, names, and bare nouns where a noun must stand."""
    found: list[Phrase] = []
    place = 0
    while place < len(tokens):
        phrase = _phrase_at(tokens, place)
        if phrase:
            found.append(phrase)
            place = phrase.last + 1
        else:
            place += 1
    return found


def _phrase_at(tokens: Sequence[Token], place: int) -> Phrase | None:
    token, before = tokens[place], tokens[place - 1].low if place else ""
    if place and tokens[place - 1].ends_phrase:
        before = ""
    preposition = before if before in PREPOSITIONS else ""
    core = place + 1
    if token.low in DETERMINERS and not token.ends_phrase and core < len(tokens):
        last = _run(tokens, core)
        if last >= core:
            last = _without_predicate(tokens, place, core, last)
            return Phrase(tokens, place, last, core, preposition)
    if not token.is_content:
        return None
    if _is_asked(tokens, place, before):
        return Phrase(tokens, place, place, place, preposition, is_asked=True)
    if _is_noun(tokens, place, before) or _is_object(tokens, place):
        last = _without_predicate(tokens, place, place, _run(tokens, place))
        return Phrase(tokens, place, last, place, preposition)
    if token.is_name:
        last = place
        while not tokens[last].ends_phrase and last + 1 < len(tokens) and tokens[last + 1].is_name:
            last += 1
        return Phrase(tokens, place, last, place, preposition)
    if token.is_first and token.low not in REQUESTS:  # words without a sentence
        return Phrase(tokens, place, _run(tokens, place), place)
    return None


def _is_asked(tokens: Sequence[Token], place: int, before: str) -> bool:
    """Whether a word says what kind of thing is asked for: "which pump", not "what happens"."""
    if before in ("which", "whose") or (before == "many" and place > 1):
        return True
    if before != "what":
        return False
    rest = [token.low for token in tokens[place + 1 : place + 3]]
    return rest[:1] == ["of"] or any(low in BE | DO | HAVE | MODAL for low in rest)


def _is_noun(tokens: Sequence[Token], place: int, before: str) -> bool:
    """Whether a word behind another must be a noun: "does water …", not "are invalid", "to run"."""
    if before in BE | HAVE:
        return place < 2 or not tokens[place - 2].is_content
    if before == "to":
        return tokens[place].is_name
    return before in DO | MODAL | PREPOSITIONS | SUBORDINATING


def _is_object(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word stands behind "I", "to" or a request, and a verb."""
    if place < 2 or tokens[place - 1].ends_phrase or not tokens[place - 1].is_content:
        return False
    return tokens[place - 2].low in SUBJECTS or tokens[place - 2].low == "to"


def _run(tokens: Sequence[Token], place: int) -> int:
    """Position of the last content word from a place on, before punctuation; `place` - 1: none."""
    last = place - 1
    while last + 1 < len(tokens) and tokens[last + 1].is_content:
        last += 1
        if tokens[last].ends_phrase:
            break
    return last


def _without_predicate(tokens: Sequence[Token], first: int, core: int, last: int) -> int:
    """Where the subject of an auxiliary ends: "is the cap made", "does the pump start"."""
    if last == core or not first:
        return last
    if tokens[first - 1].low in DO | MODAL:
        return _subject_end(tokens, first, core, last)
    if tokens[last].is_name:
        return last
    has_being = any(token.low in BE | HAVE for token in tokens[:first])
    if has_being and is_participle(tokens[last].low):
        return last - 1
    before = tokens[first - 1].low
    if before == "of" and last + 1 == len(tokens) and tokens[last - 1].is_number:
        verbs = DO | MODAL  # "how does the fuse of the Winkle 8 fail"
        return last - 1 if any(token.low in verbs for token in tokens[:first]) else last
    if before in BE | HAVE:
        is_closed = first == 1 or tokens[first - 1].is_first
        return last - 1 if is_closed else last
    if before in SUBORDINATING:
        return last - 1
    return last


def _subject_end(tokens: Sequence[Token], first: int, core: int, last: int) -> int:
    """Where the subject of "does" or "can" ends: its verb, and what that rules, are left out."""
    following = tokens[last + 1].low if last + 1 < len(tokens) else ""
    if following in DO and not tokens[last].ends_phrase:  # "what does the class Ledger do"
        return last
    names = core
    while names <= last and tokens[names].is_name:
        names += 1
    # "the KV cache", and "which rates does the Strand bus take", where the verb rules nothing more
    is_compound = first < core and (tokens[core].text.isupper() or not tokens[first - 1].is_first)
    is_compound = is_compound and not tokens[names - 1].is_number
    if names > core and not is_compound:
        return names - 1
    while last > core and tokens[last].is_name:
        last -= 1
    return max(last - 1, core)
