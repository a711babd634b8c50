"""Markdown is cut at its headings, then at its elements."""

from __future__ import annotations

import pytest
from promises import cut, section_labels

SENTENCE = "A sentence of prose. "


def prose(chars: int) -> str:
    """One paragraph, one line, of about so many characters."""
    return SENTENCE * (chars // len(SENTENCE)) + "\n"


def labels(text: str, *, max_chars: int = 40) -> list[str]:
    """The sections that the chunks of a text meet, in order, without `Section: `."""
    found = section_labels("a.md", text, max_chars)
    return [label.removeprefix("Section: ") for label in found]


def test_a_section_is_a_chunk() -> None:
    """Each heading starts a chunk when its section is not small."""
    one, two = f"# One\n\n{prose(150)}", f"## Two\n\n{prose(150)}"
    assert cut("a.md", f"{one}\n{two}", max_chars=200) == [one.strip(), two.strip()]


def test_breadcrumb_of_parents() -> None:
    """A section knows the headings it stands under, also past a skipped level."""
    text = "# A\n\ntext of A\n\n### B\n\ntext of B\n\n## C\n\ntext of C\n\n# D\n\ntext of D\n"
    assert labels(text, max_chars=18) == ["A", "A > B", "A > C", "D"]


def test_text_before_the_first_heading_is_the_introduction() -> None:
    """It has a section without a name."""
    assert labels(f"{prose(60)}\n# A\n\n{prose(60)}") == ["Introduction", "A"]


@pytest.mark.parametrize(
    "heading",
    [
        pytest.param("## Title", id="ATX"),
        pytest.param("## Title ##", id="closing #s"),
        pytest.param("   ## Title", id="indented by three"),
        pytest.param("Title\n-----", id="setext"),
        pytest.param("## *Title*", id="emphasis"),
        pytest.param("## [Title](https://example.org/#x)", id="link"),
        pytest.param("## ![](logo.png) Title", id="image"),
        pytest.param("## Title { #anchor }", id="anchor"),
        pytest.param("## Title {: .wide}", id="attributes"),
        pytest.param("## `Title`", id="code"),
        pytest.param('## <a id="t"></a>Title', id="tag"),
        pytest.param("## Ti\\tle".replace("\\t", "t"), id="plain"),
    ],
)
def test_ways_to_write_a_heading(heading: str) -> None:
    """All name the section Title."""
    assert labels(f"# Top\n\ntext\n\n{heading}\n\ntext\n", max_chars=12)[-1] == "Top > Title"


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# `List<int>` and `**kwargs`", "List<int> and **kwargs"),
        ("# Map<K, V> types", "Map<K, V> types"),
        ("# a < b and c > d", "a < b and c > d"),
        ("# 2 * 3 is 6", "2 * 3 is 6"),
        ("# max\\_tokens", "max_tokens"),
        ("# __init__", "__init__"),
        ("# ``a `b` c``", "a `b` c"),
    ],
)
def test_a_heading_keeps_what_is_no_markup(heading: str, title: str) -> None:
    """Code, comparisons, escapes and dunder names read as they are written."""
    assert labels(f"{heading}\n\ntext\n") == [title]


@pytest.mark.parametrize(
    "inside",
    [
        pytest.param("```\n# no\n```", id="backtick fence"),
        pytest.param("~~~ text\n# no\n```\n# no\n~~~", id="tilde fence"),
        pytest.param("````\n```\n# no\n```\n````", id="fence in a fence"),
        pytest.param("    # no", id="indented code"),
        pytest.param("<!--\n# no\n\n# no\n-->", id="HTML comment"),
        pytest.param("> # no", id="quote"),
        pytest.param("- # no", id="list item"),
        pytest.param("```\n# no", id="unclosed fence"),
        pytest.param("#no", id="no blank"),
        pytest.param("####### no", id="seven"),
        pytest.param("\\# no", id="escaped"),
    ],
)
def test_what_is_no_heading(inside: str) -> None:
    """A line that only looks like a heading starts no section."""
    assert labels(f"# A\n\ntext\n\n{inside}\n", max_chars=10) == ["A"]


def test_duplicate_headings_are_sections_of_their_own() -> None:
    """The same title twice is two sections."""
    section = f"## Example\n\n{prose(100)}\n"
    assert len(cut("a.md", section * 2, max_chars=120)) == 2


