"""Words of questions and passages: a small tokenizer, identifiers, and words that say nothing.

The tokenizer is the fall-back for when the pipeline hands in none.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_STOPWORDS = frozenset(
    """
    a about all also an and any are as at be been being but by can could did do does doing for
    from had has have how i if in into is it its may me my no of on or our please should so some
    such than that the their them then there these they this those through to use used uses using
    was we were what when where which who whom whose why will with would you your
    """.split()
)
_WORD = re.compile(r"\w+(?:\.\d+)*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+(?:\.\d+)*")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_QUOTED = re.compile(r"`([^`\n]{2,80})`|\"([^\"\n]{2,80})\"|(?<!\w)'([^'\n]{2,80})'(?!\w)")
# --flag, snake_case, camelCase, CamelCase, dotted.name, v1/path, ALL_CAPS, name2
_IDENTIFIER = re.compile(
    r"--[A-Za-z][\w-]*\w"
    r"|/?\w+(?:[./]\w+)+"
    r"|\w*[^\W_]_\w+|_+\w+"
    r"|\w*[a-z0-9][A-Z]\w*|\w*[A-Z]{2,}\w*"
    r"|[A-Za-z]+\d\w*"
)


def split_terms(text: str) -> list[str]:
    """Case-folded, lightly stemmed terms in text order, repeats kept, stopwords left out.

    An identifier gives itself and its parts; a run of a script without spaces gives its pairs.
    """
    return [term for word in _WORD.findall(text) for term in _expand(word)]


def content_words(text: str) -> list[str]:
    """The distinct words of a text as written, stopwords left out."""
    words = _WORD.findall(text)
    return list(dict.fromkeys(word for word in words if word.lower() not in _STOPWORDS))


def is_stopword(word: str) -> bool:
    """Whether a case-folded word says nothing."""
    return word in _STOPWORDS


def exact_names(question: str) -> list[str]:
    """Identifiers, flags, paths and quoted strings that an answer should hold letter by letter."""
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(question)]
    found = [match.group() for match in _IDENTIFIER.finditer(question)]
    return list(dict.fromkeys(name for name in [*quoted, *found] if len(name) > 1))


@lru_cache(maxsize=1 << 16)
def _expand(word: str) -> tuple[str, ...]:
    word = unicodedata.normalize("NFKC", word)
    low = word.casefold()
    if low in _STOPWORDS:
        return ()
    if _UNSPACED.search(low):
        return tuple(low[i : i + 2] for i in range(len(low) - 1)) or (low,)
    parts = _PART.findall(word)
    stems = [_stem(part.casefold()) for part in parts if part.casefold() not in _STOPWORDS]
    if len(parts) < 2 and parts == [word]:
        return tuple(stems)
    return tuple(dict.fromkeys([low, *stems]))


def _stem(word: str) -> str:
    """Strip the commonest English endings, so that plural, -ing, -ed and -e forms meet."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, replacement in (("ies", "y"), ("sses", "ss"), ("ss", "ss"), ("us", "us")):
        if word.endswith(ending):
            return word[: -len(ending)] + replacement
    word = word.removesuffix("s")
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 2 and re.search("[aeiouy]", root):
            word = root[:-1] if root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    return word.removesuffix("e") if len(word) > 3 else word
