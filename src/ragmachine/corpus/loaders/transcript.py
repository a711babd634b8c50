"""What a vision model is asked about the image of a page, and its answer as the parse of a page.

Where lines stand is not known. They are spread over the page in their order, which is what
paragraphs, running heads and headings are told by; nothing is said of boxes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

PROMPT = (
    "Transcribe the page in the image: all of its text, word for word, in the order in which it is"
    " read. Begin headings with #, ## or ###. Write tables as Markdown tables with all rows and"
    " columns. Copy numbers and names exactly. Do not describe pictures, do not add, explain or"
    " translate anything, and do not put the whole into a code block."
)

_SIZE = 10.0
_HEADING_SIZES = (20.0, 17.0, 15.0, 13.5, 12.0, 12.0)
_CHAR_WIDTH = 6.0
_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*([\w+-]*)\s*\Z")
_HEADING = re.compile(r"(#{1,6})\s+(\S.*)")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*\Z")
_CELL_END = re.compile(r"(?<!\\)\|")


class Transcriber(Protocol):
    """A model that reads images of pages."""

    @property
    def name(self) -> str:
        """Of the model; what it read is kept under it."""
        ...

    @property
    def is_available(self) -> bool:
        """False once it turned out that there is no use in asking."""
        ...

    def transcribe(self, prompt: str, image: bytes) -> str:
        """What the model says of an image (PNG).

        Raises: ModelError: it cannot be asked, or gave no whole answer.
        """
        ...


@dataclass(slots=True)
class _Line:
    """A line of the transcript, or a table where it has rows; both empty for a blank one."""

    text: str = ""
    level: int = 0
    is_code: bool = False
    rows: list[list[str]] = field(default_factory=list)


def parse_of(transcript: str, height: float) -> dict[str, Any]:
    """A page as `pdf_reader.read_page` gives it, ``source`` being ``model``.

    Args:
        transcript: Markdown.
        height: of the page, in points.
    """
    lines = list(_lines(_unwrapped(transcript.splitlines())))
    step = height / max(len(lines), 1)
    items = []
    for number, line in enumerate(lines):
        if line.rows or line.text.strip():
            items.append(_item(line, number * step, (number + 1) * step))
    return {"height": height, "source": "model", "is_image": True, "items": items}


def _unwrapped(lines: Sequence[str]) -> Sequence[str]:
    """Lines without a fence around all of them, in which models like to put Markdown."""
    said = [number for number, line in enumerate(lines) if line.strip()]
    if len(said) < 2:
        return lines
    first, last = _FENCE.match(lines[said[0]]), _FENCE.match(lines[said[-1]])
    is_wrapped = first and last and not last[2] and first[2].lower() in ("", "markdown", "md")
    return lines[said[0] + 1 : said[-1]] if is_wrapped else lines


def _lines(lines: Sequence[str]) -> Iterator[_Line]:
    fence = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        mark = _FENCE.match(line)
        table = [] if fence else _table(lines, at)
        heading = None if fence else _HEADING.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not mark[2])):
            fence = "" if fence else mark[1]
        elif fence:
            yield _Line(line, is_code=True)
        elif table:
            yield _Line(rows=[row for row in map(_cells, table) if any(row)])
        elif heading and (said := heading[2].rstrip("# \t")):
            yield from (_Line(), _Line(said, level=len(heading[1])), _Line())
        else:
            yield _Line(line)
        at += max(len(table), 1)


def _table(lines: Sequence[str], first: int) -> list[str]:
    """The lines of the pipe table that begins with a line; none where it begins none."""
    if "|" not in lines[first] or first + 1 >= len(lines) or "|" not in lines[first + 1]:
        return []
    if not _RULE.match(lines[first + 1].strip()):
        return []
    last = first + 2
    while last < len(lines) and "|" in lines[last]:
        last += 1
    return list(lines[first:last])


def _cells(line: str) -> list[str]:
    """The cells of a row; none of a rule's."""
    if _RULE.match(line.strip()):
        return []
    inner = line.strip().removeprefix("|")
    parts = _CELL_END.split(inner)
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    return [part.strip().replace("\\|", "|") for part in parts]


def _item(line: _Line, top: float, bottom: float) -> dict[str, Any]:
    stands = {"top": top, "bottom": bottom}
    if line.rows:
        # no edges: only what has the same header goes on with the table of the page before
        return {"rows": line.rows, "x0": math.nan, "x1": math.nan, **stands}
    text = line.text.strip()
    indent = _CHAR_WIDTH * (len(line.text) - len(line.text.lstrip()))
    return {
        "text": text,
        "x0": indent,
        "x1": indent + _CHAR_WIDTH * len(text),
        "size": _HEADING_SIZES[line.level - 1] if line.level else _SIZE,
        "bold": False,
        "mono": line.is_code,
        **stands,
    }
