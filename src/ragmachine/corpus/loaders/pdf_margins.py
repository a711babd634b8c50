"""Running heads, feet and page numbers: what most pages repeat says nothing on each of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

_MARGIN = 0.12  # share of the page's height in which they stand, at the top and at the bottom
_MIN_PAGES = 3
_MIN_SHARE = 0.4  # left and right pages may have heads of their own
_NUMBER = re.compile(r"\d+")
_ONLY_NUMBER = re.compile(r"(?:page|seite|p\.?|of|von|/|\||[#\s.–—-])+", re.IGNORECASE)

# Of a line: its page and its position among the page's items.
_Spot = tuple[int, int]


def running_lines(pages: Sequence[dict[str, Any]]) -> set[_Spot]:
    """The items to leave out, as (page, item), both from 0.

    A repeated line counts as running when it is the same on many pages, or the same but for one
    number that grows with the pages. Where it says more than a number it is kept where it first
    stands, since a head may be the only place that names the product.
    """
    least = max(_MIN_PAGES, _MIN_SHARE * len(pages))
    left_out: set[_Spot] = set()
    for pattern, spots in _patterns(pages).items():
        steady = [spot for spot, offset in _steady(pattern, spots)]
        if len({page for page, _ in steady}) < least:
            continue
        is_number = bool(_ONLY_NUMBER.fullmatch(pattern))
        left_out.update(steady if is_number else sorted(steady)[1:])
    return left_out


def _patterns(pages: Sequence[dict[str, Any]]) -> dict[str, list[tuple[_Spot, list[int]]]]:
    """The lines of the margins by their text, numbers as ``#``, each with its numbers."""
    found: dict[str, list[tuple[_Spot, list[int]]]] = defaultdict(list)
    for number, page in enumerate(pages):
        for position, item in _margin_items(page):
            text = " ".join(str(item["text"]).split())
            pattern = _NUMBER.sub("#", text.lower())
            numbers = [int(digits[:9]) for digits in _NUMBER.findall(text)]
            found[pattern].append(((number, position), numbers))
    return found


def _margin_items(page: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    height = page["height"]
    for position, item in enumerate(page["items"]):
        is_outer = item["bottom"] < _MARGIN * height or item["top"] > (1 - _MARGIN) * height
        if "text" in item and is_outer:
            yield position, item


def _steady(
    pattern: str, spots: Sequence[tuple[_Spot, list[int]]]
) -> list[tuple[_Spot, tuple[int, ...]]]:
    """Those of the most frequent kind: each number the same, or as far from the page's number."""
    if "#" not in pattern:
        return [(spot, ()) for spot, _ in spots]
    kinds: dict[tuple[Any, ...], list[tuple[_Spot, tuple[int, ...]]]] = defaultdict(list)
    slots = len(spots[0][1])
    for spot, numbers in spots:
        for growing in range(-1, slots):  # which of the numbers is the page's; -1 for none
            key = tuple(
                value - spot[0] if slot == growing else value for slot, value in enumerate(numbers)
            )
            kinds[growing, key].append((spot, key))
    return max(kinds.values(), key=len)
