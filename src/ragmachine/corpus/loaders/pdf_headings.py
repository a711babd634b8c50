"""Which lines of a PDF are headings, and of what level: by its bookmarks, then by their fonts."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import median
from typing import Any

_LARGER = 1.13  # times the size of the text
_LARGER_OCR = 1.25  # sizes of lines in images are rough
_SAME_OCR = 0.75  # of a level's largest size, down to which lines in images are of that level
_MAX_CHARS = 140
_MAX_BOLD_CHARS = 90
_MAX_LEVELS = 5
_MAX_SHARE = 0.35  # of all characters; what is more than that is no heading but the text
_LONG_CHARS = 40  # in a line as long, widths of letters even out
_WIDEST = 1.3  # times what its height says a line's size may be
_NARROW, _USUAL, _WIDE = 0.3, 0.54, 0.72  # widths of letters, in sizes of the font
_THIN = frozenset("iljtfrI .,:;'!|()[]-")
_ENDING = re.compile(r"[.,;:!?)]\Z")
_NUMBERING = re.compile(r"\A(?:chapter|section|appendix)?\s*[\dA-Z]{0,4}(?:\.\d+)*[.:)]?\s+", re.I)

_Line = tuple[int, int, dict[str, Any]]  # page and position, both from 0, and the item


def heading_levels(
    pages: Sequence[dict[str, Any]], toc: Sequence[Sequence[Any]]
) -> dict[tuple[int, int], int]:
    """Levels from 1 by (page, item), both from 0.

    Args:
        pages: parses of pages.
        toc: bookmarks as (level, title, page from 1).
    """
    marked = _by_bookmarks(pages, toc)
    if len(marked) >= max(3, len(toc) // 2):
        return marked
    return {**_by_fonts(pages), **marked}


def _by_bookmarks(
    pages: Sequence[dict[str, Any]], toc: Sequence[Sequence[Any]]
) -> dict[tuple[int, int], int]:
    wanted: dict[int, dict[str, int]] = defaultdict(dict)
    for level, title, page in toc:
        wanted[int(page) - 1].setdefault(_bare(str(title)), min(int(level), 6))
    found: dict[tuple[int, int], int] = {}
    for number, titles in wanted.items():
        for position, item in enumerate(pages[number]["items"] if number < len(pages) else ()):
            level = titles.get(_bare(item.get("text", "")), 0)
            if level and item.get("text", "").strip():
                found[number, position] = level
                titles.pop(_bare(item["text"]))
    return found


def _bare(title: str) -> str:
    """A title without its number, blanks and signs."""
    text = _NUMBERING.sub("", title.strip())
    return re.sub(r"\W+", "", text or title).lower()


def _by_fonts(pages: Sequence[dict[str, Any]]) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for source in ("text", "ocr", "model"):
        chosen = [number for number, page in enumerate(pages) if page.get("source") == source]
        lines = [
            (number, position, item)
            for number in chosen
            for position, item in enumerate(pages[number]["items"])
            if item.get("text", "").strip()
        ]
        if source == "ocr":
            found.update(_levels(_with_sizes(lines), _LARGER_OCR, _SAME_OCR))
        else:
            found.update(_levels(lines, _LARGER))
    return found


def _with_sizes(lines: Sequence[_Line]) -> list[_Line]:
    """Lines read in images, with sizes that tell headings from text.

    The height of a short line depends on which letters reach above and below, its width on which
    are narrow: the mean of what both say is nearer to the font's size than either. One that is wide
    and low has a gap in it, as between a running foot and its number.
    """
    units = [(item["x1"] - item["x0"]) / _ems(item["text"]) for _, _, item in lines]
    long = [
        unit / item["size"]
        for unit, (_, _, item) in zip(units, lines, strict=True)
        if len(item["text"]) >= _LONG_CHARS and item["size"] > 0
    ]
    usual = median(long) if long else 0.0
    sized = []
    for unit, (page, at, item) in zip(units, lines, strict=True):
        size = item["size"]
        if usual > 0 and size > 0 and len(item["text"]) < _LONG_CHARS:
            size *= min((unit / usual / size) ** 0.5, _WIDEST)
        sized.append((page, at, {**item, "size": size}))
    return sized


def _ems(text: str) -> float:
    """About how wide a text is, in sizes of its font."""
    return sum(_NARROW if char in _THIN else _WIDE if char.isupper() or char in "mw@%" else _USUAL
               for char in text)  # fmt: skip


def _levels(lines: Sequence[_Line], larger: float, same: float = 1.0) -> dict[tuple[int, int], int]:
    """Levels by size; one level holds sizes down to `same` times its largest."""
    chars: Counter[float] = Counter()
    bold = 0
    for _, _, item in lines:
        chars[_step(item["size"])] += len(item["text"])
        bold += len(item["text"]) * item["bold"]
    if not chars:
        return {}
    body = chars.most_common(1)[0][0]
    total = chars.total()
    large = [row for row in lines if _is_large(row[2], body * larger)]
    if sum(len(item["text"]) for _, _, item in large) > _MAX_SHARE * total:
        return {}
    level_of: dict[float, int] = {}
    largest, level = math.inf, 0
    for size in sorted({_step(item["size"]) for _, _, item in large}, reverse=True):
        if size < same * largest or not level:
            largest, level = size, level + 1
        level_of[size] = min(level, _MAX_LEVELS)
    found = {(page, at): level_of[_step(item["size"])] for page, at, item in large}
    if bold < _MAX_SHARE * total:
        lowest = min(level + 1, _MAX_LEVELS + 1)
        for (page, at, item), after in zip(lines, [*lines[1:], None], strict=True):
            if (page, at) not in found and _is_bold_heading(item, body, after and after[2]):
                found[page, at] = lowest
    return found


def _step(size: float) -> float:
    return round(size * 2) / 2


def _is_large(item: dict[str, Any], least: float) -> bool:
    text = item["text"].strip()
    has_letters = sum(map(str.isalpha, text)) >= 2
    return bool(item["size"] >= least and has_letters and len(text) <= _MAX_CHARS)


def _is_bold_heading(item: dict[str, Any], body: float, after: dict[str, Any] | None) -> bool:
    """Whether a bold line of the text's size stands alone above text."""
    text = item["text"].strip()
    if not item["bold"] or item["mono"] or item["size"] < 0.93 * body:
        return False
    if len(text) > _MAX_BOLD_CHARS or _ENDING.search(text) or not text[0].isalnum():
        return False
    return after is not None and not after["bold"] and any(map(str.isalpha, text))
