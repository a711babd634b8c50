"""The chunker for everything without a parser of its own, and the fallback when one fails."""

from __future__ import annotations

import re
from itertools import pairwise

from ragmachine.chunking.builder import TEXT, Block

# Possessive, and never looking back: a run of blank lines is read once, however long it is.
_WHITE_RUN = re.compile(r"[\r\n]\s*+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_CLOSERS = ")}]"


def line_blocks(text: str) -> list[Block]:
    """Tile a text at blank lines that end a paragraph or a top-level block.

    That is where a blank line is followed by one that starts in column 0 with no closing bracket.
    """
    cuts = [0, *_boundaries(text), len(text)]
    return [Block(start, end, TEXT) for start, end in pairwise(cuts) if start < end]


def _boundaries(text: str) -> list[int]:
    cuts = []
    for run in _WHITE_RUN.finditer(text):
        white, end = run.group(), run.end()
        if len(white) == 1 or white[-1] not in "\r\n" or text[end : end + 1] in _CLOSERS:
            continue
        if len(_LINE_END.findall(white)) > 1:
            cuts.append(end)
    return cuts
