"""One tokenizer for documents and queries: identifiers whole and in parts, words stemmed.

A text is cut into raw words by one regular expression; each distinct raw word is expanded into
index terms once and cached, since a corpus repeats its words a hundred times. All of it takes time
in proportion to the text, whatever the text is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

import Stemmer

# Non-ASCII letters, digits and combining marks, roughly: what is punctuation or a symbol among them
# is taken out once a word is expanded. `\w` alone would cut Indic words at their vowel signs.
_WIDE = (
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u200c\u200d\u2070-\u209c"
    "\u2c00-\u2dff\u3005-\u3007\u3021-\ud7ff\uf900-\ufaff\ufb00-\ufdcf\ufdf0-\ufdff\ufe20-\ufe2f"
    "\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc\U00010000-\U0001efff"
    "\U00020000-\U000323af"
)
_NUMBER = r"\d+(?:\.\d+)*"
# C++, C#, Qwen2.5 and v0.10.1 keep their tails; `--flag` must not be the end of `a--flag`. Each
# alternative starts with a plain character set: the regex engine rejects those fastest.
_TAIL = r"(?:\.\d+)*(?:\+\+|#)?"
_FLAG = r"--(?<![\w-]--)[A-Za-z][\w-]*"
_RAW_ASCII = re.compile(rf"[A-Za-z_]\w*{_TAIL}|{_NUMBER}|{_FLAG}", re.ASCII)
# Scripts written without spaces: Han, kana, Hangul (whose particles cling to their words), Thai.
_CJK_RUN = (
    "([\u0e00-\u0e7f\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U000323af]+)"
)
# getHTTPResponse2 -> get HTTP Response 2; anything else keeps its letters together
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+(?:\.\d+)*")
_MAX_TERM_CHARS = 64
_MAX_RAW_CHARS = 4 * _MAX_TERM_CHARS  # base64 and the like: no one asks for it by its text

# Words that carry no content in English questions and prose.
STOPWORDS = frozenset(
    """
    a about above after again against all also am an any are aren at be because been before
    being below between both but by can cannot could couldn d did didn does doesn doing don down
    during each etc few further get gets had hadn has hasn have haven having he her here hers
    him his how i into isn it its itself just let ll m may me might more most must my no nor of
    off on once only other our ours out over own s same shall she should shouldn so some such
    t than that the their theirs them then there these they those through to too under until up
    upon us use used using ve very was wasn we were weren what when where which who whom whose
    why will won would wouldn you your yours
    """.split()
)
# Contractions leave the small ones (don't, it's); the capitals tell versions of a product, axes and
# vitamins apart.
_LETTERS_THAT_NAME = frozenset("DMST")
# English function words that programming languages reserve: indexed, and ignored only in a query
# that is plainly prose.
KEYWORDS = frozenset(
    """
    and as assert async await break case class continue def default del do elif else except
    false final finally for from global if import in is lambda new none nonlocal not null or
    pass private public raise return self static super switch this throw true try var void while
    with yield
    """.split()
)
_PROSE_KEYWORDS = frozenset(
    ["and", "as", "do", "for", "from", "if", "in", "is", "not", "or", "this", "while", "with"]
)


@cache
def _raw_wide() -> re.Pattern[str]:
    """Raw words of a text with non-ASCII letters; compiled when first met, since it takes 5 ms."""
    word = f"[A-Za-z_{_WIDE}][A-Za-z0-9_{_WIDE}]*"
    return re.compile(f"{word}{_TAIL}|{_NUMBER}|{_FLAG}", re.ASCII)


@cache
def _cjk() -> re.Pattern[str]:
    """Runs of a script without spaces, captured."""
    return re.compile(_CJK_RUN)


class Tokenizer:
    """Turns text into index terms; holds the cache of expansions.

    Not thread-safe beyond what the dictionary is: two threads may compute the same entry twice.
    """

    def __init__(self) -> None:
        self._stem = Stemmer.Stemmer("english").stemWord
        self._cache: dict[str, tuple[str, ...]] = {}

    @staticmethod
    def raw_words(text: str) -> list[str]:
        """Words in text order, as written, before expansion."""
        return (_RAW_ASCII if text.isascii() else _raw_wide()).findall(text)

    def expand(self, raw: str) -> tuple[str, ...]:
        """Index terms of one raw word: the whole first, then its parts; stopwords give none."""
        terms = self._cache.get(raw)
        if terms is None:
            terms = self._expand(raw)
            # what is written without spaces is a clause, not a word, and hardly comes back
            if len(raw) <= _MAX_RAW_CHARS and (raw.isascii() or not _cjk().search(raw)):
                self._cache[raw] = terms
        return terms

    def terms(self, text: str) -> list[str]:
        """Index terms of a text in order, repeats kept."""
        return [term for raw in self.raw_words(text) for term in self.expand(raw)]

    def query_words(self, query: str) -> list[str]:
        """Raw words of a query in order; keywords that only glue prose are dropped."""
        raws = self.raw_words(query)
        lowered = [raw.lower() for raw in raws]
        is_prose = any(word in STOPWORDS and word not in KEYWORDS for word in lowered)
        dropped = _PROSE_KEYWORDS if is_prose else frozenset()
        return [raw for raw, low in zip(raws, lowered, strict=True) if low not in dropped]

    def query_terms(self, query: str) -> list[str]:
        """Distinct terms of the words of a query, in order."""
        words = self.query_words(query)
        return list(dict.fromkeys(term for raw in words for term in self.expand(raw)))

    def _expand(self, raw: str) -> tuple[str, ...]:
        if raw.isascii():
            if raw.islower() and raw.isalpha():  # the common case, and the fast one
                if raw in STOPWORDS and raw not in KEYWORDS:
                    return ()
                return (self._stem(raw),) if len(raw) <= _MAX_TERM_CHARS else ()
            return self._expand_ascii(raw) if len(raw) <= _MAX_RAW_CHARS else ()
        return tuple(dict.fromkeys(self._expand_wide(raw)))

    def _expand_ascii(self, raw: str) -> tuple[str, ...]:
        if raw[0] == "-":
            return self._expand_flag(raw)
        low = raw.lower()
        if low[-1] in "+#":
            bare = low.rstrip("+#")
            return (low,) if len(bare) == 1 else self._expand(raw[: len(bare)])
        parts = _PART.findall(raw)
        if len(parts) > 1:
            whole = (low,) if len(low) <= _MAX_TERM_CHARS else ()
            return (*whole, *(self._stem(part.lower()) for part in parts))
        if not parts:
            return (low,) if len(raw) > 1 else ()  # underscores only
        part = parts[0].lower()
        if part == low:
            is_stopword = low in STOPWORDS and low not in KEYWORDS and raw not in _LETTERS_THAT_NAME
            return () if is_stopword or len(low) > _MAX_TERM_CHARS else (self._stem(low),)
        return (low, self._stem(part))  # __init__, _private

    def _expand_flag(self, raw: str) -> tuple[str, ...]:
        """--max-tokens -> itself, the identifier max_tokens it is stored in, and its parts."""
        flag = raw.rstrip("-").lower()
        name = raw.strip("-").replace("-", "_")
        return (flag, *self._expand_ascii(name)) if len(flag) <= _MAX_TERM_CHARS else ()

    def _expand_wide(self, raw: str) -> Iterable[str]:
        """Words with non-ASCII letters: normalised, cut by script, accents also folded away."""
        for word in _letters(_normalized(raw)).split():
            for number, run in enumerate(_cjk().split(word)):
                if number % 2 == 0:
                    yield from self._expand_accented(run)
                elif len(run) == 1:
                    yield run
                else:
                    yield from (run[i : i + 2] for i in range(len(run) - 1))

    def _expand_accented(self, word: str) -> Iterable[str]:
        if len(word) > _MAX_RAW_CHARS or not word:
            return
        if word.isascii():
            yield from self._expand(word)
            return
        # the parts of größeMaximal, found on a copy that has an ASCII letter for each of its own
        shape = "".join(map(_shape, word))
        spans = [match.span() for match in _PART.finditer(shape)]
        parts = [word[start:end] for start, end in spans] if len(spans) > 1 else []
        for part in (word, *parts):
            folded = part.casefold()
            if len(folded) <= _MAX_TERM_CHARS and any(map(str.isalnum, folded)):
                yield self._stem(folded)
                yield self._stem(_without_accents(folded))


def _normalized(raw: str) -> str:
    """The compatibility form. Long words go by pieces: sorting their marks is quadratic."""
    step = _MAX_RAW_CHARS
    pieces = (raw[start : start + step] for start in range(0, len(raw), step))
    return "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)


def _letters(word: str) -> str:
    """The word with blanks for its punctuation and symbols, and without invisible joiners."""
    return "".join(char if char.isalnum() or char in "_." else _instead(char) for char in word)


def _instead(char: str) -> str:
    kind = unicodedata.category(char)
    return char if kind[0] == "M" else "" if kind == "Cf" else " "


def _shape(char: str) -> str:
    """An ASCII character of the same kind: capital, small letter or mark, digit, other."""
    if char.isascii():
        return char
    return "0" if char.isdecimal() else "A" if char.isupper() or char.istitle() else "a"


def _without_accents(word: str) -> str:
    """The word without marks that may be left out; a virama (class 9) may not."""
    parts = unicodedata.normalize("NFD", word)
    return unicodedata.normalize(
        "NFC", "".join(char for char in parts if unicodedata.combining(char) in (0, 9))
    )
