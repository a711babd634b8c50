"""Reads ``[n]`` in an answer and ties each number to the passage it names."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from ragmachine.models import Citation

from .stitch import Passage

# Code is left alone, and so are links and footnotes.
_CODE = r"(?P<code>```.*?(?:```|\Z)|``.+?``|`[^`\n]*`)"
_GROUP = (
    r"(?<![ \t])(?P<space>[ \t]*)(?P<glued>(?<=\w))?"
    r"(?:\[|(?P<wide>【))\s*(?:(?:passages?|snippets?|sources?)\s+)?"
    r"(?P<numbers>\d{1,4}(?:\s*(?:[,;&–-]|and)\s*\d{1,4})*)"
    r"\s*(?(wide)(?:†[^】\n]*)?】|\](?![(:\w]))"
)
_AT_END = re.compile(r"(?:\A|[ \t])\[(\d{1,4})\]\s*\Z")
_RANGE = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_CITED = re.compile(f"{_CODE}|{_GROUP}", re.DOTALL | re.IGNORECASE)


def read_citations(text: str, numbers: Iterable[int]) -> tuple[str, tuple[int, ...]]:
    """Drop numbers that name no passage, and list those that do.

    ``[1, 2]``, ``[1-2]``, ``[1][2]`` and ``【1】【2】`` all cite two passages; all are written as
    ``[1, 2]`` or ``[1]``. An unknown number glued to a word, as in ``shape[0]``, is taken for code
    and left as it is.

    Args:
        text: a model's answer.
        numbers: the passages that exist.
    Returns: the text with known numbers only, and the numbers cited, ascending.
    """
    known = set(numbers)
    cited: set[int] = set()

    def rewrite(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match[0]
        kept = [n for n in _expand(match["numbers"]) if n in known]
        if not kept:
            return match[0] if match["glued"] is not None else ""
        cited.update(kept)
        return f"{match['space']}[{', '.join(map(str, dict.fromkeys(kept)))}]"

    return _CITED.sub(rewrite, text).strip(), tuple(sorted(cited))


def numbers_in(text: str, known: Container[int]) -> tuple[int, ...]:
    """The known passages that a text cites, each once, in its order."""
    groups = (match["numbers"] for match in _CITED.finditer(text) if match["code"] is None)
    return tuple(dict.fromkeys(n for group in groups for n in _expand(group) if n in known))


def last_number(text: str) -> tuple[str, int | None]:
    """A text without the ``[n]`` at its end, which every quotation has, and that number."""
    match = _AT_END.search(text)
    return (text[: match.start()], int(match[1])) if match else (text, None)


def without_citations(text: str, known: Container[int]) -> str:
    """The text without its citations of known passages; code stays as it is."""

    def rest(match: re.Match[str]) -> str:
        is_citation = match["code"] is None and any(n in known for n in _expand(match["numbers"]))
        return "" if is_citation else match[0]

    return _CITED.sub(rest, text)


def _expand(numbers: str) -> list[int]:
    """``1, 3-5`` as 1, 3, 4, 5."""
    spans = [(int(first), int(last or first)) for first, last in _RANGE.findall(numbers)]
    return [number for first, last in spans for number in range(first, last + 1)]


def cite(passages: Sequence[Passage], numbers: Iterable[int]) -> tuple[Citation, ...]:
    """Citations with the exact span and lines of each cited passage, in the order of `numbers`.

    Raises: ValueError: a number names no passage.
    """
    by_number = {passage.number: passage.hit.chunk for passage in passages}
    citations = []
    for number in numbers:
        chunk = by_number.get(number)
        if chunk is None:
            raise ValueError(f"no passage has number {number}")
        citations.append(
            Citation(
                number,
                chunk.file_path,
                chunk.start,
                chunk.end,
                chunk.first_line,
                chunk.last_line,
                chunk.place,
            )
        )
    return tuple(citations)
