"""What stands at the head of a GGUF file, read without loading the model."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

from .chat import ModelUnavailableError

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_FORMATS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_LONGEST_TEXT_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Facts about a model.

    Attributes:
        architecture: e.g. ``llama``; "" where the file does not say.
        context_tokens: longest text that it was trained on, in tokens; 0 where it does not say.
    """

    architecture: str
    context_tokens: int


def read_header(path: str) -> GgufHeader:
    """Read the metadata as far as they are needed; a few milliseconds.

    Raises: ModelUnavailableError: no such file, or none in this format.
    Source: the GGUF specification of the ggml project, versions 2 and 3.
    """
    try:
        with open(path, "rb") as stream:
            return _read(stream, os.path.getsize(path))
    except OSError as error:
        raise ModelUnavailableError(
            f"the model file {path} cannot be read: {error.strerror or error}",
            remedy="name a GGUF file with --gguf",
        ) from None
    except (struct.error, ValueError, KeyError):
        raise ModelUnavailableError(
            f"{path} is no GGUF file", remedy="name another file with --gguf"
        ) from None


def _read(stream: BinaryIO, size_bytes: int) -> GgufHeader:
    magic, version, _, count = struct.unpack("<4sIQQ", stream.read(24))
    if magic != _MAGIC or version not in _VERSIONS:
        raise ValueError("no GGUF")
    facts: dict[str, Any] = {}
    for _ in range(count):
        name = _text(stream)
        facts[name] = _value(stream, _unpack(stream, "I"), size_bytes)
        family = str(facts.get("general.architecture", ""))
        if family and f"{family}.context_length" in facts:
            break
    family = str(facts.get("general.architecture", ""))
    return GgufHeader(family, int(facts.get(f"{family}.context_length") or 0))


def _value(stream: BinaryIO, kind: int, size_bytes: int) -> Any:
    """A value; of an array nothing is kept."""
    if kind == _STRING:
        return _text(stream)
    if kind != _ARRAY:
        return _unpack(stream, _FORMATS[kind])
    element, count = _unpack(stream, "I"), _unpack(stream, "Q")
    if count > size_bytes:
        raise ValueError("an array longer than its file")
    if element in _FORMATS:
        stream.seek(count * struct.calcsize(_FORMATS[element]), os.SEEK_CUR)
        return None
    for _ in range(count):
        _value(stream, element, size_bytes)
    return None


def _text(stream: BinaryIO) -> str:
    length = _unpack(stream, "Q")
    if length > _LONGEST_TEXT_BYTES:
        raise ValueError("a text that long is none")
    return stream.read(length).decode("utf-8", "replace")


def _unpack(stream: BinaryIO, kind: str) -> Any:
    kind = "<" + kind
    return struct.unpack(kind, stream.read(struct.calcsize(kind)))[0]
