"""BM25 in plain Python, the variant of Lucene: the measure that the product is held against."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

K1 = 1.5
B = 0.75


def plain_bm25(documents: Sequence[Counter[str]], query: Iterable[str]) -> list[float]:
    """The score of every document, given as the counts of its terms."""
    lengths = [sum(document.values()) for document in documents]
    mean_length = sum(lengths) / len(lengths)
    scores = [0.0] * len(documents)
    for term in query:
        holders = sum(term in document for document in documents)
        idf = math.log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))
        for number, document in enumerate(documents):
            if term in document:
                norm = K1 * (1 - B + B * lengths[number] / mean_length)
                scores[number] += idf * document[term] / (document[term] + norm)
    return scores
