"""What kind of document a file's name announces, and what has to be installed to read it."""

from __future__ import annotations

_KIND_OF = {
    "pdf": "pdf",
    "docx": "docx",
    "docm": "docx",
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "ipynb": "notebook",
    "csv": "csv",
    "tsv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
}
# Kinds whose bytes are never text, with the module that reads them where it is an extra's.
_PACKED = {"pdf": "pypdfium2", "docx": ""}
PACKED_SUFFIXES = frozenset(suffix for suffix, kind in _KIND_OF.items() if kind in _PACKED)


def kind_of(path: str) -> str:
    """The kind of document that a file's name announces, "" for plain text."""
    name = path.rpartition("/")[2]
    return _KIND_OF.get(name.rpartition(".")[2].lower(), "") if "." in name else ""


def is_packed(path: str) -> bool:
    """Whether a file of this name holds its text packed, so that its size says little of it."""
    return kind_of(path) in _PACKED


def missing_extra(path: str) -> str:
    """Why a file cannot be read here, and what to type; "" where it can."""
    kind = kind_of(path)
    module = _PACKED.get(kind, "")
    if not module:
        return ""
    from importlib.util import find_spec

    if find_spec(module):
        return ""
    return f"{kind}, read once `pip install 'ragmachine[{kind}]'` is typed"
