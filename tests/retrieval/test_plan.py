"""Questions of several parts."""

from __future__ import annotations

import pytest

from ragmachine.retrieval.plan import MAX_PARTS, compared, decompose


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Compare the warranty of the Delta Sensor and the Cobalt Pump",
         ("warranty of Delta Sensor", "warranty of Cobalt Pump")),
        ("compare retry limits in Redis versus Kafka?",
         ("retry limits in Redis", "retry limits in Kafka")),
        ("What is the difference between RRF and MMR in search?",
         ("RRF in search", "MMR in search")),
        ("Which has the longer warranty, the Delta 3 or the Delta 5?",
         ("warranty of Delta 3", "warranty of Delta 5")),
        ("Which one is heavier: the Limpet or the Winkle?",
         ("heavier of Limpet", "heavier of Winkle")),
        ("What is the difference in highest pressure between the Delta 3 and the Delta 5?",
         ("highest pressure of Delta 3", "highest pressure of Delta 5")),
        ("the difference in warranty between the Delta 3 and the Delta 5 for hotels",
         ("warranty of Delta 3 for hotels", "warranty of Delta 5 for hotels")),
        ("How is the cache sized? Where is it stored?",
         ("How is the cache sized", "Where is it stored")),
        ("set the port; rotate the log", ("set the port", "rotate the log")),
        ("What is the default port and how do I change it?",
         ("What is the default port", "how do I change it")),
    ],
    ids=["compare of", "compare in versus", "difference", "which has", "which is", "difference in",
         "difference in for", "two questions", "semicolon", "and how"],
)  # fmt: skip
def test_parts_are_searched_one_by_one(question: str, parts: tuple[str, ...]) -> None:
    """Each part can be answered alone."""
    assert decompose(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "What does the scheduler do when memory runs out?",
        "bread and butter",
        "which error is raised for CancelledError and GeneratorExit?",
        "What is C++? ",
        "",
        "e.g. version 3.12; x",
    ],
)
def test_a_question_of_one_part_is_left_alone(question: str) -> None:
    """Its very text comes back."""
    assert decompose(question) == (question,)


def test_there_are_never_more_than_three_parts() -> None:
    """What is over goes into the last part; no word is lost."""
    parts = decompose("What is alpha? What is beta? What is gamma? What is delta?")
    assert len(parts) == MAX_PARTS
    assert "delta" in parts[-1]


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between RRF and MMR in search?",
        "Which option sets the port, and which the host?",
        "What is the port or the host?",
        "What is the default log format, JSON or plain text?",
        "Which is the name of the port: http or https?",
        "",
    ],
)
def test_what_asks_nothing_of_two_things_is_no_comparison(question: str) -> None:
    """It is searched for as it stands."""
    assert compared(question) == ()
