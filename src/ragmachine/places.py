"""Places in documents whose bytes are not their text: pages, rows, cells."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

_PLACE = re.compile(r"(.*?)(\d+)(?:-(\d+))?", re.S)


def joined_place(first: str, last: str) -> str:
    """Two places of a document, in order, as one: ``p.2`` and ``p.4`` are ``p.2-4``."""
    head, tail = _PLACE.fullmatch(first), _PLACE.fullmatch(last)
    if first == last or not head or not tail or head[1] != tail[1]:
        return first
    return f"{head[1]}{head[2]}-{tail[3] or tail[2]}"


def place_of(starts: Sequence[int], places: Sequence[str], start: int, end: int) -> str:
    """The place of a range of a document's text: ``p.2``, or ``p.2-3`` where it runs on.

    Args:
        starts: where its parts start, ascending.
        places: of the same parts; "" comes of none.
        start: of the range, in characters.
        end: of the range, exclusive.
    """
    if not places:
        return ""
    first = max(bisect_right(starts, start) - 1, 0)
    last = max(bisect_right(starts, max(start, end - 1)) - 1, first)
    return joined_place(places[first], places[last])
