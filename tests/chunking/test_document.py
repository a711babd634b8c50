"""The chunker of a file is chosen by its name."""

from __future__ import annotations

import pytest

from ragmachine.chunking.document import chunk_document


@pytest.mark.parametrize(
    ("path", "file_type", "kind"),
    [
        ("src/a.py", "python", "function"),
        ("src/a.pyi", "python", "function"),
        ("A.PY", "python", "function"),
        ("docs/a.md", "markdown", "section"),
        ("docs/a.markdown", "markdown", "section"),
        ("a.rst", "rst", "section"),
        ("a.adoc", "asciidoc", "section"),
        ("a.txt", "text", "text"),
        ("LICENSE", "text", "text"),
        ("a.cpp", "cpp", "module"),
        ("a.yaml", "yaml", "text"),
        ("a.unheard", "text", "text"),
    ],
)
def test_the_name_decides(path: str, file_type: str, kind: str) -> None:
    """Markdown and code have parsers; the rest is text."""
    document = chunk_document(path, "def f():\n    pass\n", max_chars=2000)
    assert document.file_type == file_type
    assert [context.kind for piece in document.pieces for context in piece.contexts] == [kind]


def test_cython_is_not_python() -> None:
    """A file that no Python parser reads is not reported as broken Python."""
    assert chunk_document("a.pyx", "cdef int x = 1\n", max_chars=2000).problem == ""


@pytest.mark.parametrize(
    ("path", "sizes"),
    [("a.txt", [1198, 798]), ("a.py", [1198, 798]), ("a.md", [798, 798, 398])],
)
def test_packing_aims_at_less_than_the_limit(path: str, sizes: list[int]) -> None:
    """Markdown sections are packed up to 1,000 characters, code and plain text up to 1,500."""
    part = ("# A\n\n" if path == "a.md" else "x" * 5) + "x" * 393 + "\n\n"
    pieces = chunk_document(path, part * 5, max_chars=2000).pieces
    assert [piece.end - piece.start for piece in pieces] == sizes
