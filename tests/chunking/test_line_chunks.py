"""Everything without a parser is cut at blank lines, then at line ends."""

from __future__ import annotations

import pytest
from promises import cut

from ragmachine.chunking.builder import Block, ChunkBuilder, LineMap
from ragmachine.chunking.cuts import cut_without_crumbs
from ragmachine.chunking.lines import line_blocks


def blocks(text: str) -> list[str]:
    """The blocks of a text."""
    return [text[block.start : block.end] for block in line_blocks(text)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CR LF", "CR"])
def test_a_blank_line_ends_a_paragraph(end: str) -> None:
    """The blank lines belong to the paragraph before them."""
    text = f"one{end}two{end}{end} {end}three{end}"
    assert blocks(text) == [f"one{end}two{end}{end} {end}", f"three{end}"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("one\ntwo", id="no blank line"),
        pytest.param("f() {\n    a;\n\n    b;\n}\n", id="indented line"),
        pytest.param("f() {\n    a;\n\n}\n", id="closing bracket"),
        pytest.param("one\n\n\n", id="end of file"),
    ],
)
def test_what_ends_no_paragraph(text: str) -> None:
    """Blank lines inside a block or at the end do not part it."""
    assert blocks(text) == [text]


def test_no_text_has_no_block() -> None:
    """An empty file is not one empty block."""
    assert line_blocks("") == []


def test_paragraphs_are_packed_up_to_the_limit() -> None:
    """Three paragraphs of 60 fill two chunks of at most 150."""
    paragraph = "x" * 58 + "\n\n"
    assert [len(chunk) for chunk in cut("a.txt", paragraph * 3, max_chars=150)] == [118, 58]


def test_a_line_over_the_limit_is_cut_at_a_space() -> None:
    """Words stay whole where the last fifth of the limit has a space."""
    chunks = cut("a.txt", "word " * 100, max_chars=52)
    assert all(set(chunk.split()) == {"word"} for chunk in chunks)


def test_a_line_without_spaces_is_cut_at_the_limit() -> None:
    """500 characters are two full chunks and two that share the rest evenly."""
    assert [len(chunk) for chunk in cut("a.txt", "x" * 450, max_chars=200)] == [200, 125, 125]


@pytest.mark.parametrize(
    ("text", "limit", "sizes"),
    [
        pytest.param("abcd\n" * 4, 20, [20], id="fits"),
        pytest.param("abcd\n" * 5, 20, [15, 10], id="rest shared"),
        pytest.param("abcd\n" * 6, 20, [20, 10], id="rest large enough"),
        pytest.param("[\n" + "x" * 70, 50, [50, 22], id="bracket before a long line"),
        pytest.param("ab\r\n" * 2, 5, [4, 4], id="CR LF"),
        pytest.param("\r\n", 1, [1, 1], id="CR LF at limit 1"),
        pytest.param("abc", 1, [1, 1, 1], id="limit 1"),
    ],
)
def test_ranges_without_crumbs(text: str, limit: int, sizes: list[int]) -> None:
    """Full ranges, but the last two share what would leave less than a quarter."""
    ranges = cut_without_crumbs(text, 0, len(text), limit)
    assert [end - start for start, end in ranges] == sizes
    assert "".join(text[start:end] for start, end in ranges) == text


def test_overlap_repeats_the_last_lines() -> None:
    """At most so many characters, in whole lines."""
    text = "".join(f"line {i}\n" for i in range(10))
    chunks = cut("a.txt", text, max_chars=35, overlap_chars=10)
    assert chunks[0] == "line 0\nline 1\nline 2"
    assert chunks[1].startswith("line 2\nline 3\n")


def test_overlap_repeats_no_blank_lines() -> None:
    """A chunk does not begin with the blank lines that part it from the one before."""
    text = "x" * 30 + "\n\n\n\n" + "y" * 30
    assert cut("a.txt", text, max_chars=40, overlap_chars=8) == ["x" * 30, "y" * 30]


def test_a_chunk_keeps_the_indentation_of_its_first_line() -> None:
    """Only whole blank lines are taken off."""
    text = "a\n\n    indented\n"
    assert ChunkBuilder(2000, 2000).build(text, [Block(2, len(text))])[0].start == 3


@pytest.mark.parametrize(
    ("max_chars", "target_chars", "overlap_chars"),
    [(0, 0, 0), (10, 11, 0), (10, 0, 0), (10, 10, 10), (10, 10, -1)],
)
def test_limits_that_cannot_be_meant(max_chars: int, target_chars: int, overlap_chars: int) -> None:
    """A programmer's mistake is a ValueError."""
    with pytest.raises(ValueError, match="must lie in"):
        ChunkBuilder(max_chars, target_chars, overlap_chars)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("a", [0]),
        ("a\n", [0, 2]),
        ("a\nb\r\nc\rd", [0, 2, 5, 7]),
        ("\r\r\n\n", [0, 1, 3, 4]),
        ("a\u2028b\x0cc\n", [0, 6]),
    ],
    ids=repr,
)
def test_line_starts(text: str, starts: list[int]) -> None:
    """LF, CR LF and CR end lines; a text that ends with one has an empty last line."""
    assert LineMap(text).starts == starts


def test_lines_and_offsets() -> None:
    """Lines count from 1; beyond the last one is the end of the text."""
    lines = LineMap("ab\ncd\n")
    assert [lines.start_of(line) for line in (1, 2, 3, 4)] == [0, 3, 6, 6]
    assert [lines.line_of(offset) for offset in (0, 2, 3, 5, 6)] == [1, 1, 2, 2, 3]
