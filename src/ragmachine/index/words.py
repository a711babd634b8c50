"""Raw words and their terms as numbers, so that a batch of files becomes columns of them."""

from __future__ import annotations

from array import array
from itertools import islice

import numpy as np

from ragmachine.index.postings import Ints
from ragmachine.index.tokens import Tokenizer

_WHOLE = "\0"  # begins no word of a text


def whole(term: str) -> str:
    """A raw word that stands for one term, and for none of its parts."""
    return _WHOLE + term


class _Ids(dict[str, int]):
    """Numbers strings in the order they are first looked up; the lookup is plain indexing."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


class Words:
    """Raw words and the terms they expand to, numbered once per process.

    A corpus repeats its words: what one batch has expanded, the next finds done.
    """

    def __init__(self) -> None:
        self.tokenizer = Tokenizer()
        self.raw = _Ids()
        self._terms = _Ids()
        self._names: list[str] = []
        self._flat = array("q")
        self._lengths = array("q")

    def expansions(self) -> tuple[Ints, Ints, Ints]:
        """(term numbers of all raw words in order, how many each has, where they start)."""
        expand, number = self.tokenizer.expand, self._terms.__getitem__
        for raw in islice(self.raw, len(self._lengths), None):
            terms = (raw[1:],) if raw[0] == _WHOLE else expand(raw)
            self._flat.extend(map(number, terms))
            self._lengths.append(len(terms))
        flat = np.array(self._flat, dtype=np.int64)
        lengths = np.array(self._lengths, dtype=np.int64)
        return flat, lengths, np.cumsum(lengths) - lengths

    def names(self, numbers: Ints) -> list[str]:
        """The terms of these numbers."""
        self._names.extend(islice(self._terms, len(self._names), None))
        return [self._names[number] for number in numbers.tolist()]
