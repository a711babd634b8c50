"""The yardstick of the chunkers: lines up to a length, whatever they hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from promises import cut
from test_chunk_promises import LIMITS, TEXTS

from ragmachine.chunking.document import chunk_document


@settings(max_examples=80, deadline=None)
@given(text=TEXTS, max_chars=LIMITS)
def test_any_text_is_covered_once_and_within_the_limit(text: str, max_chars: int) -> None:
    """The promises of every chunker: exact text, every line, no chunk over the limit."""
    cut("a.py", text, max_chars=max_chars, chunker="fixed")


@settings(max_examples=80, deadline=None)
@given(text=TEXTS, max_chars=LIMITS)
def test_overlap_stays_within_the_limit(text: str, max_chars: int) -> None:
    """The repeated lines are whole, no more than was asked, and count towards the limit."""
    cut("a.md", text, max_chars=max_chars, overlap_chars=max_chars // 3, chunker="fixed")


def test_lines_fill_a_chunk_whatever_they_are() -> None:
    """A class is cut in its middle where the limit falls, and the next starts in the same chunk."""
    text = "class A:\n    a = 1\n    b = 2\nclass B:\n    c = 3\n"
    assert cut("a.py", text, max_chars=29, chunker="fixed") == [
        "class A:\n    a = 1\n    b = 2",
        "class B:\n    c = 3",
    ]
    assert cut("a.py", text, max_chars=20, chunker="fixed") == [
        "class A:\n    a = 1",
        "    b = 2\nclass B:",
        "    c = 3",
    ]


def test_an_overlap_repeats_the_last_lines() -> None:
    """Each chunk begins with the whole lines of the one before that fit into the overlap."""
    text = "".join(f"line {number}\n" for number in range(6))
    chunks = cut("a.txt", text, max_chars=21, overlap_chars=7, chunker="fixed")
    assert chunks == [
        "line 0\nline 1",
        "line 1\nline 2\nline 3",
        "line 3\nline 4\nline 5",
    ]


def test_chunks_have_no_label() -> None:
    """Where a chunk stands in its document is what this chunker does not know."""
    document = chunk_document("a.py", "def f():\n    pass\n", max_chars=99, chunker="fixed")
    assert [context.label() for piece in document.pieces for context in piece.contexts] == [""]
    assert document.file_type == "python"


def test_an_unknown_chunker_is_a_mistake() -> None:
    """The command line offers the known ones."""
    with pytest.raises(ValueError, match="no chunker is called 'semantic'"):
        chunk_document("a.py", "x", max_chars=10, chunker="semantic")
