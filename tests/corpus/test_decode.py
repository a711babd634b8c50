"""Bytes become text by one declared rule."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmachine.corpus.decode import Decoded, decode, is_binary


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("plain\n", id="ASCII"),
        pytest.param("naïve 中文 हिन्दी 😀\n", id="UTF-8"),
        pytest.param("\ufeffmarked\n", id="byte order mark"),
        pytest.param("a\r\nb\rc\n", id="line ends"),
        pytest.param("a\u2028b\x0cc\x85d", id="separators"),
    ],
)
def test_utf_8_is_read_as_it_is(text: str) -> None:
    """No newline is translated and no mark dropped, so that offsets are those of the file."""
    assert decode(text.encode("utf-8")) == Decoded(text)


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
        ("utf-32-be", codecs.BOM_UTF32_BE),
    ],
)
def test_a_mark_names_the_encoding(encoding: str, mark: bytes) -> None:
    """UTF-16 and UTF-32 are read by their mark, which stays the first character."""
    data = mark + "naïve 中文 😀\r\n".encode(encoding)
    assert not is_binary(data)
    assert decode(data) == Decoded(
        "\ufeffnaïve 中文 😀\r\n", f"read as {encoding[:6].upper()}, by its mark"
    )


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b"x", id="half a unit"),
        pytest.param(b"\x00\xd8", id="lone surrogate"),
    ],
)
def test_what_is_no_character_is_replaced(tail: bytes) -> None:
    """A damaged UTF-16 file is still UTF-16, not Latin-1 with a zero after every letter."""
    decoded = decode(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le") + tail)
    assert decoded.text == "\ufeffab\ufffd"
    assert decoded.problem == "read as UTF-16, by its mark"


def test_other_bytes_are_latin_1() -> None:
    """One character for each byte, with the place of the first that is not UTF-8."""
    assert decode(b"caf\xe9\r\n") == Decoded("café\r\n", "byte 3 is not UTF-8: read as Latin-1")


def test_a_bad_byte_among_good_ones_loses_nothing() -> None:
    """As many characters as bytes: nothing is dropped, no later offset shifts."""
    data = "中文".encode() + b"\xff\n" + b"tail"
    decoded = decode(data)
    assert len(decoded.text) == len(data)
    assert decoded.text.endswith("ÿ\ntail")
    assert decoded.problem == "byte 6 is not UTF-8: read as Latin-1"


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.binary(max_size=200), st.binary(max_size=50).map(lambda data: b"\xff\xfe" + data))
)
def test_decoding_never_fails_and_can_be_written_again(data: bytes) -> None:
    """Whatever the bytes, the text is valid UTF-8 and only UTF-8 goes unreported."""
    decoded = decode(data)
    again = decoded.text.encode("utf-8")
    assert (again == data) or decoded.problem


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x7fELF\x02\x01\x01\x00\x00\x00", id="ELF"),
        pytest.param(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", id="PNG"),
        pytest.param(b"text with a \x00 in it", id="NUL"),
        pytest.param(b"\x01\x02\x03\x04" * 20, id="controls"),
        pytest.param("text".encode("utf-16-le"), id="UTF-16 without a mark"),
        pytest.param(b"\xff\xfe" + bytes(range(256)) * 8 + b"\x00\xd8" * 50, id="looks marked"),
        pytest.param(b"\xff\xfe\x00\x00" + b"\xff" * 400, id="looks like UTF-32"),
    ],
)
def test_binary(data: bytes) -> None:
    """A zero byte, or more than 2% of controls that no text holds."""
    assert is_binary(data)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xff\xfe", id="mark alone"),
        pytest.param(b"a\tb\r\n\x0cc", id="tab, return, form feed"),
        pytest.param(b"\x1b[31mred\x1b[0m" * 10, id="terminal colours"),
        pytest.param("naïve 中文 😀".encode(), id="UTF-8"),
        pytest.param(b"caf\xe9", id="Latin-1"),
        pytest.param(b"x\x08", id="one stray control"),
        pytest.param(b"a" * 98 + b"\x01\x01", id="two in a hundred"),
        pytest.param(b"x" * 8192 + b"\x00", id="beyond 8 KiB"),
    ],
)
def test_not_binary(data: bytes) -> None:
    """Text with what text may hold; only the first 8 KiB are looked at."""
    assert not is_binary(data)
