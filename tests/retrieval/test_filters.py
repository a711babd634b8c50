"""Restricting a search to paths, types, symbols and sources."""

from __future__ import annotations

import numpy as np
import pytest

from ragmachine.errors import UsageError
from ragmachine.retrieval.filters import Condition, chunk_mask, parse_filter, path_pattern

FILES = ["docs/guide/cache.md", "src/cache.py", "src/engine/sampler.py", "README.md"]
TYPES = ["markdown", "python", "python", "markdown"]
LABELS = [
    "Section: Cache > Size",
    "Class: Cache - Method: get",
    "Function: sample",
    "Section: Intro",
]
FILE_OF = np.arange(4, dtype=np.int32)


def matching(text: str) -> list[int]:
    """The chunks that meet a filter; chunk n is the only one of file n."""
    mask = chunk_mask(
        parse_filter(text), files=FILES, file_types=TYPES, labels=LABELS, file_of_chunk=FILE_OF,
        sources=["handbook"] * len(FILES),
    )  # fmt: skip
    return np.flatnonzero(mask).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("path:docs/**", [0]),
        ("path:docs", [0]),
        ("path:*.py", [1, 2]),
        ("path:src/*.py", [1]),
        ("path:src/**/*.py", [1, 2]),
        ("path:sampler.py", [2]),
        ("path:/README.md", [3]),
        ("path:/cache.py", []),
        ("lang:python", [1, 2]),
        ("type:mark*", [0, 3]),
        ("symbol:Sampl*", [2]),
        ("symbol:get", [1]),
        ("section:cache", [0, 1]),
        ("source:handbook", [0, 1, 2, 3]),
        ("source:other", []),
        ("lang:python path:src/engine", [2]),
        ("lang:python lang:markdown", [0, 1, 2, 3]),
        ("-lang:python", [0, 3]),
        ("-path:src/** -path:docs/**", [3]),
        ("", [0, 1, 2, 3]),
    ],
)
def test_a_filter_keeps_what_it_says(text: str, expected: list[int]) -> None:
    """Different keys must all hold; of one key, any pattern; a minus excludes."""
    assert matching(text) == expected


def test_a_pattern_in_quotes_may_hold_blanks() -> None:
    """`path:"my docs/**"` is one condition."""
    assert parse_filter('path:"my docs/**"') == (Condition("path", "my docs/**"),)


@pytest.mark.parametrize("text", ["python", "colour:red", "lang:", ":x", 'path:"open'])
def test_what_is_no_filter_is_refused(text: str) -> None:
    """The message names the word, and the keys that exist."""
    with pytest.raises(UsageError, match="filter"):
        parse_filter(text)


def test_a_dot_in_a_pattern_is_a_dot() -> None:
    """Nothing of a glob is a regular expression by accident."""
    assert not path_pattern("a.py").fullmatch("aXpy")
