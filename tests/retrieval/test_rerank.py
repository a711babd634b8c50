"""Merging a reranker's judgement, the stage around it, and its time budget."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.errors import ModelError
from ragmachine.retrieval.query import QueryAnalysis
from ragmachine.retrieval.ranking import Question, Scored
from ragmachine.retrieval.rerank import (
    DEFAULT_BUDGETS_MS,
    STAGE,
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


class Texts:
    """Chunks that say their number; remembers which were read."""

    def __init__(self):
        self.read = []

    def chunk(self, number):
        """A chunk with its text."""
        self.read.append(number)
        return SimpleNamespace(text=f"text {number}")


RANKED = [
    Scored(chunk, score, {"chunk": score}) for chunk, score in ((7, 9), (3, 8), (5, 4), (1, 1))
]


def stage(judge, *, top=20, budget_ms=500, weight=1.0, clock=None, texts=None):
    """A stage around a judge."""
    return RerankStage(
        texts or Texts(), judge, top=top, budget_ms=budget_ms, weight=weight, clock=clock or Clock()
    )  # fmt: skip


def asking(text="why"):
    """A question of that text."""
    return Question({}, analysis=QueryAnalysis(text, {}))


def judgements(ranked):
    """(chunk, what the reranker gave it) by rank."""
    return [(hit.chunk, hit.stages.get(STAGE)) for hit in ranked]


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
    judge, question = Judge([0.1, 0.2, 0.3]), asking()
    ranked = stage(judge, top=3).apply(question, RANKED)
    assert judge.asked[0][:2] == ("why", ["text 7", "text 3", "text 5"])
    assert judgements(ranked) == [(5, 0.3), (3, 0.2), (7, 0.1), (1, None)]
    assert question.notes["rerank"] == "3 of 3 hits judged"
    assert question.notices == []


def test_scores_belong_to_ranks():
    """The new first hit has the score of the old one; what earlier stages gave goes with a hit."""
    ranked = stage(Judge([1, 2, 3, 4])).apply(asking(), RANKED)
    assert [(hit.chunk, hit.score) for hit in ranked] == [(1, 9), (5, 8), (3, 4), (7, 1)]
    assert ranked[0].stages == {"chunk": 1, STAGE: 4}


def test_texts_beyond_the_head_are_not_read():
    """Reading a chunk costs time."""
    texts = Texts()
    stage(Judge([1, 2]), top=2, texts=texts).apply(asking(), RANKED)
    assert texts.read == [7, 3]


@pytest.mark.parametrize("count", [0, 1], ids=["no hit", "one hit"])
def test_what_cannot_be_reordered_is_not_judged(count):
    """Nobody is asked."""
    question = asking()
    ranked = stage(Judge(failure=ModelError("asked"))).apply(question, RANKED[:count])
    assert (ranked, question.notices) == (RANKED[:count], [])


def test_top_1_changes_nothing():
    """A head of one hit has one order."""
    question = asking()
    ranked = stage(Judge(failure=ModelError("asked")), top=1).apply(question, RANKED)
    assert (ranked, question.notices) == (RANKED, [])


def test_loading_comes_on_top_of_the_budget():
    """The deadline counts from when the model is there."""
    clock = Clock(100)
    judge = Judge([1, 2, 3, 4], clock=clock, loading_s=3)
    stage(judge, budget_ms=500, clock=clock).apply(asking(), RANKED)
    assert judge.asked[0][2] == 103.5


def test_a_failure_leaves_the_ranking_and_says_so():
    """No error leaves the stage."""
    judge = Judge(failure=ModelError("there is no file x", remedy="name another folder"))
    question = asking()
    assert stage(judge).apply(question, RANKED) == RANKED
    assert question.notices == ["not reranked: there is no file x; name another folder"]


@pytest.mark.parametrize(
    ("scores", "notice", "expected"),
    [
        pytest.param(
            [None] * 4,
            "",
            "0 of 4 hits were reranked in 500 ms; raise rerank_budget_ms for more",
            id="no time at all",
        ),
        pytest.param(
            [1, 2, None, None],
            "",
            "2 of 4 hits were reranked in 500 ms; raise rerank_budget_ms for more",
            id="time for some",
        ),
        pytest.param([1, 2, None, None], "broke", "reranked in part: broke", id="broke half-way"),
        pytest.param([None] * 4, "broke", "not reranked: broke", id="broke at once"),
    ],
)
def test_what_was_not_judged(scores, notice, expected):
    """It is said, so that the ranking is not remembered either."""
    question = asking()
    stage(Judge(scores, notice)).apply(question, RANKED)
    assert question.notices == [expected]


def test_the_query_reaches_the_model_as_text():
    """Half a surrogate pair cannot be encoded."""
    judge = Judge([1, 2, 3, 4])
    stage(judge).apply(asking("why\ud83d"), RANKED)
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
    ranked = stage(judge).apply(asking(), RANKED)
    assert judgements(ranked) == [(3, 3), (7, 1), (5, None), (1, None)]


def test_every_reranker_of_the_settings_has_a_budget():
    """The help of the setting says the numbers."""
    assert set(FIELDS["rerank"].metadata["choices"]) == {"none", *DEFAULT_BUDGETS_MS}
    text = FIELDS["rerank_budget_ms"].metadata["text"]
    assert all(str(budget) in text for budget in DEFAULT_BUDGETS_MS.values())
