"""How much of a question do its best hits hold? The share of its words' weight in one of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragmachine.retrieval.ranking import Question, Scored

if TYPE_CHECKING:
    from ragmachine.index.reader import Index

# One hit must hold the words together: three that hold a third each say nothing about the
# question. The best of the first three is taken, so that one odd hit on top decides nothing.
LOOKED_AT = 3


def coverage(mass: Mapping[str, float], held: Sequence[Collection[str]]) -> float:
    """The largest share of a question's mass that a single hit holds, 0 to 1.

    Args:
        mass: the terms that stand for the question's words, each with its weight times its inverse
            document frequency. A term that nobody wrote has mass too, and no hit holds it.
        held: which of these terms each hit holds, best hit first; the first `LOOKED_AT` count.
    Returns: 1 for a question without mass: there is nothing to miss.
    """
    total = sum(mass.values())
    if total <= 0:
        return 1.0
    shares = (sum(mass[term] for term in terms) / total for terms in held[:LOOKED_AT])
    return max(shares, default=0.0)


def inverse_frequencies(index: Index, terms: Sequence[str]) -> list[float]:
    """Inverse document frequencies of terms over the chunks; an unknown one is as the rarest."""
    known = [index.vocabulary.get_number(term) for term in terms]
    numbers = np.array([-1 if number is None else number for number in known], dtype=np.int64)
    # a memory map answers each look-up slowly, the array below it at once
    indptr = np.asarray(index.chunk_scores.scores["indptr"])
    held = np.where(numbers < 0, 0, indptr[numbers + 1] - indptr[numbers])
    frequencies: list[float] = index.bm25.idf(held, index.chunk_count).tolist()
    return frequencies


def mass_of(question: Question, index: Index) -> dict[str, float]:
    """The terms that stand for a question's words, with what each says about it."""
    evidence = question.analysis.evidence
    rarities = inverse_frequencies(index, evidence)
    return {
        term: question.terms.get(term, 1.0) * rarity
        for term, rarity in zip(evidence, rarities, strict=True)
    }


def coverage_of(mass: Mapping[str, float], ranked: Sequence[Scored], index: Index) -> float:
    """The `coverage` of a ranking's first hits."""
    chunks = [hit.chunk for hit in ranked[:LOOKED_AT]]
    return coverage(mass, index.holders(list(mass), chunks))
