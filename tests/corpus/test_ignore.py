"""Ignore files are read as git reads them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmachine.corpus.ignore import IgnoreFile

PATTERNS = [
    # pattern, path, is a folder, ignored
    ("x", "x", False, True),
    ("x", "a/x", False, True),
    ("x", "xy", False, False),
    ("x/", "x", False, False),
    ("x/", "x", True, True),
    ("x/", "a/x", True, True),
    ("/x", "a/x", False, False),
    ("a/x", "a/x", False, True),
    ("a/x", "b/a/x", False, False),
    ("*", "a/b", False, True),
    ("*.py", "a/b.py", False, True),
    ("a/*.py", "a/b/c.py", False, False),
    ("a*c", "a/c", False, False),
    ("a*b*c", "aXbYbZc", False, True),
    ("a*b*c", "aXbYcd", False, False),
    ("?.py", "é.py", False, True),
    ("?.py", "ab.py", False, False),
    ("**/x", "x", False, True),
    ("**/x", "a/b/x", False, True),
    ("a/**/x", "a/x", False, True),
    ("a/**/x", "a/b/c/x", False, True),
    ("a/**", "a", True, False),
    ("a/**", "a/b/c", False, True),
    ("a**x", "abx", False, True),
    ("a/b**x", "a/b/x", False, False),
    ("**", "a/b", False, True),
    ("/**", "a/b", False, True),
    ("[ab].py", "b.py", False, True),
    ("[!ab].py", "b.py", False, False),
    ("[^ab].py", "c.py", False, True),
    ("[a-c]x", "bx", False, True),
    ("[c-a]x", "bx", False, False),
    ("[]a]x", "]x", False, True),
    ("[a-]x", "-x", False, True),
    ("[[:digit:]]x", "7x", False, True),
    ("[[:digit:]]x", "ax", False, False),
    ("a[/]b", "a/b", False, False),
    ("[", "[", False, False),
    ("\\[", "[", False, True),
    ("\\*", "ab", False, False),
    ("\\!x", "!x", False, True),
    ("\\#x", "#x", False, True),
    ("#x", "#x", False, False),
    ("x ", "x", False, True),
    ("x\\ ", "x ", False, True),
    (" x", "x", False, False),
    ("a//b", "a/b", False, False),
    ("a.b", "aXb", False, False),
    ("(x|y)+", "x", False, False),
    ("x\\", "x", False, False),
]


@pytest.mark.parametrize(("pattern", "path", "is_folder", "is_ignored"), PATTERNS, ids=str)
def test_pattern(pattern: str, path: str, is_folder: bool, is_ignored: bool) -> None:
    """As git has it, but that `?` stands for a character where git counts bytes."""
    verdict = IgnoreFile([pattern]).verdict(path, is_folder=is_folder)
    assert verdict is (True if is_ignored else None)


def test_the_last_pattern_that_matches_decides() -> None:
    """`!` takes a path back in, and a later line may drop it again."""
    patterns = IgnoreFile(["*.md", "!a*.md", "ab.md"])
    verdicts = [patterns.verdict(path, is_folder=False) for path in ("b.md", "a.md", "ab.md", "x")]
    assert verdicts == [True, False, True, None]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("ab*?[]!^-/\\#. \n:", max_size=10), max_size=4), st.text("ab/", max_size=8))
def test_any_line_is_understood_or_ignored(lines: list[str], path: str) -> None:
    """No pattern raises."""
    assert IgnoreFile(lines).verdict(path, is_folder=False) in (True, False, None)


def test_stars_are_not_tried_in_every_way() -> None:
    """Twenty stars against a long name are decided at once (trying all would take for ever)."""
    patterns = IgnoreFile(["*a" * 20 + "b"])
    assert patterns.verdict("a" * 250, is_folder=False) is None
