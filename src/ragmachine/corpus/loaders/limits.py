"""How much of anything one document may take; beyond it the document, or a page, is refused."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one document.

    Attributes:
        max_chars: of the text that is read out of it.
        max_pages: pages beyond are left out and reported.
        max_seconds: of work, for opening a document, and for one whose pages do not come singly.
        max_page_seconds: of work, for one page and the text in its image.
        max_memory_bytes: address space of the process that reads it, where the system has limits.
        max_unpacked_bytes: of what is packed in it.
        max_parsed_bytes: of JSON, a table or a notebook, which are parsed as a whole.
        max_inline_bytes: of the same, for being read in the process that indexes.
        max_line_chars: of one line of a table of records.
        max_columns: of a table of records.
        max_pixels: of the image made of a page.
    """

    max_chars: int = 50_000_000
    max_pages: int = 5_000
    max_seconds: float = 60.0
    max_page_seconds: float = 60.0
    max_memory_bytes: int = 4 << 30
    max_unpacked_bytes: int = 200_000_000
    max_parsed_bytes: int = 200_000_000
    max_inline_bytes: int = 1_000_000
    max_line_chars: int = 1_000_000
    max_columns: int = 1_000
    max_pixels: int = 6_000_000
