"""What every chunker promises of every file, checked from the outside; shared by these tests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragmachine.chunking.builder import Piece
from ragmachine.chunking.document import chunk_document

LINE_END = re.compile(r"\r\n|\r|\n")


def cut(
    path: str,
    text: str,
    *,
    max_chars: int = 2000,
    overlap_chars: int = 0,
    chunker: str = "structure",
) -> list[str]:
    """The chunks of a document as text, once the promises are checked."""
    document = chunk_document(
        path, text, max_chars=max_chars, overlap_chars=overlap_chars, chunker=chunker
    )
    check(text, document.pieces, max_chars=max_chars, overlap_chars=overlap_chars)
    return [text[piece.start : piece.end] for piece in document.pieces]


def section_labels(path: str, text: str, max_chars: int = 40) -> list[str]:
    """The labels of a document's sections, each once, in order."""
    document = chunk_document(path, text, max_chars=max_chars)
    found = [context.label() for piece in document.pieces for context in piece.contexts]
    return list(dict.fromkeys(found))


def check(text: str, pieces: Sequence[Piece], *, max_chars: int, overlap_chars: int = 0) -> None:
    """Order, limit, cover, overlap and outer blank lines of a document's pieces."""
    starts = {0, *(match.end() for match in LINE_END.finditer(text))}
    covered = 0
    for piece in pieces:
        body = text[piece.start : piece.end]
        assert 0 < len(body) <= max_chars
        assert not is_blank(body[-1])
        assert not is_blank(LINE_END.split(body)[0])
        if piece.start < covered:
            assert covered - piece.start <= overlap_chars
            assert piece.start in starts
        else:
            assert is_blank(text[covered : piece.start])
        assert covered < piece.end
        covered = piece.end
    assert is_blank(text[covered:])


def is_blank(text: str) -> bool:
    """Whether a reader sees nothing: white space and byte order marks."""
    return not text.replace("\ufeff", "").strip()
