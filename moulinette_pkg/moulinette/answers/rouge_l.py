"""ROUGE-L F1: how much of the reference answer's wording an answer keeps, in order."""

import re
import unicodedata
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Runs of letters and digits in lower case: `max_tokens` is two words."""
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def common_subsequence_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence of two token lists.

    Bit i of `rows` is 0 where the length grows at a[i]; one addition updates a whole column.

    Returns: 0 to min(len(a), len(b)). Symmetric.
    Source: Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004.
    """
    positions: dict[str, int] = {}
    for index, token in enumerate(a):
        positions[token] = positions.get(token, 0) | 1 << index
    ones = (1 << len(a)) - 1
    rows = ones
    for token in b:
        hits = rows & positions.get(token, 0)
        rows = ((rows + hits) | (rows - hits)) & ones
    return len(a) - rows.bit_count()


def rouge_l_f1(answer: str, reference: str) -> float:
    """Harmonic mean of LCS / words of the answer and LCS / words of the reference.

    Returns: 0.0 to 1.0; where one side has no word, 1.0 if neither has any, else 0.0.
    Source: Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", ACL workshop 2004,
        with beta = 1 over the whole text.
    """
    answered, expected = words(answer), words(reference)
    if not answered or not expected:
        return float(answered == expected)
    shared = common_subsequence_length(answered, expected)
    return 2 * shared / (len(answered) + len(expected))
