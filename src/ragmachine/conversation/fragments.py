"""Questions that lack a verb: "and of the Limpet 5?", "why?", "what about numpy?".

The question before lends its frame: its counterpart of what was asked for is replaced, or what was
asked for is added to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .counterparts import counterpart, heads, replaced
from .phrases import Phrase, noun_phrases
from .topics import topic, topic_chain
from .words import (
    ASKING,
    AUXILIARY,
    BE,
    CIRCUMSTANCES,
    DEGREES,
    PREPOSITIONS,
    SUBJECTS,
    Token,
    tokenize,
)

_MOST_WORDS = 8
_OPENER = re.compile(
    r"^(?:(?:ok|okay|thanks|thank you|great|right|fine|well|hm+|ah|oh)\b[,.!:;]*\s+)*"
    r"(?P<join>(?:(?:and|but|or|also)\b,?\s+)?(?:what|how) about\b"
    r"|(?:and\s+)?(?:the )?same(?: question)?(?=\s+(?:for|with|in|on)\b)"
    r"|(?:and|but|or|also|plus)\b),?\s+(?=\S)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[,\s]+(?:then|instead|too|as well|though|please)(?=[\s?.!]*$)|[\s?.!…]+$", re.IGNORECASE
)
_REASONS = frozenset(
    ["why", "how so", "how come", "what for", "why so", "why is that", "why's that", "why that"]
)
_MORE = re.compile(
    r"^(?:(?:can|could) you |please )*"
    r"(?:(?:tell|give|show) me (?:some )?more(?: details?)?|(?:more|further) details?"
    r"|(?:any )?more on (?:that|this|it)|go on|explain(?: (?:that|this|it))?(?: (?:more|further|"
    r"in (?:more )?detail))?|elaborate(?: on (?:that|this|it))?|details)(?: please)?$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"^(?:(?:can|could) you |please )*(?:(?:give|show) me )?(?:an?|some|for) examples?"
    r"(?: of (?:that|this|it))?(?: please)?$",
    re.IGNORECASE,
)
_MODIFIERS = frozenset("default highest lowest max maximum min minimum smallest largest".split())
_REST = re.compile(r"^why not$|^(?:what|where|who|how|why|when) else$|^(?:anything|something) else$"
                   r"|^what then$|^then what$|^(?:and )?then$", re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Opening:
    """How a question begins.

    Attributes:
        join: "and", "what about" and the like, in lower case; "" where it begins by itself.
        rest: what comes behind.
    """

    join: str
    rest: str

    @property
    def is_about(self) -> bool:
        """Whether it only names something: "what about …"."""
        return self.join.endswith("about") or "same" in self.join


def opening(question: str) -> Opening:
    """Take "and", "what about" and the like off a question."""
    found = _OPENER.match(question)
    if not found:
        return Opening("", question)
    return Opening(" ".join(found["join"].lower().split()), question[found.end() :])


def bare(text: str) -> str:
    """A fragment without "then", "instead" and the marks at its end."""
    while True:
        shorter = _TAIL.sub("", text.strip())
        if shorter == text:
            return text
        text = shorter


def is_fragment(start: Opening) -> bool:
    """Whether what was asked is less than a sentence, so that it needs the question before."""
    text = bare(start.rest)
    tokens = tokenize(text)
    if not tokens or len(tokens) > _MOST_WORDS or any(token.ends_sentence for token in tokens):
        return False
    if is_question_word(text) or any(one.match(text) for one in (_MORE, _EXAMPLE, _REST)):
        return True
    lows = [token.low for token in tokens]
    is_clause = any(low in AUXILIARY | ASKING | SUBJECTS for low in lows)
    if start.is_about:
        return not ASKING.intersection(lows)
    return not is_clause and (bool(start.join) or lows[0] in PREPOSITIONS - {"like", "than"})


def is_question_word(text: str) -> bool:
    """Whether a text is a question word alone, with what it measures: "how long", "by whom"."""
    lows = text.lower().split()
    if " ".join(lows) in _REASONS or lows in (["which", "one"], ["which", "ones"]):
        return True
    if lows[:1] and lows[0] in PREPOSITIONS and len(lows) > 1:
        if lows[1:2] == ["how"] or lows[1] in ("what", "which"):
            return len(lows) < 4 and not AUXILIARY.intersection(lows)
        lows = lows[1:]
    if len(lows) == 1:
        return lows[0] in ASKING
    return len(lows) == 2 and lows[0] == "how" and lows[1] in DEGREES


def completed(rest: str, previous: str) -> str:
    """The question that a fragment stands for; the one before beside it where that is unclear.

    Args:
        rest: of an `Opening` for which `is_fragment` holds, pronouns in it resolved.
        previous: the question before, which stands alone.
    """
    text = bare(rest)
    if is_question_word(text):
        return _with_question_word(text, previous)
    tokens = tokenize(previous)
    for pattern, wish in ((_MORE, "Tell me more about"), (_EXAMPLE, "Show me an example of")):
        if pattern.match(text):
            about = topic_chain(previous, tokens)
            return f"{wish} {about}" if about else beside(text, previous)
    if _REST.match(text):
        return beside(text, previous)
    return _with_phrase(text, previous, tokens)


def beside(question: str, previous: str) -> str:
    """A question with the one before in brackets, for want of anything better."""
    text = question.strip().rstrip("?.! ")
    return f"{text[:1].upper()}{text[1:]}? ({previous.strip()})"


def _with_question_word(text: str, previous: str) -> str:
    """Ask "why?" of "does it run?": why does it run?"""
    word = "why" if text.lower() in _REASONS else text
    tokens = tokenize(previous)
    lows = [token.low for token in tokens]
    word = f"{word[:1].upper()}{word[1:]}"
    if lows and lows[0] in AUXILIARY:
        return f"{word} {previous[:1].lower()}{previous[1:]}"
    is_simple = (
        len(lows) > 2 and lows[0] in ("when", "where", "how", "why") and lows[1] in AUXILIARY
    )
    is_measured = len(lows) > 3 and lows[0] == "how" and lows[1] in DEGREES
    is_degree = word.lower().startswith("how ") or word.lower() in ("when", "where")
    if is_simple and word.lower() != "how":
        return f"{word} {previous[tokens[1].start :]}"
    if is_measured and lows[2] in AUXILIARY - BE and lows[1] not in ("many", "much"):
        return f"{word} {previous[tokens[2].start :]}"
    if is_degree and lows[:1] == ["what"] and len(lows) > 2 and lows[1] in BE:
        return f"{word} {previous[tokens[1].start :]}"
    return beside(text, previous)


def _with_phrase(text: str, previous: str, tokens: Sequence[Token]) -> str:
    """The question before with another thing in it, or one thing more."""
    words = tokenize(text)
    preposition = words[0].low if words[0].low in PREPOSITIONS and len(words) > 1 else ""
    body = text[words[1].start :] if preposition else text
    asked = _phrase_of(body)
    if asked is None:
        return beside(text, previous)
    is_alike = any(heads(asked) & heads(phrase) for phrase in noun_phrases(tokens))
    if not preposition and asked.is_attribute and not asked.has_name and not is_alike:
        return _with_attribute(asked, body, previous, tokens)
    target = counterpart(asked, preposition, tokens)
    if target:
        return replaced(target, asked, body, previous)
    if preposition in CIRCUMSTANCES:
        return f"{previous.rstrip('?.! ')} {text}?"
    if not asked.has_name or preposition:
        about = topic(previous, tokens)
        if about and asked.has_determiner and not asked.has_name:
            return f"What about {body} of {about}?"
    return f"{previous.rstrip('?.! ')} for {body}?" if asked.has_name else beside(text, previous)


def _phrase_of(text: str) -> Phrase | None:
    """A fragment as a noun phrase: its first one, or all of it."""
    tokens = tokenize(text)
    if not tokens:
        return None
    found = noun_phrases(tokens)
    if found and found[0].first == 0:
        return found[0]
    return Phrase(tokens, 0, len(tokens) - 1, 0) if tokens[0].is_content else None


def _with_attribute(asked: Phrase, body: str, previous: str, tokens: Sequence[Token]) -> str:
    """Ask "and the maximum?" of what the question before was about."""
    named = body if asked.has_determiner else f"the {body}"
    verb = "are" if asked.is_plural else "is"
    if " of " in body:  # a pronoun was resolved in it
        return f"What {verb} {named}?"
    for token in tokens:
        if token.low in _MODIFIERS and asked.head in _MODIFIERS and len(asked.words) == 1:
            return f"{previous[: token.start]}{asked.head}{previous[token.end :]}"
    about = topic(previous, tokens)
    return f"What {verb} {named} of {about}?" if about else beside(body, previous)
