"""Which lines of a PDF are headings, and of what level: by its bookmarks, then by their fonts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

_LARGER = 1.13  # times the size of the text
_LARGER_OCR = 1.35  # heights of boxes in images are rough
_MAX_CHARS = 140
_MAX_BOLD_CHARS = 90
_MAX_LEVELS = 5
_MAX_SHARE = 0.35  # of all characters; what is more than that is no heading but the text
_ENDING = re.compile(r"[.,;:!?)]\Z")
_NUMBERING = re.compile(r"\A(?:chapter|section|appendix)?\s*[\dA-Z]{0,4}(?:\.\d+)*[.:)]?\s+", re.I)


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
    for source, larger in (("text", _LARGER), ("ocr", _LARGER_OCR)):
        chosen = [number for number, page in enumerate(pages) if page.get("source") == source]
        lines = [
            (number, position, item)
            for number in chosen
            for position, item in enumerate(pages[number]["items"])
            if item.get("text", "").strip()
        ]
        found.update(_levels(lines, larger))
    return found


def _levels(
    lines: Sequence[tuple[int, int, dict[str, Any]]], larger: float
) -> dict[tuple[int, int], int]:
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
    sizes = sorted({_step(item["size"]) for _, _, item in large}, reverse=True)
    level_of = {size: min(level, _MAX_LEVELS) for level, size in enumerate(sizes, start=1)}
    found = {(page, at): level_of[_step(item["size"])] for page, at, item in large}
    if bold < _MAX_SHARE * total:
        lowest = min(len(level_of) + 1, _MAX_LEVELS + 1)
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
