"""How far may a question's words be trusted, and how far its vector? Decided for each question.

Where the asker knows the names, words find the passage and vectors only blur the ranking; where
nobody wrote the asker's words, what words find is chance. Both can be read off the first rankings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Fitted on one half of the labelled questions: see benchmarks/fusion.py.
_INTERCEPT = 0.0
_MATCHED = -2.6
_CLOSENESS = 4.5
_NAMED = -1.0
_TYPICAL_MATCHED = 1.2
_TYPICAL_CLOSENESS = 0.5
_LARGEST_WEIGHT = 15.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the first rankings say about a question.

    Attributes:
        coverage: share of the question's mass that one of the best lexical hits holds, 0 to 1.
        mass: idf of the question's words, in units of a word that stands in one chunk alone.
        closeness: cosine similarity of the nearest chunk.
        is_named: whether the question holds a name that the corpus has: an identifier.
    """

    coverage: float
    mass: float
    closeness: float
    is_named: bool

    @property
    def matched(self) -> float:
        """How many rare words the best lexical hit holds, less where it leaves others out."""
        return self.coverage * math.sqrt(self.mass)


def dense_weight(evidence: Evidence) -> float:
    """What a cosine similarity of 1 counts beside a lexical hit that holds the whole question.

    Returns: 0 where there is nothing close, falling with what the words match.
    """
    if evidence.closeness <= 0:
        return 0.0
    exponent = (
        _INTERCEPT
        + _MATCHED * (evidence.matched - _TYPICAL_MATCHED)
        + _CLOSENESS * (evidence.closeness - _TYPICAL_CLOSENESS)
        + _NAMED * evidence.is_named
    )
    return min(math.exp(exponent), _LARGEST_WEIGHT)
