"""The promises hold for any text, as any type of file, at any limit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from promises import LINE_END, check, cut

from ragmachine.chunking.builder import Block, ChunkBuilder, LineMap, cut_lines
from ragmachine.chunking.document import chunk_document
from ragmachine.chunking.lines import line_blocks

PYTHON = [
    "import os", "from a import (", "def f(x):", "async def g():", "    return x", "class A:",
    "    class B(A):", "        def m(self): pass", "@dec", "# comment", "    # inner", "x = [",
    "    1,", "]", "x = 1; y = 2", 'text = """', '"""', "\tif x:", "else:", "z = 1 + \\",
    "match x:", "    case 1:",
]  # fmt: skip
MARKDOWN = [
    "# One", "## Two ##", "### Two", "Setext", "=====", "---", "- item", "  - nested", "1. first",
    "   more", "> quote", "```python", "```", "~~~", "| a | b |", "|---|---|", "<!-- hidden", "-->",
    "    # code", "title: x", "For example:", "!!! note", "[a]: b", "* * *", "<div>",
]  # fmt: skip
JUNK = [
    "",
    " ",
    "\t",
    "\ufeff",
    "\u2028",
    "\x0c",
    "\x85",
    "\xa0",
    "\x00",
    "é中文",
    "नी",
    "}",
    "});",
    "x" * 90,
]
WORDS = st.sampled_from(["x", "ab ", "\t", "#"])
LINES = st.one_of(
    st.sampled_from(PYTHON),
    st.sampled_from(MARKDOWN),
    st.sampled_from(JUNK),
    st.text(max_size=20),
    st.builds(lambda word, count: word * count, WORDS, st.integers(1, 900)),
)
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n", ""])
TEXTS = st.lists(st.tuples(LINES, ENDS), max_size=30).map(
    lambda rows: "".join(line + end for line, end in rows)
)
LIMITS = st.one_of(st.integers(1, 60), st.integers(1, 2000))
NAMES = ["a.py", "a.md", "a.txt", "a.rst", "a.json", "a.cpp"]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(text=TEXTS, max_chars=LIMITS)
def test_any_text_is_covered_once_and_within_the_limit(
    name: str, text: str, max_chars: int
) -> None:
    """Chunks are in order, apart, within the limit, and leave out nothing but blank lines."""
    cut(name, text, max_chars=max_chars)


@pytest.mark.parametrize("name", ["a.py", "a.md", "a.txt"])
@settings(max_examples=60, deadline=None)
@given(text=TEXTS, max_chars=LIMITS, share=st.floats(0, 0.99))
def test_overlap_is_whole_lines_of_the_chunk_before(
    name: str, text: str, max_chars: int, share: float
) -> None:
    """With an overlap a chunk may begin earlier, at a line start, by no more than was asked."""
    cut(name, text, max_chars=max_chars, overlap_chars=int(max_chars * share))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(text=TEXTS, max_chars=st.integers(4, 500))
def test_only_lines_near_the_limit_are_cut(name: str, text: str, max_chars: int) -> None:
    """A chunk starts and ends with whole lines unless a line takes most of the limit."""
    starts = [0, *(match.end() for match in LINE_END.finditer(text)), len(text)]
    for piece in chunk_document(name, text, max_chars=max_chars).pieces:
        line = max(index for index, start in enumerate(starts) if start <= piece.start)
        if starts[line] < piece.start:
            assert starts[line + 1] - starts[line] > max_chars * 3 // 4


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, max_chars=LIMITS, share=st.floats(0.01, 1), overlap=st.floats(0, 0.9))
def test_the_builder_keeps_the_promises_for_any_tiling(
    text: str, max_chars: int, share: float, overlap: float
) -> None:
    """Whatever blocks a chunker hands over, leads and nested ones too, the result is sound."""
    blocks = [
        Block(block.start, block.end, is_lead=number % 3 == 0, children=_halves(block))
        for number, block in enumerate(line_blocks(text))
    ]
    overlap_chars = int(max_chars * overlap)
    builder = ChunkBuilder(max_chars, max(1, int(max_chars * share)), overlap_chars)
    check(text, builder.build(text, blocks), max_chars=max_chars, overlap_chars=overlap_chars)


def _halves(block: Block) -> tuple[Block, ...]:
    middle = (block.start + block.end) // 2
    if middle == block.start:
        return ()
    return (Block(block.start, middle, is_lead=True), Block(middle, block.end))


@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_line_starts_are_where_lines_end(text: str) -> None:
    """LF, CR LF and a lone CR end a line; U+2028, form feed and NEL do not."""
    assert LineMap(text).starts == [0, *(match.end() for match in LINE_END.finditer(text))]


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, limit=st.integers(2, 300))
def test_ranges_of_lines_tile_the_text(text: str, limit: int) -> None:
    """`cut_lines` leaves no gap, exceeds no limit and keeps CR LF together."""
    ranges = cut_lines(text, 0, len(text), limit)
    assert "".join(text[start:end] for start, end in ranges) == text
    assert all(end - start <= limit for start, end in ranges)
    assert not any(text[end - 1 : end + 1] == "\r\n" for _, end in ranges)


LONG_LINES = {
    "one word": "x" * 200_000,
    "words": "word " * 40_000,
    "string": 'x = "' + "x" * 200_000 + '"\n',
    "brackets": "[" * 200_000,
    "heading": "# " + "[" * 200_000,
    "tags": "# " + "<a" * 100_000,
    "code marks": "# " + "`a" * 100_000,
    "blanks": "a" + " " * 200_000 + "b",
    "front matter": "---\na" + " " * 200_000 + "b: c\n---\n",
    "table row": "|a|b|\n|-|-|\n" + "|a" * 100_000 + "\n",
    "quotes": ">" * 200_000,
    "comment": "x = 1  #" + "#" * 200_000,
}


@pytest.mark.parametrize("name", ["a.py", "a.md", "a.txt"])
@pytest.mark.parametrize("text", LONG_LINES.values(), ids=LONG_LINES)
def test_a_line_of_200_000_characters_is_cut(name: str, text: str) -> None:
    """None is too long, and none takes time that grows with its square (it would not return)."""
    assert cut(name, text)


BLANK_RUNS = {
    "CR LF": "\r\n" * 100_000,
    "LF": "\n" * 200_000,
    "CR": "\r" * 200_000,
    "blanks": "\n " * 20_000,
    "form feeds": "\n\x0c" * 20_000,
}


@pytest.mark.parametrize("name", ["a.py", "a.md", "a.txt"])
@pytest.mark.parametrize("run", BLANK_RUNS.values(), ids=BLANK_RUNS)
def test_a_long_run_of_blank_lines_is_read_once(name: str, run: str) -> None:
    """A closing bracket behind blank lines is reached in one pass, not in their square."""
    assert [chunk.strip() for chunk in cut(name, "(" + run + ")")] == ["(", ")"]


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", " \r\n\t\r\n", "\u2028", "\x0c\n"], ids=repr)
@pytest.mark.parametrize("name", ["a.py", "a.md", "a.txt"])
def test_a_blank_file_has_no_chunk(name: str, text: str) -> None:
    """Where there is nothing to read there is nothing to find."""
    assert cut(name, text) == []
