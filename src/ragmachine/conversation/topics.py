"""What a question is about, so that a pronoun in the next one can mean it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .phrases import EMPTY, Phrase, noun_phrases
from .words import ASKING, BE, DO, HAVE, MODAL, Token


@dataclass(frozen=True, slots=True)
class Chain:
    """Phrases joined by "of": the price of the pump of the tank."""

    phrases: tuple[Phrase, ...]

    @property
    def thing(self) -> tuple[Phrase, Phrase]:
        """First and last phrase of what it is about: the pump, of its price."""
        start = 0
        while start + 1 < len(self.phrases) and self.phrases[start].is_attribute:
            start += 1
        return self.phrases[start], self.phrases[-1]


def chains(phrases: Sequence[Phrase]) -> Iterator[Chain]:
    """Phrases joined by "of", alone otherwise; in order."""
    joined: list[Phrase] = []
    for phrase in phrases:
        is_joined = joined and phrase.preposition == "of" and phrase.first == joined[-1].last + 2
        if joined and not is_joined:
            yield Chain(tuple(joined))
            joined = []
        joined.append(phrase)
    if joined:
        yield Chain(tuple(joined))


def topic(question: str, tokens: Sequence[Token], *, is_plural: bool = False) -> str:
    """What a pronoun in the next question would mean, as written; "" where nothing is plain.

    Args:
        question: one that stands alone.
        tokens: its words.
        is_plural: whether the pronoun is.
    """
    phrases = noun_phrases(tokens)
    if phrases and _is_wanted(tokens, phrases[0]) and phrases[0].is_plural == is_plural:
        return ""  # "which key sets it?": what is meant next is the answer
    found = [chain for chain in chains(phrases) if not _is_unfit(chain)]
    spans = [chain.thing for chain in found]
    if is_plural:
        both = _both(tokens, spans)
        if both:
            return question[both[0] : both[1]]
        spans = [span for span in spans if span[0].is_plural] or spans
    else:
        spans = [span for span in spans if not span[0].is_plural or span[0].has_name] or spans
    behind = [span for span in spans if not _is_fronted(tokens, span[0])]
    chosen = (behind or spans)[:1]
    if not chosen:
        return ""
    first, last = chosen[0]
    return question[tokens[first.first].start : tokens[last.last].end]


def _is_unfit(chain: Chain) -> bool:
    first, _ = chain.thing
    return first.is_asked or (first.head in EMPTY and not first.has_name)


def _is_wanted(tokens: Sequence[Token], phrase: Phrase) -> bool:
    """Whether a phrase with "which" is the subject of what is asked."""
    if not phrase.is_asked or phrase.last + 1 == len(tokens):
        return False
    return not any(
        token.low in BE | DO | HAVE | MODAL for token in tokens[phrase.last + 1 : phrase.last + 3]
    )


def _is_fronted(tokens: Sequence[Token], phrase: Phrase) -> bool:
    """Whether it stands before what is asked: "In NumPy 2.0, what …"."""
    rest = tokens[phrase.last + 1 :]
    return bool(phrase.preposition) and any(token.low in ASKING for token in rest)


def _both(
    tokens: Sequence[Token], spans: Sequence[tuple[Phrase, Phrase]]
) -> tuple[int, int] | None:
    """Start and end of two phrases joined by "and"."""
    for (first, one), (two, last) in pairwise(spans):
        if two.first == one.last + 2 and tokens[one.last + 1].low == "and":
            return tokens[first.first].start, tokens[last.last].end
    return None


def topic_chain(question: str, tokens: Sequence[Token]) -> str:
    """The first thing that a question is about, what it is of included; "" without one."""
    for chain in chains(noun_phrases(tokens)):
        first, last = chain.phrases[0], chain.phrases[-1]
        if not first.is_asked:
            return question[tokens[first.first].start : tokens[last.last].end]
    return ""
