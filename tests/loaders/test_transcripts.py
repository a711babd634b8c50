"""What a vision model writes about pages becomes a document like any other."""

from __future__ import annotations

from typing import Any

from ragmachine.corpus.loaders.pdf_text import DocumentText, document_text
from ragmachine.corpus.loaders.transcript import parse_of

PROSE = "The pump moves water from the tank to the boiler and wants to be cleaned.\n"


def text_of(*transcripts: str) -> DocumentText:
    """The document made of the transcripts of its pages."""
    pages: list[dict[str, Any]] = [parse_of(one, 842.0) for one in transcripts]
    return document_text(pages, [], "", 100_000)


def test_markdown_stays_what_it_is() -> None:
    """Headings, paragraphs, lists and code keep their kinds and their order."""
    body = f"{PROSE}{PROSE}\n- a fuse\n- a filter\n\n```\ndef f(x):\n    return x\n```\n"
    found = text_of(f"# Pump manual\n\n{PROSE}\n## Cleaning ##\n{body}")
    assert found.text == f"# Pump manual\n\n{PROSE}\n## Cleaning\n\n{body}"
    assert found.title == "Pump manual"


def test_a_table_is_a_table() -> None:
    """Cells keep their pipes, rules between rows go, and what follows is text again."""
    table = "| Part | Keys |\n|---|:---:|\n| Exit | Q \\| Esc |\n| Help | F1 |\n"
    found = text_of(f"{PROSE}\n{table}\n{PROSE}")
    clean = "| Part | Keys |\n|---|---|\n| Exit | Q \\| Esc |\n| Help | F1 |\n"
    assert found.text == f"{PROSE}\n{clean}\n{PROSE}"


def test_only_the_same_header_goes_on_over_the_page() -> None:
    """Where columns stand is unknown: another header begins another table."""
    first = "| Part | Number |\n|---|---|\n| Seal | AQ-1 |\n"
    same = text_of(first, "| Part | Number |\n|---|---|\n| Filter | AQ-2 |\n").text
    other = text_of(first, "| Step | Work |\n|---|---|\n| 1 | Clean |\n").text
    assert same.endswith("| Seal | AQ-1 |\n| Filter | AQ-2 |\n")
    assert "\n\n| Step | Work |\n|---|---|\n| 1 | Clean |\n" in other


def test_a_fence_around_everything_is_none() -> None:
    """Models like to put Markdown into a block of code; code of the page stays code."""
    wrapped = text_of(f"```markdown\n# Pump\n\n{PROSE}```").text
    assert wrapped == f"# Pump\n\n{PROSE}"
    assert text_of("```python\nx = 1\n```").text == "```\nx = 1\n```\n"


def test_running_lines_go_and_pages_are_known() -> None:
    """What every page repeats at its end is left out; text knows its page, but no box."""
    first = ("Safety", "Use", "Care", "Faults", "Parts")
    found = text_of(
        *(f"{word} first.\n\n{PROSE * 12}\nPage {n} of 5" for n, word in enumerate(first, start=1))
    )
    assert "Page 3" not in found.text
    assert all(f"{word} first." in found.text for word in first)
    assert [place for _, place in found.places] == [f"p.{n}" for n in range(1, 6)]
    assert {box for _, box in found.boxes} == {None}


def test_markup_of_no_meaning_is_harmless() -> None:
    """A rule, an open fence, a lone pipe and nothing at all."""
    assert text_of("").text == ""
    assert text_of("# \n---\na | b\n").text == "\\#\n\\---\na | b\n"
    assert "x = 1" in text_of("```\nx = 1").text
