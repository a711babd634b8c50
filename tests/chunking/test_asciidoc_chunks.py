"""AsciiDoc is cut at its headings; its delimited blocks and lists stay whole."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from promises import cut, section_labels

from ragmachine.chunking.asciidoc import plain_title

labels = partial(section_labels, "a.adoc")


def test_sections_have_their_breadcrumb() -> None:
    """Signs before a title and lines below it, as long as the title, both make headings."""
    text = (
        "= Pumps\n:author: Ann\n\nAll of them.\n\n== Small\n\nFor ponds.\n\n"
        "=== Fish\n\nThey mind.\n\nLarge\n-----\n\nFor mines.\n"
    )
    assert labels(text) == [
        "Section: Pumps",
        "Section: Pumps > Small",
        "Section: Pumps > Small > Fish",
        "Section: Pumps > Large",
    ]


@pytest.mark.parametrize("mark", ["----", "....", "====", "****", "|===", "////", "```"])
def test_a_heading_inside_a_delimited_block_is_none(mark: str) -> None:
    """What looks like one is a comment of the code that is shown, or a cell."""
    text = (
        f"= Pumps\n\nBefore it.\n\n{mark}\n== not one\n\n= nor this\n{mark}\n\n== Small\n\nIt is.\n"
    )
    assert labels(text) == ["Section: Pumps", "Section: Pumps > Small"]


@pytest.mark.parametrize(("under", "is_heading"), [("~~~~", True), ("~~~~~~~~", False)])
def test_an_underline_is_as_long_as_its_title(under: str, is_heading: bool) -> None:
    """But for one sign."""
    found = labels(f"= Pumps\n\nAll.\n\nLarge\n{under}\n\nFor mines.\n")
    assert found == ["Section: Pumps", *(["Section: Pumps > Large"] if is_heading else [])]


def test_a_colon_keeps_what_it_announces() -> None:
    """A paragraph that ends in one shares a chunk with the block below it."""
    # fits above the rest, and not below the words, where its announcement has room
    item = "* code(" + "a, " * 18 + "a)"
    text = "words " * 37 + f"\n\nLike this:\n\n{item}\n\n" + "more " * 44
    assert f"Like this:\n\n{item}" in cut("a.adoc", text, max_chars=289)


def test_a_delimited_block_stays_whole_with_its_title_and_attributes() -> None:
    """Blank lines in it are no place to cut where all of it fits."""
    block = ".How to\n[source,python]\n----\nfirst = 1\n\nsecond = 2\n\nthird = 3\n----"
    text = "= Title\n\n" + "words " * 40 + "\n\n" + block + "\n\n" + "more " * 40 + "\n"
    assert any(block in chunk for chunk in cut("a.adoc", text, max_chars=300))


def test_an_anchor_belongs_to_the_heading_below_it() -> None:
    """A chunk starts with it."""
    text = "= First\n\n" + "words " * 30 + "\n\n[[two]]\n[.wide]\n== Second\n\nMore.\n"
    assert cut("a.adoc", text, max_chars=200)[1].startswith("[[two]]\n[.wide]\n== Second\n")


def test_a_block_that_never_closes_hides_nothing() -> None:
    """It is taken for a line, and the headings below it count."""
    assert (
        labels("= A\n\n----\n\n== B\n\ntext of the section that follows\n")[-1] == "Section: A > B"
    )


def test_a_long_list_is_cut_between_its_items() -> None:
    """Items need no blank line between them to stay whole."""
    items = "".join(f"* item {number} says\nsomething of its own\n" for number in range(40))
    chunks = cut("a.adoc", "== List\n\n" + items, max_chars=300)
    assert all(chunk.startswith(("* item", "== List")) for chunk in chunks)
    assert all(chunk.endswith("something of its own") for chunk in chunks)


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("[[x]]The *bold* `code` of _it_", "The bold code of it"),
        ("See <<other,the other>> and link:a.html[this]", "See the other and this"),
        ("snake_case_name 2 * 3", "snake_case_name 2 * 3"),
        ("x" * 400, "x" * 300),
    ],
)
def test_titles_are_shown_as_they_are_read(title: str, shown: str) -> None:
    """Links by their text, without anchors and emphasis."""
    assert plain_title(title) == shown


ROWS = st.sampled_from(
    "= One|== Two|====|----|....|--|[[a]]|[source]|.Title|* item|. step|term:: text|Like:|word|"
    "|===|```|////|two words|---------|\t|é中文🙂|\x00|\u2028|\ufeff|".split("|")
)
ENDS = st.sampled_from(["\n", "\n", "\n\n", "\r\n", "\r", ""])
TEXTS = st.lists(st.tuples(ROWS, ENDS), max_size=50).map(
    lambda rows: "".join(row + end for row, end in rows)
)


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, max_chars=st.one_of(st.integers(1, 60), st.integers(60, 600)))
def test_any_text_keeps_the_promises(text: str, max_chars: int) -> None:
    """Whatever is a heading in it, all is covered once, in order and within the limit."""
    cut("a.adoc", text, max_chars=max_chars)


HOSTILE = {
    "signs": "=" * 200_000,
    "anchors": "= " + "[[" * 50_000,
    "links": "= " + "link:" * 40_000,
    "attributes": "[a]\n" * 20_000,
    "colons": "a:" * 100_000,
    "items": "* a\n" * 10_000,
    "blocks": "----\n\n" * 20_001,
    "openings": "".join(f"```x{number}\n" for number in range(20_000)),
    "announcements": "For example:\n\n" * 5_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_once(text: str) -> None:
    """No line takes time that grows with its square."""
    cut("a.adoc", text)
