"""The chunker for everything without a parser of its own, and the fallback when one fails."""

from __future__ import annotations

import re
from itertools import pairwise

from ragmachine.chunking.builder import TEXT, Block

# a blank line followed by a line that starts in column 0: a paragraph, a top-level definition
_BOUNDARY = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))*(?=[^\s)}\]])")


def line_blocks(text: str) -> list[Block]:
    """Tile a text at blank lines that end a paragraph or a top-level block."""
    cuts = [0, *(match.end() for match in _BOUNDARY.finditer(text)), len(text)]
    return [Block(a, b, TEXT) for a, b in pairwise(cuts) if a < b]
