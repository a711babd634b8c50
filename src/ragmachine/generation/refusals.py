"""Answers that say "I don't know": how they say why and what was searched for, how models say it.

The nearest passages are not named in the text: they are the hits of the answer's search.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragmachine.models import Answer, SearchResult

from .sentences import split_sentences
from .words import content_words

NOTHING_FOUND = "nothing in the index bears on this question"
TOO_LITTLE_FOUND = "the passages found hold too little of this question"
NOTHING_SUPPORTED = "the passages found do not support what the model answered"
MODEL_KNOWS_NOTHING = "the model found no answer in the passages"
_MOST_WORDS_SHOWN = 20
_MOST_NAMES_SHOWN = 5
_SOURCES = r"(?:passages?|context|texts?|documents?|snippets?|information)"
_ABOUT_ITSELF = re.compile(
    r"\bI (?:do not|don['’]?t) know\b"
    rf"|\b(?:the|these|this)(?: (?:provided|given|above))? {_SOURCES}(?: provided| given)?"
    r" (?:do(?:es)? not|don['’]t|doesn['’]t)(?: \w+ly)?"
    r" (?:answer|contain|describe|explain|give|include|mention|provide|say|specify|state)\b"
    rf"|\bno (?:information|mention)\b.{{0,60}}\b{_SOURCES}\b",
    re.IGNORECASE,
)


def refuse(result: SearchResult, reason: str, *, notice: str = "") -> Answer:
    """An answer that says why nothing is known and what was searched for.

    A reader can then tell a typing error from an absence.

    Args:
        result: the search; its hits are the nearest passages.
        reason: what follows "I don't know:", without a full stop.
        notice: as in `Answer`.
    """
    words = content_words(result.query)[:_MOST_WORDS_SHOWN]
    searched = (
        f"Searched {result.total_chunks:,} chunks for: {', '.join(words)}."
        if words
        else f"It holds no word to search {result.total_chunks:,} chunks for."
    )
    return Answer(f"I don't know: {reason}.\n{searched}", "none", result, notice=notice)


def nowhere(names: Sequence[str]) -> str:
    """The reason that nobody mentions some names of a question."""
    shown = names[:_MOST_NAMES_SHOWN]
    head = f"{', '.join(shown[:-1])} or " if len(shown) > 1 else ""
    return f"no passage found mentions {head}{shown[-1]}"


def no_line(hits: int) -> str:
    """The reason that no hit has a line to quote."""
    passages = "the passage found" if hits == 1 else f"the {hits} passages found"
    return f"no line of {passages} bears on the question"


def says_nothing(text: str) -> bool:
    """Whether a sentence only says that the passages, or the model, do not know."""
    return _ABOUT_ITSELF.search(text) is not None


def is_refusal(text: str) -> bool:
    """Whether every sentence of a model's answer says only that."""
    sentences = split_sentences(text)
    return bool(sentences) and all(says_nothing(sentence.body) for sentence in sentences)
