"""Results against a dataset: pairing, means, warnings and how they are shown."""

from __future__ import annotations

import json
from math import log2
from typing import Any

import pytest

from ragmachine.errors import DatasetError
from ragmachine.evaluation import evaluate
from ragmachine.exchange import Dataset, Question, SearchEntry, SearchResults, Source


def span(path: str, start: int = 0, end: int = 100) -> Source:
    """A source of 100 characters unless said otherwise."""
    return Source(file_path=path, first_character_index=start, last_character_index=end)


def dataset(*questions: tuple[str, list[Source]]) -> Dataset:
    """Questions of the given ids and true sources; each text is the id and a question mark."""
    return Dataset(
        rag_questions=tuple(
            Question(question_id=name, question=f"{name}?", sources=tuple(sources))
            for name, sources in questions
        )
    )


def results(*entries: tuple[str, list[Source]], k: int = 10) -> SearchResults:
    """Entries of the given ids and retrieved sources."""
    return SearchResults(
        search_results=tuple(
            SearchEntry(question_id=name, question=f"{name}?", retrieved_sources=tuple(sources))
            for name, sources in entries
        ),
        k=k,
    )


A, B, MISS = span("a"), span("b"), span("miss")


def test_means_are_over_questions() -> None:
    """Two questions, worked by hand: one found at rank 1, one at rank 2 with half its truth."""
    report = evaluate(
        results(("p", [A]), ("q", [MISS, A])), dataset(("p", [A]), ("q", [A, B])), k=10
    )
    assert {cutoff: mean.mean for cutoff, mean in report.recall.items()} == {
        1: 0.5,
        3: 0.75,
        5: 0.75,
        10: 0.75,
    }
    assert report.mrr.mean == pytest.approx((1 + 1 / 2) / 2)
    found = (1 / log2(3)) / (1 + 1 / log2(3))
    assert report.ndcg.mean == pytest.approx((1 + found) / 2)
    assert report.warnings == ()


def test_rows_keep_the_order_of_the_dataset() -> None:
    """Entries in another order are paired by id."""
    report = evaluate(results(("q", [MISS, B]), ("p", [A])), dataset(("p", [A]), ("q", [B])), k=3)
    rows = [(row.question_id, row.question, row.first_rank) for row in report.rows]
    assert rows == [("p", "p?", 1), ("q", "q?", 2)]
    assert report.rows[1].recall == {1: 0.0, 3: 1.0}
    assert report.rows[1].reciprocal_rank == 0.5


@pytest.mark.parametrize(
    ("k", "cutoffs"),
    [(1, [1]), (2, [1, 2]), (5, [1, 3, 5]), (10, [1, 3, 5, 10]), (20, [1, 3, 5, 10, 20])],
)
def test_cutoffs_stop_at_k(k: int, cutoffs: list[int]) -> None:
    """Recall is told at 1, 3, 5 and 10 as far as k goes, and at k."""
    assert list(evaluate(results(("p", [A])), dataset(("p", [A])), k=k).recall) == cutoffs


def test_sources_after_k_are_ignored() -> None:
    """A find at rank 2 does not count at k = 1."""
    report = evaluate(results(("p", [MISS, A])), dataset(("p", [A])), k=1)
    assert report.recall[1].mean == report.mrr.mean == report.ndcg.mean == 0.0


def test_a_question_without_an_entry_counts_zero() -> None:
    """A question the results lack is 0 in every measure, even with nothing to find, and told."""
    report = evaluate(results(("p", [A])), dataset(("p", [A]), ("q", [])), k=1)
    assert report.recall[1].mean == report.mrr.mean == report.ndcg.mean == 0.5
    assert report.entries == 1
    assert not report.rows[1].is_retrieved
    assert report.warnings == ("1 of the questions have no entry in the results and count 0",)


def test_a_question_without_sources_counts_one() -> None:
    """Nothing to find is nothing missed."""
    report = evaluate(results(("p", []), ("q", [A])), dataset(("p", []), ("q", [A])), k=1)
    assert report.recall[1].mean == 1.0
    assert report.without_sources == 1
    assert report.warnings == ()


