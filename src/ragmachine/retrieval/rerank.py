"""Reordering of the best hits by a model that reads them, within a time budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ragmachine.errors import ModelError
from ragmachine.retrieval.ranking import Question, Scored

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragmachine.models import Chunk

STAGE = "rerank"
DEFAULT_BUDGETS_MS = {"cross": 500, "llm": 5000}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a reranker thinks of some texts.

    Attributes:
        scores: one a text in the order asked, higher for better, on any scale; None where a text
            was not judged.
        notice: why texts were not judged, with the remedy; "" where only time ran out.
    """

    scores: Sequence[float | None]
    notice: str = ""


class Reranker(Protocol):
    """Anything that judges texts by a question."""

    def prepare(self) -> None:
        """Do what is done once, such as loading a model, so that no budget pays for it.

        Raises: ModelError: the model cannot be had; with its remedy.
        """
        ...

    def rerank(self, query: str, texts: Sequence[str], deadline: float) -> Judgement:
        """Judge texts until the deadline.

        Args:
            query: any text.
            texts: most promising first, at least two.
            deadline: in seconds of `time.monotonic`.
        Raises: ModelError: nothing could be judged; with its remedy.
        """
        ...


class Texts(Protocol):
    """An opened index, as far as a reranker reads it."""

    def chunk(self, number: int) -> Chunk:
        """A chunk with its text."""
        ...


class PairScorer(Protocol):
    """A cross-encoder, as a reranker needs it."""

    def open(self) -> None:
        """Load the model."""
        ...

    def scores(
        self, query: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> npt.NDArray[np.float32]:
        """Score each text: (texts,) float32, NaN where the deadline came first."""
        ...


class CrossEncoderReranker:
    """Judges each text by its own, with a model that reads it together with the question."""

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer

    def prepare(self) -> None:
        """Load the model; see `Reranker.prepare`."""
        self._scorer.open()

    def rerank(self, query: str, texts: Sequence[str], deadline: float) -> Judgement:
        """Judge the first texts, as many as there is time for; see `Reranker.rerank`."""
        scores = self._scorer.scores(query, texts, deadline=deadline).tolist()
        return Judgement([None if math.isnan(score) else score for score in scores])


def merged_order(
    first: Sequence[float], judged: Sequence[float | None], *, weight: float
) -> list[int]:
    """Merge a reranker's judgement with the ranking that it was asked about.

    A hit that was not judged keeps its rank. The judged ones share the ranks that they hold, in
    order of ``weight * judged + (1 - weight) * first``, both scaled to 0..1 over the judged hits;
    a score that all of them have in common counts as 0. When a budget ends after m of n hits, the
    first m are thus reordered among themselves and the rest stay as they were.

    Args:
        first: scores of the first ranking, by rank.
        judged: the reranker's scores, by rank; None where not judged.
        weight: of the reranker, 0 to 1; 1 is the reranker alone.
    Returns: positions in `first`, each once, in the new order; ties keep the first ranking.
    Raises: ValueError: the scores differ in number, one is not finite, or the weight is out of
        range.
    """
    if len(first) != len(judged) or not 0 <= weight <= 1:
        raise ValueError("each hit has two scores, and the weight is between 0 and 1")
    scores = {position: score for position, score in enumerate(judged) if score is not None}
    if not all(map(math.isfinite, scores.values())):
        raise ValueError("a score is a finite number, or None where there is none")
    ours = _scaled([first[position] for position in scores])
    theirs = _scaled(list(scores.values()))
    mixed = [weight * new + (1 - weight) * old for new, old in zip(theirs, ours, strict=True)]
    order = list(range(len(first)))
    by_mix = sorted(zip(mixed, scores, strict=True), key=lambda pair: (-pair[0], pair[1]))
    for place, (_, position) in zip(scores, by_mix, strict=True):
        order[place] = position
    return order


class RerankStage:
    """Has the head of a ranking judged, and never fails a search.

    Args:
        index: holds the hits' texts.
        reranker: the judge.
        top: hits that are judged, at least 1; those behind stay where they are.
        budget_ms: most time for judging; loading a model comes on top, once.
        weight: see `merged_order`.
        clock: seconds, as `time.monotonic` counts them.

    Attributes:
        timed_as: what its time is called in `SearchResult.stage_ms`.
    """

    timed_as = STAGE

    def __init__(
        self,
        index: Texts,
        reranker: Reranker,
        *,
        top: int,
        budget_ms: int,
        weight: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._index = index
        self._reranker = reranker
        self._top = top
        self._budget_ms = budget_ms
        self._weight = weight
        self._clock = clock

    def apply(self, question: Question, ranked: list[Scored]) -> list[Scored]:
        """The ranking with its head in another order; see `Stage.apply`.

        A hit takes the score of the one whose place it takes, so that scores still fall and stay
        on one scale; what the reranker gave is the stage `STAGE`. What was not judged is noticed.
        """
        texts = [self._index.chunk(hit.chunk).text for hit in ranked[: self._top]]
        if len(texts) < 2:
            return ranked
        judgement = self._judge(question.analysis.text, texts)
        scores = [*judgement.scores, *[None] * (len(ranked) - len(texts))]
        judged = len(scores) - scores.count(None)
        question.notes["rerank"] = f"{judged} of {len(texts)} hits judged"
        if judged < len(texts):
            question.notices.append(self._notice(judgement, len(texts), judged))
        order = merged_order([hit.score for hit in ranked], scores, weight=self._weight)
        return [
            self._placed(ranked[position], place.score, scores[position])
            for position, place in zip(order, ranked, strict=True)
        ]

    @staticmethod
    def _placed(hit: Scored, score: float, judgement: float | None) -> Scored:
        given = {} if judgement is None else {STAGE: judgement}
        return Scored(hit.chunk, score, {**hit.stages, **given})

    def _judge(self, query: str, texts: Sequence[str]) -> Judgement:
        # Half a surrogate pair, which a command line may hold, is no text to any model.
        question = query.encode("utf-8", "replace").decode("utf-8")
        try:
            self._reranker.prepare()
            deadline = self._clock() + self._budget_ms / 1000
            return self._reranker.rerank(question, texts, deadline)
        except ModelError as error:
            return Judgement([None] * len(texts), str(error))

    def _notice(self, judgement: Judgement, asked: int, judged: int) -> str:
        if judgement.notice:
            return f"{'reranked in part' if judged else 'not reranked'}: {judgement.notice}"
        return (
            f"{judged} of {asked} hits were reranked in {self._budget_ms} ms;"
            " raise rerank_budget_ms for more"
        )


def _scaled(scores: Sequence[float]) -> list[float]:
    """Scores as shares of the way from the lowest to the highest; all 0 where they are equal."""
    low = min(scores, default=0.0)
    span = max(scores, default=0.0) - low
    return [(score - low) / span if span else 0.0 for score in scores]
