"""The chunker that knows no format: as many whole lines as fit, and then the next."""

from __future__ import annotations

from ragmachine.chunking.builder import TEXT, Block, cut_lines


def fixed_blocks(text: str, max_chars: int) -> list[Block]:
    """Tile a text into runs of lines as long as `max_chars` allows; a longer line is cut."""
    return [Block(start, end, TEXT) for start, end in cut_lines(text, 0, len(text), max_chars)]
