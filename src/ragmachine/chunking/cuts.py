"""Where to cut a block that nothing but its lines divides; the builder's, nobody else's."""

from __future__ import annotations

import re

LINE_END = re.compile(r"\r\n|\r|\n")
CRUMBS_PER_CHUNK = 25  # less than this part of the limit is no chunk worth having


def cut_without_crumbs(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """Cut at line ends into full ranges; two at the end share what would leave a small one.

    So no closing bracket is left over, nor an opening one before a line that is cut anyway.
    """
    ranges = []
    while end - start > limit:
        rest = end - start - limit
        fair = start + (limit if rest > limit // 4 else (end - start) // 2)
        cut = _cut_near(text, start, fair, start + limit)
        ranges.append((start, cut))
        start = cut
    ranges.append((start, end))
    return ranges


def _cut_near(text: str, start: int, fair: int, last: int) -> int:
    """The first line end in fair..last, else the last one before, else a place within the line."""
    low = max(fair, start + 1)
    found = LINE_END.search(text, low - 1, last)
    if found and not _parts_line_end(text, found.end()):
        return found.end()
    cut = max(text.rfind("\n", start, low - 1), text.rfind("\r", start, low - 1)) + 1
    if cut > start and not _parts_line_end(text, cut):
        is_crumb = cut - start <= (last - start) // CRUMBS_PER_CHUNK
        if not is_crumb or LINE_END.search(text, last, cut + last - start):
            return cut
    cut = text.rfind(" ", max(start, low - (last - start) // 5), low) + 1 or low
    if _parts_line_end(text, cut):
        cut += -1 if cut > start + 1 else 1
    return min(cut, last)


def _parts_line_end(text: str, offset: int) -> bool:
    """Whether an offset parts a CR LF pair."""
    return text[offset - 1 : offset + 1] == "\r\n"
