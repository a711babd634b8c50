"""Jupyter notebooks: cells of prose as Markdown, cells of code fenced, outputs left out."""

from __future__ import annotations

import json
import re
from typing import Any

from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, Writer, clean_text, fenced

# what begins an image that may be pasted into a cell, as data
_PASTED = re.compile(r"!\[[^\]]{0,200}\]\((?:attachment:|data:)|<img\s")


class NotebookLoader:
    """Reads notebooks of the formats 3 and 4."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def load(self, path: str, data: bytes) -> Loaded | None:
        """See `registry.Loader`; cells are counted from 1, empty ones too."""
        if not data.strip():
            return None
        try:
            document = json.loads(data.decode("utf-8-sig"))
        except (ValueError, RecursionError):  # no JSON, or nested too deeply
            return None
        cells = _cells(document)
        if cells is None:
            return None
        writer = Writer(self._limits.max_chars)
        language = _language(document)
        for number, cell in enumerate(cells, start=1):
            text = _cell_text(cell, language)
            if text:
                writer.at(f"cell {number}")
                writer.write(text + "\n\n")
        return Loaded(writer.text(), "notebook", places=tuple(writer.places))


def _cells(document: Any) -> list[dict[str, Any]] | None:
    """The cells of a notebook; None where there can be none."""
    if not isinstance(document, dict):
        return None
    sheets = document.get("worksheets")
    if isinstance(sheets, list):  # format 3
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    else:
        lists = [document.get("cells")]
    if not all(isinstance(cells, list) for cells in lists):
        return None
    return [cell if isinstance(cell, dict) else {} for cells in lists for cell in cells or ()]


def _language(document: dict[str, Any]) -> str:
    found: Any = document.get("metadata")
    for name in ("kernelspec", "language"):
        found = found.get(name) if isinstance(found, dict) else None
    return re.sub(r"\W", "", found.lower()) if isinstance(found, str) else "python"


def _cell_text(cell: dict[str, Any], language: str) -> str:
    kind = cell.get("cell_type")
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    text = clean_text(source).strip("\n") if isinstance(source, str) else ""
    if not text.strip():
        return ""
    if kind == "code":
        return fenced(text, language)
    text = _without_pasted(text)
    if kind == "heading":
        level = cell.get("level")
        return "#" * (level if isinstance(level, int) and 0 < level < 7 else 1) + " " + text
    return text


def _without_pasted(text: str) -> str:
    """A cell's prose without images that are data; in time that grows with its length alone."""
    ends = {"!": _Next(text, ")"), "<": _Next(text, ">")}
    data = _Next(text, "data:")
    parts: list[str] = []
    done = 0
    for match in _PASTED.finditer(text):
        start, body = match.span()
        sign = text[start]
        end = ends[sign].at(body)
        if start >= done and end < len(text) and (sign == "!" or data.at(body) < end):
            parts.append(text[done:start])
            done = end + 1
    return "".join(parts) + text[done:]


class _Next:
    """Where a text says something next, for positions that only grow: nothing is read twice."""

    def __init__(self, text: str, wanted: str) -> None:
        self._text = text
        self._wanted = wanted
        self._found = -1

    def at(self, position: int) -> int:
        """The first place from there on; the text's length where there is none."""
        if self._found < position:
            found = self._text.find(self._wanted, position)
            self._found = found if found >= 0 else len(self._text)
        return self._found
