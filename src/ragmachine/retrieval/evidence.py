"""How far may a question's words be trusted, and how far its vector? Decided for each question.

Where the asker knows the names, words find the passage and vectors only blur the ranking; where
nobody wrote the asker's words, what words find is chance. Both can be read off the first rankings.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

_TYPICAL_MATCHED = 1.2
_TYPICAL_CLOSENESS = 0.5
_SMALLEST_WEIGHT = 0.03
_LARGEST_WEIGHT = 20.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the first rankings say about a question.

    Attributes:
        coverage: share of the question's mass that one of the best lexical hits holds, 0 to 1.
        mass: idf of the question's words, in units of a word that stands in one chunk alone.
        closeness: cosine similarity of the nearest chunk.
        is_named: whether the question holds a name that the corpus has: an identifier.
        is_coded: whether it holds the number of a part, an error or the like that few chunks have.
    """

    coverage: float
    mass: float
    closeness: float
    is_named: bool
    is_coded: bool = False

    @property
    def matched(self) -> float:
        """How many rare words the best lexical hit holds, less where it leaves others out."""
        return self.coverage * math.sqrt(self.mass)


@dataclass(frozen=True, slots=True)
class Rule:
    """A logarithm of the weight, linear in the evidence.

    Attributes:
        intercept: for typical evidence without a name.
        matched: per unit of `Evidence.matched`.
        closeness: per unit of cosine similarity.
        named: for a name.
    """

    intercept: float
    matched: float
    closeness: float
    named: float

    @property
    def constants(self) -> tuple[float, ...]:
        """The four numbers in their order."""
        return astuple(self)


# Fitted on one half of the labelled questions, see benchmarks/fusion.py; rounded.
RULE = Rule(intercept=-0.5, matched=-3.6, closeness=6.7, named=-2.5)


def dense_weight(evidence: Evidence, rule: Rule = RULE) -> float:
    """What a cosine similarity of 1 counts beside a lexical hit that holds the whole question.

    Returns: 0 where nothing is close or a code says it all, since texts on other codes are just as
        close; else it falls with what the words match.
    """
    if evidence.closeness <= 0 or evidence.is_coded:
        return 0.0
    exponent = (
        rule.intercept
        + rule.matched * (evidence.matched - _TYPICAL_MATCHED)
        + rule.closeness * (evidence.closeness - _TYPICAL_CLOSENESS)
        + rule.named * evidence.is_named
    )
    return min(max(math.exp(min(exponent, 10.0)), _SMALLEST_WEIGHT), _LARGEST_WEIGHT)
