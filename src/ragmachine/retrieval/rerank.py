"""Reordering of the best hits by a model that reads them, within a time budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ragmachine.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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


@dataclass(frozen=True, slots=True)
class RerankedHit:
    """A hit in its new place.

    Attributes:
        chunk: chunk number.
        score: what the first ranking gave to the hit that had this rank, so that scores still
            fall from hit to hit and stay on one scale.
        judgement: the reranker's score, to be shown as the stage `STAGE`; None if not judged.
    """

    chunk: int
    score: float
    judgement: float | None


@dataclass(frozen=True, slots=True)
class Reranking:
    """A ranking after the reranker.

    Attributes:
        hits: all hits, best first.
        asked: hits that were to be judged.
        judged: hits that were judged.
        notice: why nothing or not all was judged, with a remedy, else "". Some hits without
            judgement for want of time are no notice.
    """

    hits: list[RerankedHit]
    asked: int
    judged: int
    notice: str

    @property
    def is_complete(self) -> bool:
        """Whether the same search would give this again: only then may it be remembered."""
        return self.judged == self.asked


class RerankStage:
    """Has the head of a ranking judged, and never fails a search.

    Args:
        reranker: the judge.
        top: hits that are judged, at least 1; those behind stay where they are.
        budget_ms: most time for judging; loading a model comes on top, once.
        weight: see `merged_order`.
        clock: seconds, as `time.monotonic` counts them.
    """

    def __init__(
        self,
        reranker: Reranker,
        *,
        top: int,
        budget_ms: int,
        weight: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reranker = reranker
        self._top = top
        self._budget_ms = budget_ms
        self._weight = weight
        self._clock = clock

    def apply(
        self, query: str, ranked: Sequence[tuple[int, float]], text_of: Callable[[int], str]
    ) -> Reranking:
        """Reorder a ranking.

        Args:
            query: any text.
            ranked: (chunk number, score), best first; a single hit is not judged.
            text_of: chunk number to its text; called for the judged hits only.
        """
        texts = [text_of(chunk) for chunk, _ in ranked[: self._top]] if len(ranked) > 1 else []
        judgement = self._judge(query, texts) if len(texts) > 1 else Judgement([])
        asked = len(judgement.scores)
        scores = [*judgement.scores, *[None] * (len(ranked) - asked)]
        order = merged_order([score for _, score in ranked], scores, weight=self._weight)
        hits = [
            RerankedHit(ranked[position][0], score, scores[position])
            for position, (_, score) in zip(order, ranked, strict=True)
        ]
        judged = len(scores) - scores.count(None)
        return Reranking(hits, asked, judged, self._notice(judgement, asked, judged))

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
        if asked and not judged:
            return (
                f"not reranked: {self._budget_ms} ms were over before a hit was judged;"
                " raise rerank_budget_ms"
            )
        return ""


def _scaled(scores: Sequence[float]) -> list[float]:
    """Scores as shares of the way from the lowest to the highest; all 0 where they are equal."""
    low = min(scores, default=0.0)
    span = max(scores, default=0.0) - low
    return [(score - low) / span if span else 0.0 for score in scores]
