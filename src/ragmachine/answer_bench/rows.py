"""What a comparison found: as values, as JSON and as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from ragmachine.evaluation.answer_scores import MEASURES, AnswerScore, Estimate, means, means_json
from ragmachine.usage import Usage

SEED = 0
EXTRACTIVE, RETRIEVAL, ALONE = "extractive", "retrieval", "alone"
_TITLES = {EXTRACTIVE: "quotations", RETRIEVAL: "model, retrieval", ALONE: "model alone"}


@dataclass(frozen=True, slots=True)
class Trial:
    """One question answered one way.

    Attributes:
        score: by every measure; of no answer where the model failed.
        latency_ms: wall time, search included.
        usage: what a model read and wrote; None where none was asked.
        answer: the text, "" where the model failed.
        failure: why it failed, else "".
    """

    score: AnswerScore
    latency_ms: float
    usage: Usage | None = None
    answer: str = ""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class BenchRow:
    """All questions answered one way.

    Attributes:
        way: ``extractive``, ``retrieval`` (the model reads passages) or ``alone``.
        model: who wrote; "" for quotations.
        trials: one per question.
    """

    way: str
    model: str
    trials: tuple[Trial, ...]

    @property
    def title(self) -> str:
        """What the row is called in a table."""
        return _TITLES[self.way].replace("model", self.model or "model")

    def scores(self, *, is_found: bool = False) -> list[AnswerScore]:
        """All, or with `is_found` those of which a true source was retrieved."""
        scores = [trial.score for trial in self.trials]
        return [score for score in scores if score.has_source or not is_found]

    @property
    def failed(self) -> int:
        """Number of questions where the model failed."""
        return sum(bool(trial.failure) for trial in self.trials)

    def latency_ms(self, share: float) -> float:
        """The time within which that share of the answers came, by nearest rank."""
        times = sorted(trial.latency_ms for trial in self.trials)
        return times[max(math.ceil(share * len(times)) - 1, 0)]

    def costs(self) -> dict[str, Any]:
        """What the answers cost, as JSON: percentiles of times, means of the rest."""
        usages = [trial.usage for trial in self.trials if trial.usage]
        firsts = [usage.first_token_ms for usage in usages if usage.first_token_ms is not None]
        return {
            "latency_ms": {
                "p50": round(self.latency_ms(0.5), 3),
                "p95": round(self.latency_ms(0.95), 3),
            },
            "first_token_ms": round(fmean(firsts), 3) if firsts else None,
            "prompt_tokens": round(fmean(usage.prompt_tokens for usage in usages), 1)
            if usages
            else 0,
            "answer_tokens": round(fmean(usage.answer_tokens for usage in usages), 1)
            if usages
            else 0,
            "tokens_estimated": any(usage.is_estimated for usage in usages),
        }

    def to_json(self) -> dict[str, Any]:
        """The row as JSON."""
        return {
            "way": self.way,
            "model": self.model,
            "questions": len(self.trials),
            "failed": self.failed,
            "measures": means_json(self.scores()),
            "measures_where_source_retrieved": means_json(self.scores(is_found=True)),
            **self.costs(),
            "rows": [
                {**asdict(trial.score), "answer": trial.answer, "failure": trial.failure,
                 "latency_ms": round(trial.latency_ms, 3)}
                for trial in self.trials
            ],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What a comparison found: a row for each way there was, and a line for each there was not."""

    k: int
    rows: tuple[BenchRow, ...]
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The report as one JSON document."""
        return {
            "k": self.k,
            "seed": SEED,
            "questions": len(self.rows[0].trials),
            "ways": [row.to_json() for row in self.rows],
            "notices": list(self.notices),
        }

    def to_text(self) -> str:
        """The report for people: measures down, ways across; no final newline."""
        asked = [trial.score for trial in self.rows[0].trials]
        found = sum(score.has_source for score in asked)
        lines = [
            f"{len(asked)} questions, {self.k} passages each,"
            f" {sum(not score.is_answerable for score in asked)} unanswerable,"
            f" {found} of which a true source was retrieved",
            "",
            *_aligned(list(self._table())),
        ]
        return "\n".join([*lines, *(f"Note: {notice}" for notice in self.notices)])

    def _table(self) -> Iterator[list[str]]:
        yield ["", *(row.title for row in self.rows)]
        for is_found in (False, True):
            found = [means(row.scores(is_found=is_found)) for row in self.rows]
            if is_found:
                yield ["where the source was retrieved:"]
            for name, title in MEASURES.items():
                cells = [_cell(measures[name]) for measures in found]
                if any(cell != "-" for cell in cells):
                    yield [f"  {title}" if is_found else title, *cells]
        costs = [row.costs() for row in self.rows]
        for share in ("p50", "p95"):
            yield [f"Latency {share}", *(f"{c['latency_ms'][share]:,.0f} ms" for c in costs)]
        yield ["First token", *(_milliseconds(c["first_token_ms"]) for c in costs)]
        yield ["Tokens read", *(_count(c, "prompt_tokens") for c in costs)]
        yield ["Tokens written", *(_count(c, "answer_tokens") for c in costs)]
        if any(row.failed for row in self.rows):
            yield ["Failed", *(str(row.failed) for row in self.rows)]


def _cell(estimate: Estimate | None) -> str:
    return f"{estimate.mean:.3f} [{estimate.low:.2f}, {estimate.high:.2f}]" if estimate else "-"


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f} ms"


def _count(costs: dict[str, Any], name: str) -> str:
    about = "about " if costs["tokens_estimated"] else ""
    return f"{about}{costs[name]:,.0f}" if costs[name] else "-"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    columns = max(map(len, rows))
    whole = [row for row in rows if len(row) == columns]
    widths = [max(len(row[column]) for row in whole) for column in range(columns)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
