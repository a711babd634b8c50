"""Pseudo-relevance feedback."""

from __future__ import annotations

import pytest

from ragmachine.retrieval.feedback import relevance_model


def idf(term: str) -> float:
    """Every term is equally rare, but `the`, which says nothing."""
    return 0.0 if term == "the" else 1.0


def test_words_of_the_best_hits_are_added_lightly() -> None:
    """`pool` stands in both hits (3/4·1/2 + 1/4·1/2), `free` in one (3/4·1/2): 1 to 3/4."""
    hits = [(3.0, ["pool", "free"]), (1.0, ["pool", "cache"])]
    expanded = relevance_model({"cache": 1.0}, hits, idf, words=2, weight=0.2)
    assert expanded == {"pool": 0.2, "free": pytest.approx(0.15), "cache": 1.0}


def test_the_users_words_keep_their_weight() -> None:
    """However often the hits repeat them."""
    assert relevance_model({"cache": 1.0}, [(1.0, ["cache"] * 9)], idf) == {"cache": 1.0}


def test_no_hits_add_nothing() -> None:
    """Feedback on nothing is the query itself."""
    assert relevance_model({"cache": 1.0}, [], idf) == {"cache": 1.0}


def test_equal_words_are_taken_in_alphabetical_order() -> None:
    """One word of two equals: the first by name, so that runs agree."""
    assert relevance_model({}, [(1.0, ["b", "a"])], idf, words=1, weight=1) == {"a": 1.0}
