"""An answer as text for people: what is not supported is marked, and why; then its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ragmachine.models import Answer, Citation

_MOST_HITS = 5
_QUOTED_CHARS = 90


@dataclass(frozen=True, slots=True)
class Row:
    """A line below an answer: words, a place to go to, words.

    Attributes:
        before, after: what stands around the place.
        place: ``path:first-last``, or "".
        file_path: the file there.
    """

    before: str
    place: str = ""
    file_path: str = ""
    after: str = ""


def marked_text(answer: Answer, plain: Callable[[str], str], doubtful: Callable[[str], str]) -> str:
    """The answer's text, its unsupported sentences shown otherwise than the rest.

    Args:
        answer: its text and sentences are read.
        plain: makes text ready to be shown.
        doubtful: does so for an unsupported sentence.
    """
    pieces, done = [], 0
    for sentence in answer.sentences:
        pieces.append(plain(answer.text[done : sentence.start]))
        show = plain if sentence.is_supported else doubtful
        pieces.append(show(answer.text[sentence.start : sentence.end]))
        done = sentence.end
    return "".join([*pieces, plain(answer.text[done:])])


def sections(answer: Answer) -> Iterator[tuple[str, list[Row]]]:
    """What is said below an answer: heading and rows of each part that has any."""
    parts = {
        "Not supported by the passages:": _doubts(answer),
        "Cited:": _sources(answer),
        "Nearest passages:" if answer.is_refusal else "Read:": _nearest(answer),
    }
    yield from ((heading, rows) for heading, rows in parts.items() if rows)


def _doubts(answer: Answer) -> list[Row]:
    """The unsupported sentences with the reasons."""
    doubted = [sentence for sentence in answer.sentences if not sentence.is_supported]
    lines = [f"? {_shortened(sentence.text)}: {sentence.reason}" for sentence in doubted]
    return [Row(line) for line in dict.fromkeys(lines)]  # a small model repeats itself


def _sources(answer: Answer) -> list[Row]:
    """The cited places, with the lines there that support sentences where those are fewer."""
    rows = []
    for citation in answer.citations:
        spans = ", ".join(_lines(first, last) for first, last in _supporting(answer, citation))
        unit = "line" if spans.isdigit() else "lines"
        after = f"  {unit} {spans}" if spans else ""
        rows.append(Row(f"[{citation.number}] ", citation.location, citation.file_path, after))
    return rows


def _supporting(answer: Answer, citation: Citation) -> list[tuple[int, int]]:
    if citation.place:  # lines of a text that nobody sees say nothing
        return []
    spans = [sentence.span for sentence in answer.sentences if sentence.is_supported]
    found = {
        (span.first_line, span.last_line)
        for span in spans
        if span and span.number == citation.number
    }
    return sorted(found - {(citation.first_line, citation.last_line)})


def _nearest(answer: Answer) -> list[Row]:
    """The first hits, where nothing is cited."""
    if answer.citations:
        return []
    chunks = [hit.chunk for hit in answer.result.hits[:_MOST_HITS]]
    return [Row("", chunk.location, chunk.file_path) for chunk in chunks]


def _lines(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _QUOTED_CHARS else f"{text[:_QUOTED_CHARS]}…"
