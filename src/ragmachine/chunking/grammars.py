"""The parsers of the extra ``languages``: which are there, and a text to a tree within limits."""

from __future__ import annotations

import time
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from ragmachine.chunking.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node

_MAX_BYTES = 4_000_000  # a tree takes about fifteen times the bytes of its text
# Parsers are C code that may take the square of a hostile text; real code reports its progress at
# most 52 times for each 1,000 bytes, and takes less than a second for all of `_MAX_BYTES`.
_FREE_STEPS = 2_000
_STEPS_PER_BYTE = 0.06
_MAX_SECONDS = 5.0  # of this thread's processor time
_STEPS_PER_LOOK = 16  # at the clock
_READ_BYTES = 65_536


class ParseLimitError(ValueError):
    """A text was too large for a parser, or took it too long."""


@cache
def _grammar(module: str, entry: str) -> Grammar | None:
    """A grammar, which is what `entry` of a module returns.

    None where it, or tree-sitter, is not installed or the two are too far apart.
    """
    try:
        from tree_sitter import Language as Grammar

        return Grammar(getattr(import_module(module), entry)())
    except (ImportError, AttributeError, ValueError):
        return None


def is_installed(language: Language) -> bool:
    """Whether texts in a language can be parsed."""
    return _grammar(language.module, language.entry) is not None


def parse(source: bytes, language: Language) -> Node:
    """The root of a text's tree, which may hold errors.

    Args:
        source: UTF-8.
        language: one that `is_installed`.

    Raises: ParseLimitError: the text is too large, or takes too many steps or too much time.
    """
    from tree_sitter import Parser

    if len(source) > _MAX_BYTES:
        raise ParseLimitError(f"larger than {_MAX_BYTES:,} bytes")
    view = memoryview(source)
    limit = _Limit(_FREE_STEPS + int(_STEPS_PER_BYTE * len(source)))
    parser = Parser(_grammar(language.module, language.entry))
    try:
        tree = parser.parse(
            lambda offset, _: view[offset : offset + _READ_BYTES], progress_callback=limit
        )
    except ValueError as error:
        if not limit.reason:
            raise
        raise ParseLimitError(limit.reason) from error
    return tree.root_node


class _Limit:
    """Stops a parser; it is asked at each step whether to."""

    def __init__(self, max_steps: int) -> None:
        self.left = max_steps
        self.until = time.thread_time() + _MAX_SECONDS
        self.reason = ""

    def __call__(self, _offset: int, _has_error: bool) -> bool:
        self.left -= 1
        if self.left < 0:
            self.reason = "takes a parser too many steps"
        elif self.left % _STEPS_PER_LOOK == 0 and time.thread_time() > self.until:
            self.reason = f"takes a parser more than {_MAX_SECONDS:.0f} seconds"
        return bool(self.reason)
