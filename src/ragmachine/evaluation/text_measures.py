"""How near an answer's words are to those of the reference answer."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_WORD = re.compile(r"[^\W_]+")
ROUGE_REMEDY = "for ROUGE-L, type `uv sync --extra measure` or `pip install rapidfuzz`"


def token_f1(answer: str, reference: str) -> float:
    """Harmonic mean of precision and recall over two bags of words.

    Words are normalised as SQuAD does: lower case, no ASCII punctuation (``max_tokens`` is one
    word), no articles.

    Returns: 0..1; where one side has no word, 1 if neither has any, else 0.
    Source: Rajpurkar et al., SQuAD, EMNLP 2016; the empty case as in Rajpurkar, Jia & Liang,
        ACL 2018.
    """
    answered, expected = _tokens(answer), _tokens(reference)
    if not answered or not expected:
        return float(answered == expected)
    shared = (Counter(answered) & Counter(expected)).total()
    return 2 * shared / (len(answered) + len(expected))


def has_rouge() -> bool:
    """Whether the library that `rouge_l` needs is installed."""
    from importlib.util import find_spec

    return find_spec("rapidfuzz") is not None


def rouge_l(answer: str, reference: str) -> float:
    """Harmonic mean of the longest common subsequence over the words of either text.

    Words are runs of letters and digits in lower case, without stemming.

    Returns: 0..1; where one side has no word, 1 if neither has any, else 0.
    Raises: ImportError: the extra ``measure`` is not installed; ask `has_rouge` first.
    Source: Lin, ROUGE, ACL workshop 2004, with beta = 1 over the whole text.
    """
    from rapidfuzz.distance import LCSseq

    answered, expected = _words(answer), _words(reference)
    if not answered or not expected:
        return float(answered == expected)
    return 2 * LCSseq.similarity(answered, expected) / (len(answered) + len(expected))


def _tokens(text: str) -> list[str]:
    lowered = unicodedata.normalize("NFC", text).lower()
    return _ARTICLES.sub(" ", lowered.translate(_NO_PUNCTUATION)).split()


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())