def test_a_repeated_id_is_paired_in_order() -> None:
    """The n-th entry of an id answers its n-th question."""
    report = evaluate(results(("p", [A]), ("p", [MISS, B])), dataset(("p", [A]), ("p", [B])), k=3)
    assert [row.first_rank for row in report.rows] == [1, 2]


def test_results_of_another_dataset_are_refused() -> None:
    """No id in common is a mistake in the file names, not a score of 0."""
    with pytest.raises(DatasetError, match="belong to another dataset: none of their 2") as caught:
        evaluate(results(("x", [A]), ("y", [A])), dataset(("p", [A])))
    assert caught.value.remedy


def test_results_without_entries_are_refused() -> None:
    """An empty results file is not a score of 0."""
    with pytest.raises(DatasetError, match="the results hold no entry"):
        evaluate(results(), dataset(("p", [A])))


def test_an_empty_dataset_is_refused() -> None:
    """No question has no mean."""
    with pytest.raises(DatasetError, match="the dataset holds no question"):
        evaluate(results(("p", [A])), dataset())


def test_a_source_over_the_limit_finds_nothing_but_keeps_its_rank() -> None:
    """A span of 101 characters under a limit of 100 is passed over; the find is at rank 2."""
    report = evaluate(
        results(("p", [span("a", 0, 101), A])), dataset(("p", [A])), max_context_length=100
    )
    assert report.rows[0].first_rank == 2
    assert report.warnings == ("1 of the sources are longer than 100 characters: not counted",)


def test_a_true_source_may_be_longer_than_the_limit() -> None:
    """The limit is on what was retrieved only."""
    report = evaluate(
        results(("p", [A])), dataset(("p", [span("a", 0, 500)])), max_context_length=100
    )
    assert report.recall[1].mean == 1.0


@pytest.mark.parametrize(
    ("found", "truth", "warning"),
    [
        (
            results(("p", [A]), ("z", [A])),
            dataset(("p", [A])),
            "1 of the entries answer no question of the set",
        ),
        (
            results(("p", [span("/home/me/a")])),
            dataset(("p", [A])),
            "1 sources retrieved, but none from a file of the dataset: "
            "do both write paths from the project root?",
        ),
        (
            results(("p", [A]), k=3),
            dataset(("p", [A])),
            "the results were made with k = 3: measures at 10 see no more",
        ),
    ],
    ids=["unknown entry", "foreign paths", "smaller k"],
)
def test_what_would_mislead_is_told(found: SearchResults, truth: Dataset, warning: str) -> None:
    """Numbers that are lower than retrieval deserves come with the reason."""
    assert evaluate(found, truth).warnings == (warning,)


def test_a_dataset_without_sources_is_told() -> None:
    """A perfect score over questions without sources is not praise."""
    report = evaluate(results(("p", [])), dataset(("p", [])))
    assert "the dataset has no sources" in report.warnings[-1]


def test_another_text_under_the_same_id_is_told() -> None:
    """Two datasets that both count their questions from 1 are not mixed up in silence."""
    entry = SearchEntry(question_id="p", question="Another?", retrieved_sources=(A,))
    report = evaluate(SearchResults(search_results=(entry,), k=10), dataset(("p", [A])))
    assert "1 of the entries were retrieved for another text" in report.warnings[0]


@pytest.mark.parametrize("limits", [{"k": 0}, {"max_context_length": 0}], ids=["k", "length"])
def test_limits_are_positive(limits: dict[str, Any]) -> None:
    """A limit of 0 is a programmer's mistake."""
    with pytest.raises(ValueError, match="must be positive"):
        evaluate(results(("p", [A])), dataset(("p", [A])), **limits)


def test_the_text_has_a_line_per_mean() -> None:
    """Names and values read the same for every width, and the intervals stand in a column."""
    report = evaluate(results(("p", [A])), dataset(("p", [A]), ("q", [A])), k=10)
    low, high = report.mrr.low, report.mrr.high
    interval = f"95% CI [{low:.2f}, {high:.2f}]"
    assert report.to_text().splitlines() == [
        "2 questions: 1 with an entry in the results, 0 without a true source",
        f"Recall@1 = 0.500 (50.0%)   {interval}",
        f"Recall@3 = 0.500 (50.0%)   {interval}",
        f"Recall@5 = 0.500 (50.0%)   {interval}",
        f"Recall@10 = 0.500 (50.0%)  {interval}",
        f"MRR@10 = 0.500 (50.0%)     {interval}",
        f"nDCG@10 = 0.500 (50.0%)    {interval}",
        "Warning: 1 of the questions have no entry in the results and count 0",
    ]


