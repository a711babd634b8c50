"""reStructuredText is cut at its headings; its directives and lists stay whole."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from promises import cut, section_labels

from ragmachine.chunking.rst import plain_title

labels = partial(section_labels, "a.rst")


def test_levels_are_numbered_as_their_styles_come_up() -> None:
    """A line above makes another style of the same character."""
    text = (
        "=====\nPumps\n=====\n\nAll of them.\n\nSmall\n=====\n\nFor ponds.\n\n"
        "Fish\n----\n\nThey mind.\n\nLarge\n=====\n\nFor mines.\n"
    )
    assert labels(text) == [
        "Section: Pumps",
        "Section: Pumps > Small",
        "Section: Pumps > Small > Fish",
        "Section: Pumps > Large",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Some words.\n\n----\n\nMore words.\n",
        "One line\nand a second\n============\n",
        "    Indented\n    ========\n",
        ".. note:: this\n==============\n",
        "===== =====\nleft  right\n===== =====\n1     2\n===== =====\n",
        "Example::\n\n    Title\n    =====\n",
        "Too long a title\n===\n",
    ],
)
def test_not_every_line_of_signs_makes_a_heading(text: str) -> None:
    """Transitions, tables, literal blocks and short underlines are none."""
    assert labels(text) == ["Section: Introduction"]


def test_a_target_belongs_to_the_heading_below_it() -> None:
    """So does a second one; a chunk starts with them."""
    text = (
        "First\n=====\n\n" + "words " * 30 + "\n\n.. _one:\n\n.. _two:\n\nSecond\n======\n\nMore.\n"
    )
    assert cut("a.rst", text, max_chars=200)[1].startswith(".. _one:\n\n.. _two:\n\nSecond\n")


def test_a_directive_keeps_its_body() -> None:
    """Its blank lines do not part it from what it says, where all of it fits."""
    body = ".. code-block:: python\n\n    first = 1\n\n    second = 2\n\n    third = 3\n"
    text = "Title\n=====\n\n" + "words " * 40 + "\n\n" + body + "\n" + "more " * 40 + "\n"
    assert any(body.strip() in chunk for chunk in cut("a.rst", text, max_chars=300))


def test_a_colon_keeps_what_it_announces() -> None:
    """A paragraph that ends in a colon shares a chunk with the block below it."""
    text = "Title\n=====\n\n" + "words " * 40 + "\n\nLike this::\n\n    code()\n\n" + "more " * 40
    assert any("Like this::\n\n    code()" in chunk for chunk in cut("a.rst", text, max_chars=280))
    # fits above the rest, and not below the words, where its announcement has room
    item = "- code(" + "a, " * 18 + "a)"
    text = "words " * 37 + f"\n\nLike this:\n\n{item}\n\n" + "more " * 44
    assert f"Like this:\n\n{item}" in cut("a.rst", text, max_chars=289)


def test_a_long_list_is_cut_between_its_items() -> None:
    """Items need no blank line between them to stay whole."""
    items = "".join(f"- item {number} says\n  something of its own\n" for number in range(40))
    chunks = cut("a.rst", "List\n====\n\n" + items, max_chars=300)
    assert all(chunk.startswith(("- item", "List")) for chunk in chunks)
    assert all(chunk.endswith("something of its own") for chunk in chunks)


def test_a_list_is_cut_between_its_outer_items() -> None:
    """An item that follows inner ones is outer again."""
    items = "".join(f"- item {n} has\n\n  - inner one\n\n  - inner two\n\n" for n in range(12))
    for limit in (100, 150):
        chunks = cut("a.rst", "List\n====\n\n" + items, max_chars=limit)
        assert len(chunks) > 3
        assert all(chunk.startswith(("- item", "List")) for chunk in chunks)


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Indexing on :class:`ndarrays <.ndarray>`", "Indexing on ndarrays"),
        (":func:`~numpy.sort` and ``kind``", "numpy.sort and kind"),
        ("`The site <https://a.b>`_ of *all* **that**", "The site of all that"),
        ("|Release| notes", "Release notes"),
        ("2 * 3 \\* 4", "2 * 3 * 4"),
        ("x" * 400, "x" * 300),
    ],
)
def test_titles_are_shown_as_they_are_read(title: str, shown: str) -> None:
    """Roles and references by their text, without emphasis."""
    assert plain_title(title) == shown


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=repr)
def test_line_ends_and_a_mark_change_no_section(end: str) -> None:
    """CR LF, a lone CR and a byte order mark are read as LF without it is."""
    text = "One\n===\n\nText.\n\nTwo\n---\n\nText.\n"
    assert labels("\ufeff" + text.replace("\n", end), 60) == ["Section: One", "Section: One > Two"]


ROWS = st.sampled_from(
    "One|===|=====|---|--|Two words|.. _a:|.. note::|   body|      deeper|- item|  more|1. x|"
    "#. y|:field: z|::|Like::|===== ===|+---+|\t|é中文🙂|\x00|\u2028|\ufeff|`x`_|".split("|")
)
ENDS = st.sampled_from(["\n", "\n", "\n\n", "\r\n", "\r", ""])
TEXTS = st.lists(st.tuples(ROWS, ENDS), max_size=50).map(
    lambda rows: "".join(row + end for row, end in rows)
)


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, max_chars=st.one_of(st.integers(1, 60), st.integers(60, 600)))
def test_any_text_keeps_the_promises(text: str, max_chars: int) -> None:
    """Whatever is a heading in it, all is covered once, in order and within the limit."""
    cut("a.rst", text, max_chars=max_chars)


HOSTILE = {
    "signs": "=" * 200_000,
    "ticks": "`" * 200_000 + "\n===",
    "roles": ":a" * 100_000 + ":`",
    "bullets": "- " * 100_000,
    "items": "- a\n" * 10_000,
    "indents": "".join(" " * depth + "- x\n\n" for depth in range(400)),
    "targets": ".. _a:\n\n" * 5_000,
    "announcements": "For example:\n\n" * 5_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_once(text: str) -> None:
    """No line takes time that grows with its square, nor depth the stack."""
    cut("a.rst", text)
