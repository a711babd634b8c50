"""Merging a reranker's judgement, the stage around it, and its time budget."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.errors import ModelError
from ragmachine.retrieval.rerank import (
    DEFAULT_BUDGETS_MS,
    CrossEncoderReranker,
    Judgement,
    RerankStage,
    merged_order,
)
from ragmachine.settings import FIELDS

NAN = float("nan")
hits = st.lists(
    st.tuples(st.integers(-1000, 1000), st.none() | st.integers(-1000, 1000)), max_size=30
)


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self, now=100.0):
        self.now = now

    def __call__(self):
        """What it shows."""
        return self.now


class Judge:
    """Gives the scores it was told, or raises; remembers what it was asked, and when."""

    def __init__(self, scores=(), notice="", failure=None, clock=None, loading_s=0.0):
        self.scores = scores
        self.notice = notice
        self.failure = failure
        self.clock = clock
        self.loading_s = loading_s
        self.asked = []

    def prepare(self):
        """Take a while, or fail."""
        if self.clock:
            self.clock.now += self.loading_s
        if self.failure:
            raise self.failure

    def rerank(self, query, texts, deadline):
        """Say what was prepared."""
        self.asked.append((query, list(texts), deadline))
        return Judgement(list(self.scores), self.notice)


def stage(judge, *, top=20, budget_ms=500, weight=1.0, clock=None):
    """A stage around a judge."""
    return RerankStage(judge, top=top, budget_ms=budget_ms, weight=weight, clock=clock or Clock())


def text_of(chunk):
    """The text of a chunk."""
    return f"text {chunk}"


RANKED = [(7, 9.0), (3, 8.0), (5, 4.0), (1, 1.0)]


@pytest.mark.parametrize(
    ("first", "judged", "weight", "expected"),
    [
        pytest.param([9, 8, 1], [0, 5, 9], 1, [2, 1, 0], id="the reranker alone"),
        pytest.param([9, 8, 1], [0, 5, 9], 0, [0, 1, 2], id="the first ranking alone"),
        # scaled: first 1, 0.875, 0; judged 0, 0.8, 1; mixed 0.5, 0.8375, 0.5
        pytest.param([9, 8, 1], [0, 4, 5], 0.5, [1, 0, 2], id="half and half"),
        # scaled: first 1, 0; judged 0, 1; the heavier one decides
        pytest.param([9, 1], [3, 4], 0.51, [1, 0], id="a little more than half"),
        pytest.param([9, 1], [3, 4], 0.49, [0, 1], id="a little less than half"),
        pytest.param([4, 3, 2, 1], [1, 2, None, None], 1, [1, 0, 2, 3], id="the budget ended"),
        pytest.param([4, 3, 2, 1], [None, None, 1, 2], 1, [0, 1, 3, 2], id="the tail alone"),
        pytest.param([4, 3, 2, 1], [1, None, None, 2], 1, [3, 1, 2, 0], id="unjudged in between"),
        pytest.param([4, 3, 2], [None, None, None], 1, [0, 1, 2], id="nothing judged"),
        pytest.param([4, 3, 2], [None, 7, None], 1, [0, 1, 2], id="one judged"),
        pytest.param([4, 3, 2], [5, 5, 5], 1, [0, 1, 2], id="all judged alike"),
        pytest.param([2, 2, 2], [1, 5, 3], 0.5, [1, 2, 0], id="all alike at first"),
        pytest.param([4, 3, 2, 1], [1, 6, 1, 6], 1, [1, 3, 0, 2], id="ties by first rank"),
        pytest.param([], [], 1, [], id="no hits"),
        # The first scores of unjudged hits must not stretch the scale of the others.
        pytest.param([100, 2, 1], [None, 0, 1], 0.6, [0, 2, 1], id="scaled over judged hits"),
    ],
)
def test_merged_order(first, judged, weight, expected):
    """Judged hits share the ranks they hold, by the mix of scaled scores; others keep theirs."""
    assert merged_order(first, judged, weight=weight) == expected


@given(hits, st.floats(0, 1))
def test_merging_neither_loses_nor_repeats_nor_moves_the_unjudged(pairs, weight):
    """The order is a permutation in which each unjudged hit has its rank."""
    first, judged = [a for a, _ in pairs], [b for _, b in pairs]
    order = merged_order(first, judged, weight=weight)
    assert sorted(order) == list(range(len(pairs)))
    assert all(order[place] == place for place, score in enumerate(judged) if score is None)


@given(hits)
def test_weight_1_sorts_the_judged_hits_by_the_reranker(pairs):
    """As a stable sort does."""
    judged = [b for _, b in pairs]
    order = merged_order([a for a, _ in pairs], judged, weight=1)
    moved = [position for position in order if judged[position] is not None]
    assert moved == sorted(sorted(moved), key=lambda position: -judged[position])


@pytest.mark.parametrize(
    ("first", "judged", "weight"),
    [
        pytest.param([1], [1, 2], 1, id="different numbers"),
        pytest.param([1], [1], 1.1, id="weight above 1"),
        pytest.param([1], [1], -0.1, id="weight below 0"),
        pytest.param([1], [1], NAN, id="weight is no number"),
        pytest.param([1, 2], [1, NAN], 1, id="score is no number"),
    ],
)
def test_merging_refuses_what_cannot_be_meant(first, judged, weight):
    """A programmer's mistake."""
    with pytest.raises(ValueError, match="score"):
        merged_order(first, judged, weight=weight)


