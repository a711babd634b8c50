"""Cuts an answer into sentences; a list item, a table row and a block of code end one as well.

Every character of the answer that is not white space or a table's rule lies in exactly one
sentence, so that what is cut can be put together again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

Span = tuple[int, int]

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_MARKER = re.compile(r"[ \t]*(?:(?:[-*+•–]|\d{1,3}[.)])[ \t]+|>[ \t]*|#{1,6}[ \t]+)+")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*(?:\[[^\]\n]*\][ \t]*)?$")
_RULE = re.compile(r"[\s|:+=*_-]+$")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_CITATIONS = r"(?:[ \t]*[\[【]\s*\d[^\]】\n]{0,40}[\]】])"
_ENDED = re.compile(rf"(?:[.!?…:;。！？]['\"”’)\]*_`]*{_CITATIONS}*|{_CITATIONS}[.!?]?)\s*$")
_ONLY_CITATIONS = re.compile(rf"{_CITATIONS}*[.!?]?")
_STOP = re.compile(
    rf"(?:[.!?…]+['\"”’)\]*_]*(?P<cited>{_CITATIONS}*[.!?]?)(?=\s|$)"
    rf"|[。！？]['\"”’」』）)]*{_CITATIONS}*)"
)
_CODE = re.compile(r"``.+?``|`[^`\n]*`")
# A sentence does not end with these; with the last group, not before a number.
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|viz|resp|approx|ca|al|Dr|Mr|Mrs|Ms|Prof|bzw|z\.\s?B|d\.\s?h)"
    r"|(?<![\w.])[A-Z]|\b(?:[A-Z]\.)+[A-Z])\.$"
)
_NUMBERED = re.compile(r"\b(?:Nos?|Figs?|Eqs?|Secs?|Ch|pp?|Vol|Art|Abs)\.$")
_GOES_ON = re.compile(r"[\s\"“'(]*[a-z]+(?![\w(:=]|\.\w)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of an answer that stands or falls as one.

    Attributes:
        start, end: its place in the answer; citations behind its full stop belong to it.
        text: that part of the answer, list marker included.
        is_code: whether it is a fenced block.
    """

    start: int
    end: int
    text: str
    is_code: bool = False

    @property
    def body(self) -> str:
        """The text without list marker, heading mark or fence."""
        if self.is_code:
            return "\n".join(line for line in self.text.splitlines() if not _FENCE.match(line))
        marker = _MARKER.match(self.text)
        return self.text[marker.end() :] if marker else self.text

    @property
    def is_lead(self) -> bool:
        """Whether it is a heading or, with its colon, announces what follows."""
        return self.text.lstrip().startswith("#") or self.body.rstrip(" *_`").endswith((":", "："))


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of an answer in order, white space around them left out.

    A full stop inside a number, a name such as ``a.py``, inline code or an abbreviation ends
    nothing. A line that only goes on with the one before, as in wrapped prose, is no new sentence.
    """
    found: list[Sentence] = []
    for start, end, is_code in _blocks(text):
        spans = [(start, end)] if is_code else _sentences(text, start, end)
        for begin, stop in spans:
            piece = text[begin:stop]
            begin += len(piece) - len(piece.lstrip())
            stop -= len(piece) - len(piece.rstrip())
            if begin >= stop:
                continue
            if found and _ONLY_CITATIONS.fullmatch(text[begin:stop]):
                found[-1] = replace(found[-1], end=stop, text=text[found[-1].start : stop])
            else:
                found.append(Sentence(begin, stop, text[begin:stop], is_code))
    return found


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Paragraphs, items, rows and fences: start, end, and whether it is code."""
    start: int | None = None
    previous = fence = ""
    for match in _LINE.finditer(text):
        line = match[0]
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence):
                yield start or 0, match.end(), True
                start, fence, previous = None, "", ""
            continue
        is_rule = bool(_RULE.match(line)) or not line.strip()
        if start is not None and (opened or is_rule or _begins(line, previous)):
            yield start, match.start(), False
            start = None
        if start is None and not is_rule:
            start = match.start()
        fence = opened[1] if opened else ""
        previous = line
    if start is not None:
        yield start, len(text), bool(fence)


def _begins(line: str, previous: str) -> bool:
    """Whether a line begins something new rather than going on with the one before."""
    return bool(
        _MARKER.match(line)
        or _ROW.match(line)
        or _ROW.match(previous)
        or _INDENTED.match(line)
        or _ENDED.search(previous)
        or previous.lstrip().startswith("#")
    )


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    """The sentences of one block."""
    code = [match.span() for match in _CODE.finditer(text, start, end)]
    begin = start
    marker = _MARKER.match(text, start, end)
    for match in _STOP.finditer(text, marker.end() if marker else start, end):
        if any(first < match.start() < last for first, last in code):
            continue
        stop = _end_of(text, match, end)
        if stop is not None:
            yield begin, stop
            begin = stop
    yield begin, end


def _end_of(text: str, stop: re.Match[str], end: int) -> int | None:
    """Where the sentence ends, or None where it goes on behind the full stop."""
    if stop["cited"] is None:  # a full stop that needs no blank behind it
        return stop.end()
    before = text[max(stop.start() - 12, 0) : stop.start() + 1]
    is_number_next = text[stop.end() : stop.end() + 3].lstrip()[:1].isdigit()
    if _ABBREVIATION.search(before) or (is_number_next and _NUMBERED.search(before)):
        return None
    if _GOES_ON.match(text, stop.end(), end):
        # "So. [1] says more": the number belongs to what follows it
        return stop.start("cited") if stop["cited"].strip(" .!?") else None
    return stop.end()