def test_the_verbose_text_has_a_line_per_question() -> None:
    """The table shows measures, rank, id and text, and stands before the means."""
    report = evaluate(results(("p", [MISS, A]), ("q", [])), dataset(("p", [A]), ("q", [B])), k=3)
    lines = report.to_text(verbose=True).splitlines()
    assert lines[0].split() == ["R@1", "R@3", "first", "RR", "nDCG", "id", "question"]
    assert lines[1].split() == ["0.00", "1.00", "2", "0.50", "0.63", "p", "p?"]
    assert lines[2].split() == ["0.00", "0.00", "-", "0.00", "0.00", "q", "q?"]
    assert lines[3] == ""
    assert "\n".join(lines[4:]) == report.to_text()


def test_a_question_cannot_break_the_table() -> None:
    """Line ends, escape codes and length of a question leave one printable line."""
    text = "why\r\n\x1b[31mred\x1b[0m " + "x" * 500
    question = Question(question_id="p", question=text, sources=(A,))
    entry = SearchEntry(question_id="p", question=text, retrieved_sources=(A,))
    report = evaluate(
        SearchResults(search_results=(entry,), k=10), Dataset(rag_questions=(question,))
    )
    line = report.to_text(verbose=True).splitlines()[1]
    assert "why [31mred [0m xxx" in line
    assert line.isprintable()
    assert len(line) < 150


def test_the_json_holds_means_rows_and_warnings() -> None:
    """The document survives JSON and names every number."""
    report = evaluate(results(("p", [A])), dataset(("p", [A])), k=1)
    sure = {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert json.loads(json.dumps(report.to_json())) == {
        "k": 1,
        "questions": 1,
        "entries": 1,
        "without_sources": 0,
        "recall": {"1": sure},
        "mrr": sure,
        "ndcg": sure,
        "warnings": [],
        "by_style": {},
        "rows": [
            {
                "question_id": "p",
                "question": "p?",
                "recall": {"1": 1.0},
                "first_rank": 1,
                "reciprocal_rank": 1.0,
                "ndcg": 1.0,
                "is_retrieved": True,
                "style": "",
            }
        ],
    }


def test_an_interval_surrounds_its_mean() -> None:
    """Ten questions, half of them found: the mean lies inside its interval."""
    names = [f"q{number}" for number in range(10)]
    report = evaluate(
        results(*((name, [A if int(name[1:]) % 2 else MISS]) for name in names)),
        dataset(*((name, [A]) for name in names)),
    )
    assert report.mrr.low < report.mrr.mean == 0.5 < report.mrr.high


def styled(name: str, style: str, sources: list[Source]) -> Question:
    """A question of a style."""
    return Question.model_validate(
        {"question_id": name, "question": f"{name}?", "style": style, "sources": sources}
    )


def test_styles_are_reported_apart() -> None:
    """One named question found, one of two paraphrased ones: 100 % and 50 %."""
    asked = Dataset(
        rag_questions=(styled("p", "named", [A]), styled("q", "other words", [A]),
                       styled("r", "other words", [B]))
    )  # fmt: skip
    report = evaluate(results(("p", [A]), ("q", [A]), ("r", [MISS])), asked, k=1)
    assert report.by_style() == [("named", 1, [1.0]), ("other words", 2, [0.5])]
    assert "  other words, 2 questions: Recall@1 = 50.0" in report.to_text()
    assert report.to_json()["by_style"]["named"] == {"questions": 1, "recall": {"1": 1.0}}


def test_one_style_alone_is_not_repeated() -> None:
    """A dataset of one kind has nothing to tell apart."""
    assert evaluate(results(("p", [A])), dataset(("p", [A])), k=1).by_style() == []
