"""Pseudo-relevance feedback."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragmachine.retrieval.feedback import relevance_model


def idf(terms: Sequence[str]) -> list[float]:
    """Every term is equally rare, but `the`, which says nothing."""
    return [0.0 if term == "the" else 1.0 for term in terms]


def test_words_of_the_best_hits_are_added_lightly() -> None:
    """`pool` stands in both hits (3/4·1/2 + 1/4·1/2), `free` in one (3/4·1/2): 1 to 3/4."""
    hits = [(3.0, {"pool": 1, "free": 1}), (1.0, {"pool": 1, "cache": 1})]
    expanded = relevance_model({"cache": 1.0}, hits, idf, words=2, weight=0.2)
    assert expanded == {
        "pool": pytest.approx(0.2),
        "free": pytest.approx(0.15),
        "cache": 1.0,
    }


def test_the_users_words_keep_their_weight() -> None:
    """However often the hits repeat them."""
    assert relevance_model({"cache": 1.0}, [(1.0, {"cache": 9})], idf) == {"cache": 1.0}


def test_no_hits_add_nothing() -> None:
    """Feedback on nothing is the query itself."""
    assert relevance_model({"cache": 1.0}, [], idf) == {"cache": 1.0}


def test_equal_words_are_taken_in_alphabetical_order() -> None:
    """One word of two equals: the first by name, so that runs agree."""
    assert relevance_model({}, [(1.0, {"b": 1, "a": 1})], idf, words=1, weight=1) == {"a": 1.0}


def test_weights_come_in_steps() -> None:
    """1 to 3/4 of 0.1 is 0.075, rounded to 0.1; 1 to 1/4 is 0.025, and nothing is below 0.05."""
    hits = [(1.0, {"a": 4, "b": 3, "c": 1})]
    added = relevance_model({}, hits, idf, words=3, weight=0.1)
    assert added == {"a": pytest.approx(0.1), "b": pytest.approx(0.1), "c": pytest.approx(0.05)}
