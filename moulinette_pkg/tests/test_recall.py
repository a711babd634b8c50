"""recall@k and validity of questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..moulinette.datasets import Entry, Question
from ..moulinette.overlap import Span
from ..moulinette.recall import (
    applicable_cutoffs,
    is_passing,
    is_question_valid,
    mean,
    question_recall,
    recall_at_k,
)

A, B, C = Span("a", 0, 100), Span("b", 0, 100), Span("c", 0, 100)
MISS = Span("x", 0, 100)
SPANS = st.builds(Span, st.sampled_from("ab"), st.integers(0, 30), st.integers(0, 30))


@pytest.mark.parametrize(
    ("true_sources", "retrieved", "k", "expected"),
    [
        pytest.param([A], [A], 1, 1.0, id="first rank"),
        pytest.param([A], [MISS, A], 1, 0.0, id="one rank too low"),
        pytest.param([A], [MISS, A], 2, 1.0, id="last rank counted"),
        pytest.param([A, B, C], [A, MISS, C], 3, 2 / 3, id="two of three"),
        pytest.param([A, B], [A, A, A], 3, 0.5, id="found thrice counts once"),
        pytest.param([A, Span("a", 50, 150)], [Span("a", 0, 150)], 1, 1.0, id="one finds two"),
        pytest.param([], [], 5, 1.0, id="no true source, nothing retrieved"),
        pytest.param([], [MISS], 5, 1.0, id="no true source, something retrieved"),
        pytest.param([A], [], 5, 0.0, id="nothing retrieved"),
        pytest.param([A], [A], 10**30, 1.0, id="huge k"),
    ],
)
def test_recall_at_k(
    true_sources: list[Span], retrieved: list[Span], k: int, expected: float
) -> None:
    """Recall is found true sources among the first k, over true sources."""
    assert recall_at_k(true_sources, retrieved, k) == pytest.approx(expected)


@given(st.lists(SPANS, max_size=4), st.lists(SPANS, max_size=8), st.integers(1, 9))
def test_recall_grows_with_k(true_sources: list[Span], retrieved: list[Span], k: int) -> None:
    """One more rank never lowers recall, which stays in [0, 1]."""
    lower = recall_at_k(true_sources, retrieved, k)
    assert 0.0 <= lower <= recall_at_k(true_sources, retrieved, k + 1) <= 1.0


def test_question_without_entry_counts_zero() -> None:
    """A missing entry is 0 with a true source and without one."""
    assert question_recall(Question("q", "?", (A,)), None, 5) == 0.0
    assert question_recall(Question("q", "?"), None, 5) == 0.0


def test_too_long_span_keeps_its_rank_and_finds_nothing() -> None:
    """A span over the limit does not count, and later ones do not move up."""
    question = Question("q", "?", (A,))
    entry = Entry("q", "?", (Span("a", 0, 101), A))
    assert question_recall(question, entry, 1, max_context_length=101) == 1.0
    assert question_recall(question, entry, 1, max_context_length=100) == 0.0
    assert question_recall(question, entry, 2, max_context_length=100) == 1.0


@pytest.mark.parametrize(
    ("sources", "retrieved", "require_all", "expected"),
    [
        pytest.param((A, B), (A, B), True, True, id="all of all"),
        pytest.param((A, B), (A,), True, False, id="one of all"),
        pytest.param((A, B), (A,), False, True, id="one of any"),
        pytest.param((A, B), (MISS,), False, False, id="none of any"),
        pytest.param((), (), True, True, id="no true source, all"),
        pytest.param((), (), False, True, id="no true source, any"),
    ],
)
def test_is_question_valid(
    sources: tuple[Span, ...], retrieved: tuple[Span, ...], require_all: bool, expected: bool
) -> None:
    """A question is valid when all, or any, of its true sources are found."""
    question, entry = Question("q", "?", sources), Entry("q", "?", retrieved)
    assert is_question_valid(question, entry, 10, require_all_sources=require_all) is expected


def test_question_without_entry_is_not_valid() -> None:
    """A missing entry answers nothing, as it counts 0 in recall."""
    assert not is_question_valid(Question("q", "?"), None, 10)


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        pytest.param(1, (1,), id="1"),
        pytest.param(2, (1, 2), id="2"),
        pytest.param(7, (1, 3, 5, 7), id="7"),
        pytest.param(10, (1, 3, 5, 10), id="10"),
        pytest.param(20, (1, 3, 5, 10, 20), id="20"),
    ],
)
def test_applicable_cutoffs(k: int, expected: tuple[int, ...]) -> None:
    """Cut-offs above k are left out, and k itself is among them."""
    assert applicable_cutoffs(k) == expected


def test_equal_to_the_threshold_passes() -> None:
    """0.8 reached through inexact thirds still passes at 0.8, and 0.7999 does not."""
    assert is_passing(mean([2 / 3] * 6 + [1.0] * 4), 0.8)
    assert not is_passing(0.7999, 0.8)
