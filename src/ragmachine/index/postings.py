"""Postings as one sortable integer each: cheap to merge, to group and to hand between processes."""

from __future__ import annotations

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
