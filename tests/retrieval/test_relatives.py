"""Known words in place of unknown ones."""

from __future__ import annotations

import pytest

from ragmachine.retrieval.relatives import Relatives

KNOWN = {"author": 5, "authent": 9, "authorizations": 3, "guess": 2, "gue": 8, "cach": 3,
         "zzauth": 1}  # fmt: skip


def relatives(word: str) -> list[str]:
    """Relatives in a vocabulary of the words above."""
    return Relatives(KNOWN, lambda term: KNOWN.get(term, 0), does_correct=True).of(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("auth", ["authent", "author"]),
        ("guesser", ["guess"]),
        ("cahc", ["cach"]),
        ("aut", []),
        ("guessworking", []),
        ("max_tokens", []),
        ("2024", []),
        ("", []),
    ],
    ids=["longer, most frequent first", "shorter", "a slip", "too short", "too much cut off",
         "a name", "a number", "nothing"],
)  # fmt: skip
def test_relatives_of_a_word(word: str, expected: list[str]) -> None:
    """Words that begin with it, the longest that it begins with, one slip away."""
    assert relatives(word) == expected


def test_there_are_at_most_six() -> None:
    """Four longer ones, a shorter one and a slip."""
    known = {f"stem{letter}": 1 for letter in "abcdefgh"} | {"ste": 1, "stam": 1}
    assert len(Relatives(known, lambda term: known.get(term, 0), does_correct=True).of("stem")) <= 6


def test_slips_are_left_alone_where_they_are_not_to_be_mended() -> None:
    """Then only longer and shorter words stand in."""
    frequency = lambda term: KNOWN.get(term, 0)  # noqa: E731
    assert Relatives(KNOWN, frequency, does_correct=False).of("cahc") == []
