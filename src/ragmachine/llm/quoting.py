"""Other people's text inside a prompt: marked as data, and unable to end the quotation itself."""

from __future__ import annotations

import re

# Marks of chat templates: a server that finds one in a prompt ends the turn there.
_TEMPLATE_MARK = re.compile(
    r"<(?=\|)|<(?=/?(?:start_of_turn|end_of_turn|think|tool_call|tool_response)>)|\[(?=/?INST\])"
)


def disarm(text: str) -> str:
    """Put a space after the first character of every chat-template mark, as in ``< |im_end|>``."""
    return _TEMPLATE_MARK.sub(lambda match: f"{match.group()} ", text)


def free_mark(text: str, word: str) -> str:
    """The first of ``WORD-1``, ``WORD-2``, … that does not occur in a text, whatever its case.

    Args:
        text: everything that must not be able to close the quotation.
        word: in capitals.
    """
    number = 1
    folded = text.upper()
    while f"{word}-{number}" in folded:
        number += 1
    return f"{word}-{number}"
