"""Postings as one sortable integer each: cheap to merge, to group and to hand between processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Counted = tuple[Ints, Ints, Ints]
TERM_SHIFT = 35
_ITEM_SHIFT = 8
_ITEM_BITS = 27
_ITEMS = (1 << _ITEM_BITS) - 1
_COUNTS = 0xFF
# Postings in one step of arithmetic, so that what lies between two operations stays in the
# processor's cache: over whole columns of millions, fresh memory pages cost more than the sums.
_BLOCK = 1 << 15
MAX_COUNT = 255  # a posting's count is one byte on disk; BM25 has saturated long before


def pack(term: Ints, item: Ints, count: Ints) -> Ints:
    """Postings as sortable integers: 28 bits of term, 27 of item, 8 of count."""
    return (term << TERM_SHIFT) | (item << _ITEM_SHIFT) | np.minimum(count, MAX_COUNT)


def unpack(packed: Ints) -> Counted:
    """The (term, item, count) columns of `pack`."""
    return packed >> TERM_SHIFT, (packed >> _ITEM_SHIFT) & _ITEMS, packed & _COUNTS


def blocks(packed: Ints) -> Iterator[Ints]:
    """Views of the postings, in order, each of a size to compute with."""
    for start in range(0, packed.size, _BLOCK):
        yield packed[start : start + _BLOCK]


def renumber(packed: Ints, term_number: Ints, item_number: Ints) -> None:
    """Give postings the numbers that the tables have for theirs, in place; their order stays.

    Args:
        packed: as `pack`; changed.
        term_number: (terms,) the new number of each term.
        item_number: (items,) the new number of each item.
    """
    for block in blocks(packed):
        new = term_number[block >> TERM_SHIFT]
        new <<= TERM_SHIFT
        new |= item_number[(block >> _ITEM_SHIFT) & _ITEMS] << _ITEM_SHIFT
        block &= _COUNTS
        block |= new


def from_columns(
    indptr: Ints, items: npt.NDArray[Any], counts: npt.NDArray[Any], is_kept: npt.NDArray[np.bool_]
) -> Ints:
    """Packed postings, ascending, of the items that are kept; those are numbered through.

    Args:
        indptr: (terms + 1,) where each term's postings start.
        items: (postings,) ascending within a term.
        counts: (postings,) at most `MAX_COUNT`.
        is_kept: (items,)
    """
    new_item = (np.cumsum(is_kept, dtype=np.int64) - 1) << _ITEM_SHIFT
    terms = np.arange(indptr.size - 1, dtype=np.int64) << TERM_SHIFT
    packed: Ints = np.repeat(terms, np.diff(indptr))
    done = 0
    for block in blocks(packed):
        part = slice(done, done + block.size)
        block |= new_item[items[part]]
        block |= counts[part]
        done += block.size
    return packed if is_kept.all() else packed[is_kept[items]]


def to_columns(
    packed: Ints, terms: int
) -> tuple[Ints, npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """(indptr, items, counts) of ascending postings, as `from_columns` takes them."""
    items = np.empty(packed.size, dtype=np.int32)
    counts = np.empty(packed.size, dtype=np.uint8)
    done = 0
    for block in blocks(packed):
        part = slice(done, done + block.size)
        items[part] = (block >> _ITEM_SHIFT) & _ITEMS
        counts[part] = block & _COUNTS
        done += block.size
    starts = np.arange(terms + 1, dtype=np.int64) << TERM_SHIFT
    return np.searchsorted(packed, starts).astype(np.int64), items, counts


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
        keys = (term << _ITEM_BITS) | np.repeat(item, counts)
        keys.sort()
        first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if keys.size else keys
        tally = np.diff(np.r_[first, keys.size])
        unique = keys[first]
        return pack(unique >> _ITEM_BITS, unique & _ITEMS, tally)


def group_counts(packed: Ints, group_of: Ints | None) -> Counted:
    """Sum the counts of sorted postings over groups of items.

    Args:
        packed: as `pack`, ascending.
        group_of: (items,) ascending group of each item, e.g. the chunk of a passage; None keeps
            the items as they are.
    Returns: (term, group, count) columns, ascending by term then group.
    """
    if group_of is None:
        return unpack(packed)
    return _grouped(map(unpack, blocks(packed)), group_of)


def regroup(counted: Counted, group_of: Ints) -> Counted:
    """Sum counts, as `group_counts` gives them, over groups of their groups."""
    parts = zip(*(blocks(column) for column in counted), strict=True)
    return _grouped(parts, group_of)


def _grouped(parts: Iterable[Counted], group_of: Ints) -> Counted:
    """Sum over groups, part by part; a group may go on in the part that follows."""
    keys: list[Ints] = []
    sums: list[Ints] = []
    last = -1
    for term, item, count in parts:
        key = (term << _ITEM_BITS) | group_of[item]
        first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
        total = np.add.reduceat(count, first)
        if key[0] == last:
            sums[-1][-1] += total[0]
            first, total = first[1:], total[1:]
        if first.size:
            keys.append(key[first])
            sums.append(total)
        last = int(key[-1])
    if not keys:
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing, nothing
    joined = np.concatenate(keys)
    return joined >> _ITEM_BITS, joined & _ITEMS, np.concatenate(sums)


def add_weighted(base: Counted, extra: Counted, weight: int) -> Counted:
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