def test_a_small_limit_is_no_reason_to_lose_a_heading() -> None:
    """A heading over the limit is cut like any other line."""
    assert "".join(cut("a.md", "# " + "x" * 100, max_chars=10)).count("x") == 100


FRONT = "---\ntitle: {}\ntags:\n  - one\n# a comment\n---\n\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CR LF", "CR"])
@pytest.mark.parametrize("written", ["The Guide", '"The Guide"', "'The Guide'", "The Guide  "])
def test_front_matter_names_the_document(written: str, end: str) -> None:
    """Its title is the parent of every section, and none of its lines is a heading."""
    text = (FRONT.format(written) + "# Use\n\ntext\n").replace("\n", end)
    assert labels(text, max_chars=70) == ["The Guide", "The Guide > Use"]


def test_the_title_of_the_front_matter_is_not_said_twice() -> None:
    """A first heading that repeats it stands for it."""
    assert labels(FRONT.format("Guide") + "# Guide\n\n## Use\n\ntext\n")[-1] == "Guide > Use"


def test_front_matter_is_text_too() -> None:
    """It is covered like everything else."""
    assert "tags:" in cut("a.md", FRONT.format("Guide") + "# Use\n")[0]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("---\n\n# A\n\ntext\n\n---\n\ntext\n", id="rules around a section"),
        pytest.param("---\nSome prose.\n\n# A\n\n---\n", id="prose"),
        pytest.param("---\ntitle: x\n\n# A\n", id="not closed"),
        pytest.param("text\n\n---\ntitle: x\n---\n\n# A\n", id="not at the start"),
    ],
)
def test_rules_are_no_front_matter(text: str) -> None:
    """A line of dashes opens front matter only at the start, before keys, and closed."""
    assert labels(text)[-1] == "A" or labels(text)[-1].endswith(" > A")


