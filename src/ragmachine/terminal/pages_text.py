"""How the pages of documents were read, in a line."""

from __future__ import annotations

from ragmachine.places import PageTotals

_WORDS = {
    "ocr": "read by OCR",
    "model": "read by a vision model",
    "empty": "empty",
    "unread": "not read",
}
_NAMED = 3


def pages_text(totals: PageTotals) -> str:
    """Totals, and the names of documents that are empty throughout."""
    parts = [f"{totals.pages:,} in {_counted(len(totals.by_file), 'document')}"]
    for kind, words in _WORDS.items():
        pages, files = totals.of(kind)
        if pages:
            parts.append(f"{pages:,} {words} in {_counted(files, 'file')}")
    empty = totals.empty_files
    if empty:
        more = f" and {len(empty) - _NAMED:,} more" if len(empty) > _NAMED else ""
        parts.append(f"nothing in {', '.join(empty[:_NAMED])}{more}")
    return "; ".join(parts)


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"
