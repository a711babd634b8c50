"""Postings as one sortable integer each: cheap to merge, to group and to hand between processes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
TERM_SHIFT = 35
MAX_COUNT = 255  # a posting's count is one byte on disk; BM25 has saturated long before


def pack(term: Ints, item: Ints, count: Ints) -> Ints:
    """Postings as sortable integers: 28 bits of term, 27 of item, 8 of count."""
    return (term << TERM_SHIFT) | (item << 8) | np.minimum(count, MAX_COUNT)


def unpack(packed: Ints) -> tuple[Ints, Ints, Ints]:
    """The (term, item, count) columns of `pack`."""
    return packed >> TERM_SHIFT, (packed >> 8) & ((1 << 27) - 1), packed & 0xFF


def term_of(packed: Ints) -> Ints:
    """The terms of postings."""
    return packed >> TERM_SHIFT


def with_terms_of(packed: Ints, used: Ints) -> Ints:
    """Postings whose terms are numbered by their position in `used`, which is ascending."""
    term, item, count = unpack(packed)
    return pack(np.searchsorted(used, term), item, count)


class WordBags:
    """The raw words of items, by number, to be counted as postings."""

    def __init__(self) -> None:
        self._words: list[int] = []
        self._lengths: list[int] = []

    def add(self, words: Sequence[int]) -> None:
        """Append an item."""
        self._words.extend(words)
        self._lengths.append(len(words))

    def postings(self, flat: Ints, lengths: Ints, starts: Ints) -> Ints:
        """Expand the words to terms and count each term per item; packed, ascending.

        Args:
            flat: the terms of all raw words, in order.
            lengths: how many terms each raw word has.
            starts: where in `flat` they start.
        """
        raw = np.array(self._words, dtype=np.int64)
        if not raw.size:
            return np.empty(0, dtype=np.int64)
        item = np.repeat(np.arange(len(self._lengths)), np.array(self._lengths, dtype=np.int64))
        counts = lengths[raw]
        total = int(counts.sum())
        within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        term = flat[np.repeat(starts[raw], counts) + within]
        keys = (term << 27) | np.repeat(item, counts)
        keys.sort()
        first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if keys.size else keys
        tally = np.diff(np.r_[first, keys.size])
        unique = keys[first]
        return pack(unique >> 27, unique & ((1 << 27) - 1), tally)


def group_counts(packed: Ints, group_of: Ints | None) -> tuple[Ints, Ints, Ints]:
    """Sum the counts of sorted postings over groups of items.

    Args:
        packed: as `pack`, ascending.
        group_of: (items,) ascending group of each item, e.g. the chunk of a passage; None keeps
            the items as they are.
    Returns: (term, group, count) columns, ascending by term then group.
    """
    term, item, count = unpack(packed)
    if group_of is None:
        return term, item, count
    group = group_of[item] if group_of.size else item
    if not term.size:
        return term, group, count
    is_first = np.r_[True, (term[1:] != term[:-1]) | (group[1:] != group[:-1])]
    first = np.flatnonzero(is_first)
    return term[first], group[first], np.add.reduceat(count, first)


def add_weighted(
    base: tuple[Ints, Ints, Ints], extra: tuple[Ints, Ints, Ints], weight: int
) -> tuple[Ints, Ints, Ints]:
    """Add `weight` times the counts of `extra` to `base`; columns ascending by term then item."""
    key = np.r_[(base[0] << 32) | base[1], (extra[0] << 32) | extra[1]]
    count = np.r_[base[2], weight * extra[2]]
    order = np.argsort(key, kind="stable")  # two sorted runs: the stable sort merges them
    key, count = key[order], count[order]
    if not key.size:
        return base
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    key = key[first]
    return key >> 32, key & 0xFFFFFFFF, np.add.reduceat(count, first)
