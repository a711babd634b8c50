"""Which chunks define a name: by their label, or by an assignment in their text."""

from __future__ import annotations

import re
from functools import lru_cache

# What follows a name where it gets its value: `: type = `, ` = `, and `": ` of a key. An equals
# sign without a blank before it is an argument of a call.
_AFTER = r"(?:[ \t]*:[^=\n]*)?[ \t]+=(?!=)|[\"'][ \t]*:"
_BEFORE = frozenset(("", "self.", '"', "'", "const ", "let ", "var ", "static "))
_MACRO = "#define "


@lru_cache(maxsize=1 << 16)
def own_symbols(label: str) -> frozenset[str]:
    """The innermost name of each part of a label, lower-case: what the chunk itself defines.

    ``Class: Cache - Method: get; Function: run`` gives ``get`` and ``run``.
    """
    parts = (part for part in label.split("; ") if not part.startswith("Section: "))
    return frozenset(part.rpartition(": ")[2].rpartition(".")[2].lower() for part in parts)


def has_assignment(text: str, name: str) -> bool:
    """Whether a line of a text gives a name its value: an assignment, a field, a key, a macro.

    Args:
        text: lower-case.
        name: lower-case; a part of a longer name is not meant.
    """
    after = re.compile(_AFTER)
    position = text.find(name)
    while position >= 0:
        end = position + len(name)
        before = text[text.rfind("\n", 0, position) + 1 : position].lstrip()
        if before in _BEFORE and after.match(text, end):
            return True
        if before == _MACRO and not (text[end : end + 1].isalnum() or text[end : end + 1] == "_"):
            return True
        position = text.find(name, end)
    return False
