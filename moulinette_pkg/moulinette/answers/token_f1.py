"""Token F1: how many words an answer shares with the reference answer."""

import re
import string
import unicodedata
from collections import Counter

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised_tokens(text: str) -> list[str]:
    """Words in lower case, without ASCII punctuation and without the articles a, an, the.

    Removing punctuation joins what it stood between: `max_tokens` becomes `maxtokens`.
    Composed and decomposed letters (NFC, NFD) are the same.
    """
    lowered = unicodedata.normalize("NFC", text).lower()
    return _ARTICLES.sub(" ", lowered.translate(_NO_PUNCTUATION)).split()


def token_f1(answer: str, reference: str) -> float:
    """Harmonic mean of precision and recall over the two bags of normalised tokens.

    Returns: 0.0 to 1.0; where one side has no token, 1.0 if neither has any, else 0.0.
    Source: Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text",
        EMNLP 2016; the empty case as in Rajpurkar, Jia & Liang, ACL 2018.
    """
    answered, expected = normalised_tokens(answer), normalised_tokens(reference)
    if not answered or not expected:
        return float(answered == expected)
    shared = (Counter(answered) & Counter(expected)).total()
    return 2 * shared / (len(answered) + len(expected))
