"""BM25 in plain Python, a formula for each variant: the measure the product is held against."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

K1 = 1.5
B = 0.75


def plain_bm25(
    documents: Sequence[Counter[str]],
    query: Iterable[str],
    *,
    variant: str = "lucene",
    k1: float = K1,
    b: float = B,
) -> list[float]:
    """The score of every document, given as the counts of its terms; absent terms give nothing."""
    lengths = [sum(document.values()) for document in documents]
    mean_length = sum(lengths) / len(lengths)
    scores = [0.0] * len(documents)
    for term in query:
        holders = sum(term in document for document in documents)
        for number, document in enumerate(documents):
            if term in document:
                relative = 1 - b + b * lengths[number] / mean_length
                scores[number] += _score(
                    variant, document[term], relative, holders, len(documents), k1
                )
    return scores


def _score(variant: str, count: int, relative: float, holders: int, total: int, k1: float) -> float:
    """One term in one document, as the papers print it."""
    if variant == "lucene":
        idf = math.log(1 + (total - holders + 0.5) / (holders + 0.5))
        return idf * count / (count + k1 * relative)
    if variant == "robertson":
        idf = max(0.0, math.log((total - holders + 0.5) / (holders + 0.5)))
        return idf * count / (count + k1 * relative)
    if variant == "atire":
        return math.log(total / holders) * (k1 + 1) * count / (count + k1 * relative)
    if variant == "bm25l":
        c = count / relative
        return math.log((total + 1) / (holders + 0.5)) * (k1 + 1) * (c + 0.5) / (k1 + c + 0.5)
    saturated = (k1 + 1) * count / (count + k1 * relative)
    return math.log((total + 1) / holders) * (saturated + 1)
