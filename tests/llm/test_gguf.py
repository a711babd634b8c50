"""Heads of GGUF files, written by hand."""

from __future__ import annotations

import struct

import pytest

from ragmachine.llm.chat import ModelUnavailableError
from ragmachine.llm.gguf import GgufHeader, read_header


def text(value: str) -> bytes:
    """A length and the bytes."""
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def fact(name: str, kind: int, value: bytes) -> bytes:
    """A name, a type and a value."""
    return text(name) + struct.pack("<I", kind) + value


def head(
    *facts: bytes, magic: bytes = b"GGUF", version: int = 3, count: int | None = None
) -> bytes:
    """The first bytes of a file."""
    number = len(facts) if count is None else count
    return struct.pack("<4sIQQ", magic, version, 0, number) + b"".join(facts)


FAMILY = fact("general.architecture", 8, text("toy"))
CONTEXT = fact("toy.context_length", 4, struct.pack("<I", 2048))
NUMBERS = fact("toy.numbers", 9, struct.pack("<IQ3i", 5, 3, 1, 2, 3))
WORDS = fact("tokenizer.tokens", 9, struct.pack("<IQ", 8, 2) + text("a") + text("bc"))
FLAG = fact("toy.flag", 7, b"\1")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(head(FAMILY, CONTEXT), GgufHeader("toy", 2048), id="plain"),
        pytest.param(head(CONTEXT, FAMILY), GgufHeader("toy", 2048), id="other order"),
        pytest.param(
            head(FLAG, NUMBERS, WORDS, FAMILY, CONTEXT), GgufHeader("toy", 2048), id="after arrays"
        ),
        pytest.param(head(FAMILY, CONTEXT, version=2), GgufHeader("toy", 2048), id="version 2"),
        pytest.param(head(FAMILY), GgufHeader("toy", 0), id="no context length"),
        pytest.param(
            head(FAMILY, fact("toy.context_length", 10, struct.pack("<Q", 9))),
            GgufHeader("toy", 9),
            id="64 bits",
        ),
        pytest.param(head(), GgufHeader("", 0), id="nothing said"),
    ],
)
def test_what_a_head_says(tmp_path, content, expected):
    """Architecture and context length, wherever they stand."""
    path = tmp_path / "toy.gguf"
    path.write_bytes(content)
    assert read_header(str(path)) == expected


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(head(magic=b"GGML"), id="another format"),
        pytest.param(head(version=1), id="unknown version"),
        pytest.param(head(FAMILY, count=5), id="ends too soon"),
        pytest.param(head(fact("a", 99, b"")), id="unknown type"),
        pytest.param(head(fact("a", 9, struct.pack("<IQ", 8, 1 << 60))), id="endless array"),
        pytest.param(head(fact("a", 8, struct.pack("<Q", 1 << 60))), id="endless text"),
    ],
)
def test_what_is_no_gguf(tmp_path, content):
    """One line that names the file and the option."""
    path = tmp_path / "toy.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelUnavailableError, match=r"toy\.gguf is no GGUF file") as caught:
        read_header(str(path))
    assert "--gguf" in caught.value.remedy


@pytest.mark.parametrize(("name", "why"), [("missing.gguf", "No such file"), (".", "directory")])
def test_a_file_that_cannot_be_read(tmp_path, name, why):
    """The operating system's reason is given."""
    with pytest.raises(ModelUnavailableError, match=f"cannot be read: .*{why}"):
        read_header(str(tmp_path / name))
