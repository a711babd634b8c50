"""Where on its page each line of a document's text stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ragmachine.places import Box

_PLACED = ("text", "ocr")  # sources of pages whose items stand where their numbers say


class Boxes:
    """Collects the boxes of lines and rows, by where each begins in the text."""

    def __init__(self) -> None:
        self._found: list[tuple[int, Box | None]] = []
        self._height = 0.0
        self._is_placed = False

    def page(self, parse: Mapping[str, Any]) -> None:
        """Another page begins."""
        self._height = parse["height"]
        self._is_placed = parse.get("source") in _PLACED

    def of(self, item: Mapping[str, Any]) -> Box | None:
        """The box of an item of this page, widened to whole points; None where it is unknown.

        What is turned against its page was put below it, so that it is read last.
        """
        return self._box(item, item["top"], item["bottom"])

    def add(self, start: int, box: Box | None) -> None:
        """Text stands in a box from there on."""
        self._found.append((start, box))

    def add_rows(
        self, start: int, text: str, item: Mapping[str, Any], numbers: Iterable[int]
    ) -> None:
        """Rows of a table stand in it, each below the one before.

        Args:
            start: of their text.
            text: the rows, a line each.
            item: the table.
            numbers: for each line, the row of the table that it says.
        """
        for line, number in zip(text.splitlines(keepends=True), numbers, strict=True):
            self.add(start, self._row(item, number))
            start += len(line)

    def found(self) -> tuple[tuple[int, Box | None], ...]:
        """All of them."""
        return tuple(self._found)

    def _row(self, item: Mapping[str, Any], number: int) -> Box | None:
        tops = [*item.get("tops", ()), item["bottom"]]
        if number + 1 >= len(tops):
            return self.of(item)
        return self._box(item, tops[number], tops[number + 1])

    def _box(self, item: Mapping[str, Any], top: float, bottom: float) -> Box | None:
        if not self._is_placed or item["top"] >= self._height:
            return None
        left, right = math.floor(max(item["x0"], 0)), math.ceil(item["x1"])
        return left, math.floor(max(top, 0)), right, math.ceil(min(bottom, self._height))
