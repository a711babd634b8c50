"""Bytes to text by one declared rule, so that every character offset can be reproduced.

UTF-8 without newline translation, a byte order mark kept as part of the text. UTF-16 and UTF-32
only with their byte order mark, which becomes the first character; what is no character in them
becomes U+FFFD. Anything else that still looks like text is read as Latin-1, which maps each byte to
one character and therefore never fails. All but UTF-8 is reported.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_SNIFF_BYTES = 8192
# C0 controls that no text file holds; tab, newline, return, form feed and escape are left out
_CONTROL = bytes([*range(9), 11, *range(14, 27), *range(28, 32), 127])
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffd\ufffe\uffff]")
_MAX_CONTROL_SHARE = 0.02
# the mark of UTF-32-LE begins with that of UTF-16-LE
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of one file.

    Attributes:
        text: characters; offsets of the whole product count in these.
        problem: why the file was not read as plain UTF-8, else "".
    """

    text: str
    problem: str = ""


def is_binary(data: bytes) -> bool:
    """Whether the first 8 KiB look like something other than text."""
    head = data[:_SNIFF_BYTES]
    marked = _marked_encoding(head)
    if marked:
        # bytes that happen to begin like a mark decode to nonsense
        text = head.decode(marked, "replace")
        return len(_NO_TEXT.findall(text)) > max(1, int(len(text) * _MAX_CONTROL_SHARE))
    if b"\0" in head:
        return True
    controls = len(head) - len(head.translate(None, _CONTROL))
    return controls > max(1, int(len(head) * _MAX_CONTROL_SHARE))


def decode(data: bytes) -> Decoded:
    """Decode a file that `is_binary` let pass; never raises."""
    try:
        return Decoded(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        where = f"byte {error.start} is not UTF-8"
    marked = _marked_encoding(data)
    if marked:
        # the codec drops the mark; put it back so that it stays part of the text
        text = "\ufeff" + data.decode(marked, "replace")
        return Decoded(text, f"read as {marked.upper()}, by its mark")
    return Decoded(data.decode("latin-1"), f"{where}: read as Latin-1")


def _marked_encoding(data: bytes) -> str:
    """The encoding that a byte order mark announces, "" without one; UTF-8 needs none."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), "")
