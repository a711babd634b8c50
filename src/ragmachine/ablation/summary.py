"""From ranks to one JSON-ready document: means, bands and differences per row and style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from ragmachine.ablation.configurations import Row, comparisons
from ragmachine.ablation.questions import Case
from ragmachine.ablation.runner import Ranks
from ragmachine.evaluation.bootstrap import bootstrap_band
from ragmachine.evaluation.permutation import permutation_p

_JUDGED_AT = 5  # differences are judged at this recall, or at k where that is smaller
_DIGITS = 4


def recall_curve(ranks: Ranks, k: int) -> list[float]:
    """Recall of one question at each cutoff from 1 to `k`: (k,) of 0..1."""
    return [
        sum(rank is not None and rank <= cutoff for rank in ranks) / len(ranks)
        for cutoff in range(1, k + 1)
    ]


def reciprocal_rank(ranks: Ranks) -> float:
    """1 over the best rank of a question's true spans, 0 where none is found."""
    return max(0.0 if rank is None else 1 / rank for rank in ranks)


def summarise(
    rows: Sequence[Row],
    cases: Sequence[Case],
    ranks: Mapping[str, Sequence[Ranks]],
    *,
    k: int,
    half: str,
) -> dict[str, Any]:
    """Everything that was measured, as one document.

    Means are over questions, so that every question counts the same whatever set it is in. A row's
    `p` is that of a paired permutation test of its recall at `judged_at` against the row it names
    in `against`, and its `mrr_p` the same for the reciprocal rank; the bands are pointwise
    bootstrap intervals at 95 %.

    Args:
        rows: in the order of the table.
        cases: the questions.
        ranks: by name of row, in the order of the cases.
        k: hits looked at per question.
        half: which half of the questions these are.
    """
    against = comparisons(rows)
    members: dict[str, list[int]] = {style: [] for style in sorted({case.style for case in cases})}
    for place, case in enumerate(cases):
        members[case.style].append(place)

    def measured(row: Row) -> dict[str, Any]:
        other = ranks.get(against.get(row.name, ""))
        return {
            style: _style(
                [ranks[row.name][place] for place in places],
                [other[place] for place in places] if other is not None else None,
                k,
            )
            for style, places in members.items()
        }

    return {
        "half": half,
        "k": k,
        "judged_at": _judged_at(k),
        "styles": {style: len(places) for style, places in members.items()},
        "questions": [
            {"id": case.question_id, "set": case.set, "style": case.style, "half": case.half}
            for case in cases
        ],
        "rows": [
            {
                "name": row.name,
                "title": row.title,
                "group": row.group,
                "settings": dict(row.settings),
                "against": against.get(row.name),
                "styles": measured(row),
                "ranks": [list(own) for own in ranks[row.name]],
            }
            for row in rows
        ],
    }


def _judged_at(k: int) -> int:
    return min(_JUDGED_AT, k)


def _style(own: Sequence[Ranks], other: Sequence[Ranks] | None, k: int) -> dict[str, Any]:
    """One style of question in one row: mean curve, band, MRR, and what differs from `other`."""
    curves = [recall_curve(ranks, k) for ranks in own]
    reciprocal = [reciprocal_rank(ranks) for ranks in own]
    measured: dict[str, Any] = {
        "recall": [round(fmean(column), _DIGITS) for column in zip(*curves, strict=True)],
        "band": [
            [round(low, _DIGITS), round(high, _DIGITS)] for low, high in bootstrap_band(curves)
        ],
        "mrr": round(fmean(reciprocal), _DIGITS),
    }
    if other is not None:
        at = _judged_at(k) - 1
        before = [recall_curve(ranks, k)[at] for ranks in other]
        measured |= _difference([curve[at] for curve in curves], before)
        compared = _difference(reciprocal, [reciprocal_rank(ranks) for ranks in other])
        measured |= {f"mrr_{name}": value for name, value in compared.items()}
    return measured


def _difference(own: Sequence[float], other: Sequence[float]) -> dict[str, float]:
    return {
        "difference": round(fmean(own) - fmean(other), _DIGITS),
        "p": round(permutation_p(own, other), _DIGITS),
    }