@pytest.mark.parametrize(
    "element",
    [
        pytest.param("```python\n" + "x = 1\n\n" * 20 + "```", id="fence"),
        pytest.param("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 13, id="table"),
        pytest.param("- item\n\n  more of it\n  and more\n" * 1 + "\n  end", id="item"),
        pytest.param("> quoted\n" * 15, id="quote"),
        pytest.param("<div>\n" + "inside\n" * 18 + "</div>", id="HTML"),
    ],
)
def test_an_element_is_whole_where_it_fits(element: str) -> None:
    """Up to the limit, no fence, table, item, quote or HTML block is cut."""
    element = element.strip()
    assert len(element) <= 170
    text = f"# A\n\n{prose(150)}\n{element}\n\n{prose(150)}"
    assert any(element in chunk for chunk in cut("a.md", text, max_chars=170))


def test_a_large_table_is_cut_between_rows() -> None:
    """400 rows are many chunks; each holds whole rows."""
    rows = "".join(f"| model {i} | {i} |\n" for i in range(400))
    chunks = cut("a.md", f"# Models\n\n| name | size |\n|------|------|\n{rows}", max_chars=500)
    assert len(chunks) > 10
    for chunk in chunks[1:]:
        assert all(line.startswith("| model") and line.endswith(" |") for line in chunk.split("\n"))


def test_a_large_fence_is_cut_between_lines() -> None:
    """Its lines stay whole, and its last fence is not left alone."""
    chunks = cut("a.md", "```\n" + "a line of code\n" * 27 + "```\n", max_chars=400)
    assert len(chunks) == 2
    assert all(chunk.endswith(("a line of code", "code\n```")) for chunk in chunks)
    assert min(map(len, chunks)) > 100


def test_a_list_is_cut_between_items() -> None:
    """An item that fits stays whole, with the paragraphs under it."""
    item = "- an item of a list\n\n  with a second paragraph\n"
    chunks = cut("a.md", item * 10, max_chars=150)
    assert all(chunk.startswith("- an item") and chunk.endswith("paragraph") for chunk in chunks)


def test_a_large_item_is_cut_between_the_items_in_it() -> None:
    """Nested lists are cut at the inner items."""
    inner = "  - an inner item\n    of two lines\n"
    chunks = cut("a.md", "- outer\n" + inner * 12 + "- last\n", max_chars=120)
    assert all(chunk.startswith(("- outer\n  - an", "  - an")) for chunk in chunks)
    assert all(chunk.endswith(("two lines", "- last")) for chunk in chunks)


def test_a_heading_never_ends_a_chunk() -> None:
    """A parent heading goes with the first section under it, not with the one before."""
    text = f"# A\n\n{prose(120)}\n# B\n\n## C\n\n{prose(120)}"
    assert cut("a.md", text, max_chars=180)[1].startswith("# B\n\n## C\n\nA sentence")


@pytest.mark.parametrize("anchor", ["[](){ #use }", '<a id="use"></a>', '<a name="use"> </a>'])
def test_a_link_target_above_a_heading_belongs_to_it(anchor: str) -> None:
    """It is the first line of the section, not the last of the one before."""
    text = f"# A\n\n{prose(120)}\n{anchor}\n\n## Use\n\n{prose(120)}"
    assert cut("a.md", text, max_chars=180)[1].startswith(f"{anchor}\n\n## Use\n\nA sentence")
    assert labels(text) == ["A", "A > Use"]


def test_a_heading_stays_with_text_that_must_be_cut_for_it() -> None:
    """Heading and paragraph exceed the limit together: the paragraph is cut, not the tie."""
    text = f"# A\n\n{prose(120)}\n# B\n\n{prose(199)}"
    chunks = cut("a.md", text, max_chars=192)
    assert chunks[1].startswith("# B\n\nA sentence")


def test_a_last_heading_without_text_is_kept() -> None:
    """Nothing follows it, so it joins what precedes it."""
    assert cut("a.md", "# A\n\ntext\n\n## B\n") == ["# A\n\ntext\n\n## B"]


@pytest.mark.parametrize(
    ("intro", "element"),
    [
        pytest.param("For example:", "```\n" + "x = 1\n" * 20 + "```", id="fence"),
        pytest.param("**The steps:**", "- one thing\n" * 1 + "  " + "more " * 25, id="list"),
        pytest.param("结果如下：", "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 10, id="full width"),
        pytest.param("??? code", "    ```\n" + "    x = 1\n" * 12 + "    ```", id="collapsible"),
        pytest.param('!!! note "Mind"', "    " + SENTENCE * 5, id="admonition"),
        pytest.param('=== "Linux"', "    " + SENTENCE * 5, id="tab"),
    ],
)
def test_an_introducing_line_stays_with_what_it_introduces(intro: str, element: str) -> None:
    """Where both fit the limit they are not parted, though each would pack with others."""
    together = f"{intro}\n\n{element.strip(chr(10))}".rstrip()
    text = f"# A\n\n{prose(150)}\n{together}\n\n{prose(150)}"
    assert any(together in chunk for chunk in cut("a.md", text, max_chars=190))


def test_small_sections_are_packed() -> None:
    """Sections of a line each share a chunk, under the labels of all."""
    text = "# A\n\n## B\n\none\n\n## C\n\ntwo\n"
    assert cut("a.md", text) == [text.strip()]
    assert labels(text, max_chars=2000) == ["A", "A > B", "A > C"]


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["CR LF", "CR"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_line_ends_and_marks_do_not_move_boundaries(mark: str, end: str) -> None:
    """The same cuts, in characters of the text as it is."""
    text = f"# One\n\n{prose(150)}\n## Two\n\n- item\n- item\n\n{prose(150)}"
    expected = cut("a.md", text, max_chars=200)
    chunks = cut("a.md", mark + text.replace("\n", end), max_chars=200)
    assert [chunk.lstrip("\ufeff").replace(end, "\n") for chunk in chunks] == expected
    assert labels(mark + text.replace("\n", end)) == ["One", "One > Two"]


def test_other_separators_are_part_of_their_line() -> None:
    """U+2028, NEL and form feed end no line, so that no heading follows them."""
    assert labels("# A\n\ntext\u2028# B\x85# C\x0c# D\n") == ["A"]


def test_announcements_of_announcements_do_not_take_the_stack() -> None:
    """Thousands of lines that each end in a colon are cut like any other paragraphs."""
    assert len(cut("a.md", "For example:\n\n" * 3_000)) > 10
