"""Pseudo-relevance feedback: words that the best hits share are added to the query, lightly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence


def relevance_model(
    terms: Mapping[str, float],
    hits: Sequence[tuple[float, Sequence[str]]],
    idf: Callable[[str], float],
    *,
    words: int = 8,
    weight: float = 0.2,
) -> dict[str, float]:
    """The query's terms at their weights, plus the strongest words of its best hits.

    Args:
        terms: the query's terms and weights; they are never changed.
        hits: (score, terms of the chunk, repeats kept) of the best hits.
        idf: inverse document frequency of a term.
        words: how many words to add.
        weight: of the strongest added word; the others in proportion.
    Source: Abdul-Jaleel et al., "UMass at TREC 2004" (RM3); idf in place of a background model.
    """
    total = sum(score for score, _ in hits)
    if not total or words <= 0 or weight <= 0:
        return dict(terms)
    mass: dict[str, float] = {}
    for score, found in hits:
        counts = Counter(found)
        length = sum(counts.values()) or 1
        for term, count in counts.items():
            mass[term] = mass.get(term, 0.0) + score / total * count / length
    strength = {term: share * idf(term) for term, share in mass.items() if term not in terms}
    best = sorted(strength, key=lambda term: (-strength[term], term))[:words]
    if not best:
        return dict(terms)
    top = strength[best[0]] or 1.0
    return {**{term: weight * strength[term] / top for term in best}, **terms}
