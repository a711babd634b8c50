"""Lines behind an answer: which they are, and what has become of them since."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragmachine.conversation.sources import Source, excerpt, sources_of
from ragmachine.models import Answer, Chunk, Citation, Hit, SearchResult

TEXT = "".join(f"line {number}\n" for number in range(1, 13))
CITED = "line 5\nline 6"


def source(text: str = CITED, whole: str = TEXT) -> Source:
    """Lines 5 and 6."""
    start = whole.index(text)
    first = whole.count("\n", 0, start) + 1
    last = first + text.count("\n")
    return Source(1, "a.md", start, start + len(text), first, last, "", "Section: A", text)


def test_lines_that_stand_where_they_stood() -> None:
    """With those around them."""
    found = excerpt(source(), TEXT, around=2)
    assert (found.state, found.first_line, found.cited) == ("same", 3, (5, 6))
    assert found.lines == ("line 3", "line 4", "line 5", "line 6", "line 7", "line 8")


def test_lines_that_moved_are_shown_where_they_are() -> None:
    """The nearest of several places, with its own numbers."""
    now = f"{CITED}\n" + "new\n" * 9 + TEXT
    found = excerpt(source(), now, around=0)
    assert (found.state, found.cited) == ("moved", (1, 2))
    assert found.lines == ("line 5", "line 6")
    found = excerpt(source(), "new\nnew\n" + TEXT, around=1)
    assert (found.cited, found.lines[0]) == ((7, 8), "line 4")


def test_lines_that_changed_show_what_is_there_now() -> None:
    """At the numbers that were cited."""
    found = excerpt(source(), TEXT.replace("line 6", "line six"), around=0)
    assert (found.state, found.cited, found.lines) == ("changed", (5, 6), ("line 5", "line six"))


@pytest.mark.parametrize("now", [None, "", "line 1\n"], ids=["no file", "empty", "shorter"])
def test_lines_that_are_gone_are_shown_as_indexed(now: str | None) -> None:
    """Under the numbers that they had."""
    found = excerpt(source(), now)
    assert (found.state, found.first_line, found.cited) == ("gone", 5, (5, 6))
    assert found.lines == ("line 5", "line 6")


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["CR LF", "CR"])
def test_lines_count_by_every_line_end(end: str) -> None:
    """As the index counts them; a form feed ends none."""
    whole = f"a\fb{end}b{end}c{end}"
    found = excerpt(Source(1, "a", 4 + len(end) - 1, 4 + len(end), 2, 2, text="b"), whole, around=1)
    assert found.lines == ("a\fb", "b", "c")
    assert found.cited == (2, 2)


def test_a_long_passage_is_cut() -> None:
    """To 120 lines, and the rest is counted."""
    whole = "x\n" * 300
    found = excerpt(Source(1, "a", 0, len(whole), 1, 300, text=whole), whole)
    assert (len(found.lines), found.left_out) == (120, 180)


def hit(rank: int, start: int, label: str) -> Hit:
    """A chunk of ten characters."""
    chunk = Chunk(rank, "a.md", start, start + 10, rank, rank, "0123456789", "markdown", label)
    return Hit(rank, 1.0, chunk)


def test_cited_places_come_by_number_with_their_label_and_text() -> None:
    """The label is that of the hit at the place."""
    hits = (hit(1, 50, "Section: other"), hit(2, 0, "Section: cited"))
    result = SearchResult("q", "lexical", hits, 2, 0.0)
    citations = (Citation(2, "a.md", 52, 55, 1, 1), Citation(1, "a.md", 0, 5, 1, 1))
    answer = Answer("a [1] b [2]", "extractive", result, citations)
    found = sources_of(answer, lambda path, start, end: f"{path}/{start}-{end}")
    assert [(one.number, one.label, one.text) for one in found] == [
        (1, "Section: cited", "a.md/0-5"),
        (2, "Section: other", "a.md/52-55"),
    ]


def test_an_answer_that_cites_nothing_has_its_nearest_passages() -> None:
    """Five of them, counted from 1."""
    hits = tuple(hit(rank, 10 * rank, "") for rank in range(3, 10))
    answer = Answer("I don't know", "none", SearchResult("q", "lexical", hits, 9, 0.0))
    found = sources_of(answer, lambda *_: None)
    assert [(one.number, one.start) for one in found] == [(n, 10 * n + 20) for n in range(1, 6)]


def test_a_page_is_shown_as_it_was_indexed() -> None:
    """The bytes of a PDF are not its text: nothing is looked for in them, and it is not lost."""
    page = replace(source(), file_path="manual.pdf", place="p.2")
    assert page.location == "manual.pdf p.2"
    for now in (None, TEXT, "%PDF-1.7"):
        found = excerpt(page, now)
        assert (found.state, found.lines) == ("same", ("line 5", "line 6"))
