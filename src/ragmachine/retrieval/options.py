"""Which stages of a search run, and how: plain values that decide its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragmachine.retrieval.query import AnalysisOptions


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Everything but the weights of a retriever; all of it is part of the cache key.

    Attributes:
        analysis: how the query is read.
        expand: ``none``, ``llm`` (a model's synonyms) or ``prf`` (words of the best hits).
        expand_weight: of an added word; the query's own words have 1.
        does_narrow: whether files, folders and versions that a question names are lifted.
        does_compare: whether either side of a comparison is searched for itself.
        does_decompose: whether questions of several parts are cut and merged.
        retry_coverage: a ranking whose best hits hold less of the question than this, 0 to 1, is
            merged with a wider one; 0 never is.
        is_distinct: whether the same text is shown once.
        near_duplicates: likeness of words from which the lower of two hits is left out; 1 for none.
        variety: the λ of maximal marginal relevance; 1 ranks by relevance alone.
        synonyms: the user's own: word to words, lower-case.
        reranked: hits that a reranker reads; 0 without one.
    """

    analysis: AnalysisOptions = field(default_factory=AnalysisOptions)
    expand: str = "none"
    expand_weight: float = 0.25
    does_narrow: bool = True
    does_compare: bool = True
    does_decompose: bool = False
    retry_coverage: float = 0.2
    is_distinct: bool = True
    near_duplicates: float = 1.0
    variety: float = 1.0
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reranked: int = 0
