"""A piece of a file: what it says, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ragmachine.places import Box, around, page_number

# Column to value, or to the values of a list, of a record; in the order of its columns.
Metadata = tuple[tuple[str, str | tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A contiguous piece of one source file.

    Attributes:
        id: position in its index, from 0; stable within one generation only.
        file_path: POSIX path relative to the project root.
        start: first character, an index into the file decoded as UTF-8 untranslated.
        end: one past the last character; ``file_text[start:end] == text``.
        first_line: line of `start`, counted from 1.
        last_line: line of the last character, inclusive.
        text: the exact source text; never holds injected metadata.
        file_type: short lower-case type such as ``python``, ``markdown``, ``cuda``.
        label: symbol or section, e.g. ``Class: Engine - Method: step`` or ``Section: A > B``.
        place: where it stands in a document whose bytes are not its text, e.g. ``p.2``, ``row 7``;
            offsets and lines then count in the text read out of it. Else "".
        metadata: the short columns of the record that it is text of, else empty.
        boxes: where it stands on the page where it begins, a box for each column of text; empty
            where that is not known.
    """

    id: int
    file_path: str
    start: int
    end: int
    first_line: int
    last_line: int
    text: str
    file_type: str
    label: str
    place: str = ""
    metadata: Metadata = ()
    boxes: tuple[Box, ...] = ()

    @property
    def location(self) -> str:
        """``path:first-last``, as people and editors name lines, or the like of ``path p.2``."""
        return location_of(self.file_path, self.first_line, self.last_line, self.place)

    @property
    def content_id(self) -> str:
        """SHA-256 of path and text, in hexadecimal: the same in every build that finds them so."""
        import hashlib

        return hashlib.sha256(
            f"{self.file_path}\0{self.text}".encode("utf-8", "surrogatepass")
        ).hexdigest()


def location_of(file_path: str, first_line: int, last_line: int, place: str) -> str:
    """``path:first-last``, or the path and its place in a document that has no lines."""
    return f"{file_path} {place}" if place else f"{file_path}:{first_line}-{last_line}"


def place_json(place: str) -> dict[str, str]:
    """The place as a field of JSON, which files without places do not have."""
    return {"place": place} if place else {}


def page_json(chunk: Chunk) -> dict[str, Any]:
    """The page as fields of JSON, and the boxes on it where they are known."""
    page = page_number(chunk.place)
    if not page:
        return {}
    boxes = [list(box) for box in chunk.boxes]
    return {
        "page": page,
        **({"box": list(around(chunk.boxes))} if boxes else {}),
        **({"boxes": boxes} if len(boxes) > 1 else {}),
    }
