"""From ranks to numbers, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ragmachine.ablation import LabelledFolder, select_rows
from ragmachine.ablation.summary import recall_curve, reciprocal_rank, summarise


def test_a_curve_counts_the_spans_found_so_far() -> None:
    """Of two spans, found at ranks 2 and 4: none, one, one, both."""
    assert recall_curve((2, 4), 5) == [0, 0.5, 0.5, 1, 1]
    assert recall_curve((None, 1), 2) == [0.5, 0.5]


def test_the_reciprocal_rank_is_that_of_the_best_span() -> None:
    """The first of several true spans counts; none found is 0."""
    assert reciprocal_rank((4, None, 2)) == 0.5
    assert reciprocal_rank((None, None)) == 0.0


def row_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    """A row of the document."""
    (row,) = (row for row in document["rows"] if row["name"] == name)
    return dict(row)


def test_means_are_over_the_questions_of_a_style(document: dict[str, Any]) -> None:
    """Three named questions at ranks 1, 1 and 4; none of the paraphrased ones is found."""
    styles = row_of(document, "default")["styles"]
    assert styles["named"]["recall"] == pytest.approx([0.6667] * 3 + [1.0] * 7)
    assert styles["paraphrased"]["recall"] == [0.0] * 10
    assert styles["paraphrased"]["band"] == [[0.0, 0.0]] * 10
    assert document["styles"] == {"named": 3, "paraphrased": 2}


def test_a_difference_is_that_of_recall_at_5_to_the_row_compared_with(
    document: dict[str, Any],
) -> None:
    """Two more of three than the baseline; one less without passages. Two changes: p = 2/4."""
    default = row_of(document, "default")
    assert default["against"] == "naive bm25s"
    assert default["styles"]["named"]["difference"] == pytest.approx(0.6667)
    assert default["styles"]["named"]["p"] == 0.5
    aside = row_of(document, "no passage score")
    assert aside["against"] == "default"
    assert aside["styles"]["named"]["difference"] == pytest.approx(-0.3333)
    assert aside["styles"]["named"]["p"] == 1.0
    assert "p" not in row_of(document, "naive bm25s")["styles"]["named"]


def test_the_mean_reciprocal_rank_is_compared_as_well(document: dict[str, Any]) -> None:
    """Ranks 1, 1 and 4 against 3, 7 and none: all three differ the same way, p = 2/8."""
    named = row_of(document, "default")["styles"]["named"]
    assert named["mrr"] == pytest.approx((1 + 1 + 1 / 4) / 3, abs=1e-4)
    before = (1 / 3 + 1 / 7) / 3
    assert named["mrr_difference"] == pytest.approx((1 + 1 + 1 / 4) / 3 - before, abs=1e-4)
    assert named["mrr_p"] == 0.25


def test_the_ranks_of_every_question_are_kept(document: dict[str, Any]) -> None:
    """In the order of the questions, so that anything else can be computed from them."""
    assert [question["id"] for question in document["questions"]][:2] == ["q-warranty", "q-strand"]
    assert row_of(document, "naive bm25s")["ranks"] == [[3], [7], [None], [None], [None]]
    assert row_of(document, "no passage score")["settings"] == {"passage_weight": 0.0}


def test_fewer_hits_are_judged_at_their_number(folder: LabelledFolder) -> None:
    """With k = 3 nobody looked at a fifth hit."""
    ranks = {"naive bm25s": [(None,)] * 5, "default": [(3,)] * 5}
    rows = select_rows("naive bm25s, default")
    document = summarise(rows, folder.cases, ranks, k=3, half="all")
    assert document["judged_at"] == 3
    assert row_of(document, "default")["styles"]["named"]["difference"] == 1.0
