"""Bytes to text by one declared rule, so that every character offset can be reproduced.

UTF-8 without newline translation, a byte order mark kept as part of the text. UTF-16 only with
its byte order mark. Anything else that still looks like text is read as Latin-1, which maps each
byte to one character and therefore never fails, and is reported.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_SNIFF_BYTES = 8192
# C0 controls that no text file holds; tab, newline, return, form feed and escape are left out
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_MAX_CONTROL_SHARE = 0.02
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


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
    if head.startswith(_UTF16_MARKS):
        return False
    if b"\0" in head:
        return True
    controls = len(_CONTROL.findall(head))
    return controls > max(1, int(len(head) * _MAX_CONTROL_SHARE))


def decode(data: bytes) -> Decoded:
    """Decode a file that `is_binary` let pass; never raises."""
    try:
        return Decoded(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        where = f"byte {error.start} is not UTF-8"
    if data.startswith(_UTF16_MARKS):
        try:
            # the codec drops the mark; put it back so that it stays part of the text
            return Decoded("\ufeff" + data.decode("utf-16"), "read as UTF-16, by its mark")
        except UnicodeDecodeError:
            pass
    return Decoded(data.decode("latin-1"), f"{where}: read as Latin-1")