def test_the_stage_reorders_the_head_and_leaves_the_tail():
    """The texts of the first three are read; the fourth stays fourth, unjudged."""
    judge = Judge([0.1, 0.2, 0.3])
    done = stage(judge, top=3).apply("why", RANKED, text_of)
    assert judge.asked[0][:2] == ("why", ["text 7", "text 3", "text 5"])
    assert [(hit.chunk, hit.judgement) for hit in done.hits] == [
        (5, 0.3), (3, 0.2), (7, 0.1), (1, None),
    ]  # fmt: skip
    assert (done.asked, done.judged, done.is_complete, done.notice) == (3, 3, True, "")


def test_scores_belong_to_ranks():
    """The new first hit has the score of the old one: scores still fall, on their scale."""
    done = stage(Judge([1, 2, 3, 4])).apply("why", RANKED, text_of)
    assert [(hit.chunk, hit.score) for hit in done.hits] == [(1, 9), (5, 8), (3, 4), (7, 1)]


def test_texts_beyond_the_head_are_not_read():
    """Reading a chunk costs time."""
    read = []
    stage(Judge([1, 2]), top=2).apply("why", RANKED, lambda chunk: read.append(chunk) or "")
    assert read == [7, 3]


@pytest.mark.parametrize("count", [0, 1], ids=["no hit", "one hit"])
def test_what_cannot_be_reordered_is_not_judged(count):
    """Nothing is read and nobody asked."""
    judge = Judge(failure=ModelError("asked"))
    done = stage(judge).apply("why", RANKED[:count], lambda chunk: pytest.fail("read"))
    assert [hit.chunk for hit in done.hits] == [7][:count]
    assert (done.asked, done.is_complete, done.notice) == (0, True, "")


def test_top_1_changes_nothing():
    """A head of one hit has one order."""
    done = stage(Judge(failure=ModelError("asked")), top=1).apply("why", RANKED, text_of)
    assert [hit.chunk for hit in done.hits] == [7, 3, 5, 1]
    assert done.notice == ""


def test_loading_comes_on_top_of_the_budget():
    """The deadline counts from when the model is there."""
    clock = Clock(100)
    judge = Judge([1, 2, 3, 4], clock=clock, loading_s=3)
    stage(judge, budget_ms=500, clock=clock).apply("why", RANKED, text_of)
    assert judge.asked[0][2] == 103.5


def test_a_failure_leaves_the_ranking_and_says_so():
    """No error leaves the stage."""
    judge = Judge(failure=ModelError("there is no file x", remedy="name another folder"))
    done = stage(judge).apply("why", RANKED, text_of)
    assert [(hit.chunk, hit.score) for hit in done.hits] == RANKED
    assert done.notice == "not reranked: there is no file x; name another folder"
    assert not done.is_complete


@pytest.mark.parametrize(
    ("scores", "notice", "expected"),
    [
        pytest.param(
            [None] * 4,
            "",
            "not reranked: 500 ms were over before a hit was judged; raise rerank_budget_ms",
            id="no time at all",
        ),
        pytest.param([1, 2, None, None], "", "", id="time for some"),
        pytest.param([1, 2, None, None], "broke", "reranked in part: broke", id="broke half-way"),
        pytest.param([None] * 4, "broke", "not reranked: broke", id="broke at once"),
    ],
)
def test_what_was_not_judged(scores, notice, expected):
    """It is never complete, and said where somebody can do something about it."""
    done = stage(Judge(scores, notice)).apply("why", RANKED, text_of)
    assert done.notice == expected
    assert not done.is_complete


def test_the_query_reaches_the_model_as_text():
    """Half a surrogate pair cannot be encoded."""
    judge = Judge([1, 2, 3, 4])
    stage(judge).apply("why\ud83d", RANKED, text_of)
    assert judge.asked[0][0] == "why?"


class Scorer:
    """A cross-encoder that knows the scores."""

    def __init__(self, scores):
        self.given = scores
        self.calls = []

    def open(self):
        """Note it."""
        self.calls.append("open")

    def scores(self, query, texts, *, deadline=None):
        """Note the question."""
        self.calls.append((query, list(texts), deadline))
        return np.array(self.given, dtype=np.float32)


def test_a_cross_encoder_as_a_judge():
    """NaN is what there was no time for."""
    scorer = Scorer([1.5, -2.0, NAN])
    judge = CrossEncoderReranker(scorer)
    judge.prepare()
    judgement = judge.rerank("why", ["x", "y", "z"], 5.0)
    assert judgement == Judgement([1.5, -2.0, None])
    assert scorer.calls == ["open", ("why", ["x", "y", "z"], 5.0)]


def test_a_cross_encoder_orders_hits_through_the_stage():
    """The third, then the first; the other two had no time and stay."""
    judge = CrossEncoderReranker(Scorer([1, 3, NAN, NAN]))
    done = stage(judge).apply("why", RANKED, text_of)
    assert [hit.chunk for hit in done.hits] == [3, 7, 5, 1]
    assert [hit.judgement for hit in done.hits] == [3, 1, None, None]
    assert (done.asked, done.judged) == (4, 2)


def test_every_reranker_of_the_settings_has_a_budget():
    """The help of the setting says the numbers."""
    assert set(FIELDS["rerank"].metadata["choices"]) == {"none", *DEFAULT_BUDGETS_MS}
    text = FIELDS["rerank_budget_ms"].metadata["text"]
    assert all(str(budget) in text for budget in DEFAULT_BUDGETS_MS.values())
