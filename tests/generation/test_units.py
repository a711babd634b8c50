"""Cutting prose into quotable units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.generation.code_units import code_cutter
from ragmachine.generation.units import MAX_UNIT_CHARS, prose_units, split_lines, split_sentences


def prose(text):
    """All units of a text."""
    return list(prose_units(text, split_lines(text), "", code_cutter(text)))


def quotes(text, kind=None):
    """The texts of all units, or of those of one kind, spans joined by a bar."""
    return [
        "|".join(text[start:end] for start, end in unit.spans)
        for unit in prose(text)
        if kind in (None, unit.kind)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("One. Two!  Three", ["One.", "Two!", "Three"], id="plain"),
        pytest.param("Use it, e.g. Here. Then", ["Use it, e.g. Here.", "Then"], id="abbreviation"),
        pytest.param("At 0.5 it ends. So", ["At 0.5 it ends.", "So"], id="decimal point"),
        pytest.param("It is `a.b`. So", ["It is `a.b`.", "So"], id="dotted name"),
        pytest.param("**Bold.** Then", ["**Bold.**", "Then"], id="emphasis"),
        pytest.param("see foo.py for it", ["see foo.py for it"], id="file name"),
        pytest.param("是的。不是。", ["是的。", "不是。"], id="CJK"),
        pytest.param("One\nline. Two", ["One\nline.", "Two"], id="wrapped"),
        pytest.param("  ", [], id="blank"),
    ],
)
def test_split_sentences(text, expected):
    """Sentences end at full stops that end something."""
    assert [text[a:b] for a, b in split_sentences(text, 0, len(text))] == expected


def test_endless_sentence_is_cut_at_blanks():
    """A sentence longer than a quote may be is offered in parts, none of them in mid-word."""
    text = "word " * 400
    parts = quotes(text)
    assert " ".join(parts) == text.strip()
    assert all(len(part) <= MAX_UNIT_CHARS for part in parts)


def test_text_without_any_blank_is_cut_anyway():
    """A line of 2,000 letters gives parts that lose none of them."""
    assert "".join(quotes("x" * 2000)) == "x" * 2000


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_lines_of_any_ending(newline):
    """Offsets are those of the untranslated text."""
    text = f"a{newline}{newline}bc"
    assert [text[line.start : line.end] for line in split_lines(text)] == ["a", "", "bc"]


def test_sentences_of_a_paragraph():
    """A paragraph gives its sentences; each knows the one before."""
    text = "# Title\n\nOne is. Two\nis.\n"
    units = prose(text)
    assert quotes(text) == ["One is.", "Two\nis."]
    assert [unit.near for unit in units] == ["", "One is."]
    assert all("Title" in unit.scope for unit in units)


def test_setext_heading():
    """An underlined line is a heading, not a sentence."""
    assert quotes("Title\n=====\n\nOne is.\n") == ["One is."]


def test_items_and_their_list():
    """Each item is a unit, and the short list is one below its introduction."""
    text = "Two ways:\n\n- one\n  goes on\n- two\n"
    assert quotes(text, "item") == ["- one\n  goes on", "- two"]
    assert quotes(text, "list") == ["Two ways:|- one\n  goes on\n- two"]
    assert quotes(text, "sentence") == []


def test_list_below_a_heading():
    """Without an introduction the heading introduces a list, its marks left out."""
    assert quotes("## Not supported\n\n- one\n- two\n", "list") == ["Not supported|- one\n- two"]


def test_long_list_is_quoted_by_its_openings():
    """Where a list is too long, the first sentences of its items stand for it."""
    items = [f"- Item {n} opens. {'It goes on and on. ' * 15}\n" for n in range(4)]
    (whole,) = quotes("Four ways:\n\n" + "".join(items), "list")
    assert whole == "Four ways:|" + "|".join(f"- Item {n} opens." for n in range(4))


def test_short_introduction_reaches_back():
    """An opener like "For example:" says nothing alone, so the sentence before it comes along."""
    text = "Set `JOBS`. For example:\n\n```sh\nexport JOBS=6\n```\n"
    assert "Set `JOBS`. For example:|export JOBS=6" in quotes(text, "block")


def test_table_rows_with_header():
    """A row is quoted below the header; the ruler is not."""
    text = "| Flag | Default |\n|---|---|\n| `--a` | 1 |\n| `--b` | 2 |\n"
    assert quotes(text, "row") == [
        "| Flag | Default ||| `--a` | 1 |",
        "| Flag | Default ||| `--b` | 2 |",
    ]


def test_rows_of_a_table_cut_above():
    """Rows whose header is in another chunk stand alone."""
    assert quotes("| `--a` | 1 |\n| `--b` | 2 |\n", "row") == ["| `--a` | 1 |", "| `--b` | 2 |"]


def test_fenced_code():
    """A short block is a unit alone and below its introduction; its statements are units too."""
    text = "Then run:\n\n```bash\nmake a\nmake b\n```\n"
    assert quotes(text, "block") == ["make a\nmake b", "Then run:|make a\nmake b"]
    assert quotes(text, "code") == ["make a", "make b"]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_hash_in_a_fence_is_no_heading(fence):
    """A comment in fenced code does not open a section."""
    text = f"{fence}\n# not a heading\nx = 1\n{fence}\n\nAfter it.\n"
    assert [unit.scope for unit in prose(text) if unit.kind == "sentence"] == [""]


def test_unclosed_fence_runs_to_the_end():
    """A fence whose end is in another chunk loses nothing."""
    assert "x = 1" in quotes("```python\nx = 1\n", "code")


@pytest.mark.parametrize(
    "line",
    ["!!! note", "??? code", "<!-- hidden -->", "[](){ #anchor }", "---", "| --- |", ":alt: x"],
)
def test_markup_is_not_quoted(line):
    """Structure is no content."""
    assert quotes(f"{line}\n\nWords here.\n") == ["Words here."]


@given(
    st.lists(
        st.sampled_from(
            [
                "# H\n",
                "Say it. Again\n",
                "- item\n",
                "| a | b |\n",
                "|---|\n",
                "```\n",
                "\n",
                "x = f(\n",
                "  1)\n",
                "def f():\n",
                '    """Doc."""\n',
                "# note\n",
                "else:\r\n",
                "é: ü",
            ]
        ),
        max_size=25,
    )
)
def test_spans_are_trimmed_and_ascending(parts):
    """Any mix of Markdown and code gives units whose spans lie in the text, in order, trimmed."""
    text = "".join(parts)
    for unit in prose(text):
        assert unit.pieces
        for start, end in unit.spans:
            assert 0 <= start < end <= len(text)
            assert text[start:end] == text[start:end].strip()
        assert all(a[1] <= b[0] for a, b in zip(unit.pieces, unit.pieces[1:], strict=False))
