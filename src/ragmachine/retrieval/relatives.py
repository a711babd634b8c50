"""Words that somebody wrote, in place of words that nobody did: longer, shorter, one slip away."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import islice, takewhile

from ragmachine.retrieval.query import SHORTEST_CORRECTED, correct

_SHORTEST = 4  # letters of a word that is looked up, and of what is left of one cut short
_LONGEST_ENDING = 5
_MAX_LONGER = 4
_SHORTEST_SLIP = 3


class Relatives:
    """Relatives of unknown words in one vocabulary.

    Args:
        vocabulary: all terms, read when first asked.
        frequency: of a term in the index; 0 for one nobody wrote.
        does_correct: whether words one slip away are relatives.
    """

    def __init__(
        self, vocabulary: Iterable[str], frequency: Callable[[str], int], *, does_correct: bool
    ) -> None:
        self._vocabulary = vocabulary
        self._frequency = frequency
        self._does_correct = does_correct
        self._sorted: list[str] = []

    def of(self, word: str) -> list[str]:
        """At most six known terms for an index term that nobody wrote, the likeliest first.

        Those that begin with it (``auth``: ``authent``, ``author``), the longest that it begins
        with (``guesser``: ``guess``), and for a short word the most frequent one slip away.
        """
        if not word.isalpha():
            return []
        found = self._longer(word) + self._shorter(word)
        if self._does_correct and len(word) < SHORTEST_CORRECTED:  # the analysis tried the others
            found += filter(None, [correct(word, self._frequency, shortest=_SHORTEST_SLIP)])
        return list(dict.fromkeys(found))

    def _longer(self, word: str) -> list[str]:
        if len(word) < _SHORTEST:
            return []
        if not self._sorted:
            self._sorted = sorted(self._vocabulary)
        start = bisect_left(self._sorted, word)
        same = takewhile(lambda term: term.startswith(word), islice(self._sorted, start, None))
        longer = [t for t in same if t.isalpha() and len(t) - len(word) <= _LONGEST_ENDING]
        return sorted(longer, key=lambda term: (-self._frequency(term), term))[:_MAX_LONGER]

    def _shorter(self, word: str) -> list[str]:
        shortest = max(_SHORTEST, len(word) * 3 // 5)
        cut = (word[:end] for end in range(len(word) - 1, shortest - 1, -1))
        return list(islice((term for term in cut if self._frequency(term)), 1))
