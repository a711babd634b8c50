"""Pairing of questions and entries, and what is reported about it."""

import pytest

from ..moulinette.datasets import Dataset, Entry, Question, Results
from ..moulinette.errors import DataError
from ..moulinette.matching import match_entries
from ..moulinette.overlap import Span
from ..moulinette.validation import find_issues

A = Span("a", 0, 100)


def dataset(*questions: Question) -> Dataset:
    """A dataset of these questions."""
    return Dataset("d.json", questions)


def results(*entries: Entry, k: int | None = None) -> Results:
    """A results file of these entries."""
    return Results("r.json", entries, k)


def codes(truth: Dataset, found: Results, *, k: int = 10) -> dict[str, int]:
    """Issue code -> count."""
    matched = match_entries(truth, found)
    return {
        issue.code: issue.count
        for issue in find_issues(truth, found, matched, k=k, max_context_length=2000)
    }


def test_repeated_ids_match_in_order() -> None:
    """The n-th question with an id takes the n-th entry with it; too few leave None."""
    first, second = Entry("q", "?", (A,)), Entry("q", "?")
    truth = dataset(Question("q", "?"), Question("q", "?"), Question("q", "?"))
    assert match_entries(truth, results(first, second)) == [first, second, None]


def test_question_without_id_matches_by_text() -> None:
    """Without an id, the entry with the same text and an unknown id is taken."""
    known, other = Entry("q", "same"), Entry("new", "same")
    truth = dataset(Question(None, "same"), Question("q", "same"))
    assert match_entries(truth, results(known, other)) == [other, known]


def test_foreign_results_are_refused() -> None:
    """Without a common id the results belong to another dataset."""
    with pytest.raises(DataError, match="another dataset"):
        match_entries(dataset(Question("a", "one")), results(Entry("b", "two")))


def test_changed_ids_are_named() -> None:
    """When the texts agree and no id does, the message says that ids were changed."""
    with pytest.raises(DataError, match=r"1 of them ask .* ids were changed"):
        match_entries(
            dataset(Question("a", "one")), results(Entry("x", " one "), Entry("y", "two"))
        )


def test_sound_files_have_no_issue() -> None:
    """Nothing is reported about files without fault."""
    truth = dataset(Question("q", "?", (A,)), Question("r", "!"))
    assert codes(truth, results(Entry("q", "?", (A,)), Entry("r", "!"), k=10)) == {}


@pytest.mark.parametrize(
    ("truth", "found", "code", "count"),
    [
        pytest.param(
            (Question("q", "?", (A,)),),
            (Entry("q", "?", (A,) * 11),),
            "too_many_sources",
            1,
            id="more than k",
        ),
        pytest.param(
            (Question("q", "?", (A,)),),
            (Entry("q", "?", (A, Span("a", 0, 2001), Span("a", 0, 2000))),),
            "too_long_spans",
            1,
            id="too long",
        ),
        pytest.param(
            (Question("q", "?", (A,)),),
            (Entry("q", "?", (A, Span("a", -1, 5), Span("a", 9, 3), Span("a", 4, 4))),),
            "bad_spans",
            3,
            id="negative, inverted, empty",
        ),
        pytest.param(
            (Question("q", "?", (Span("a", 9, 3),)),),
            (Entry("q", "?"),),
            "bad_true_spans",
            1,
            id="bad true span",
        ),
        pytest.param(
            (Question("q", "?", (A,)),),
            (Entry("q", "?", (A,)), Entry("z", "?")),
            "unknown_ids",
            1,
            id="unknown id",
        ),
        pytest.param(
            (Question("q", "?", (A,)), Question("r", "?")),
            (Entry("q", "?", (A,)),),
            "missing_entries",
            1,
            id="no entry",
        ),
        pytest.param(
            (Question("q", "?", (A,)),),
            (Entry("q", "?", (A,)), Entry("q", "?", (A,)), Entry("q", "?", (A,))),
            "duplicate_ids",
            2,
            id="surplus entries",
        ),
        pytest.param(
            (Question("q", "?", (A,)), Question("q", "?")),
            (Entry("q", "?", (A,)), Entry("q", "?")),
            "repeated_dataset_ids",
            1,
            id="dataset repeats an id",
        ),
        pytest.param(
            (Question(None, "?", (A,)),),
            (Entry("u", "?", (A,)),),
            "dataset_without_ids",
            1,
            id="dataset without id",
        ),
        pytest.param(
            (Question("q", "?", (A,)),),
            (Entry("q", "other", (A,)),),
            "changed_texts",
            1,
            id="text changed",
        ),
        pytest.param(
            (Question("q", "?", (A,)),),
            (Entry("q", "?", (A,), is_text_consistent=False),),
            "inconsistent_texts",
            1,
            id="question and question_str differ",
        ),
        pytest.param(
            (Question("q", "?"),), (Entry("q", "?"),), "no_true_sources", 1, id="no true source"
        ),
        pytest.param(
            (Question("q", "?", (A,)),),
            (Entry("q", "?", (Span("/abs/a", 0, 9), Span("/abs/b", 0, 9))),),
            "foreign_paths",
            2,
            id="no path in common",
        ),
    ],
)
def test_issue_is_counted(
    truth: tuple[Question, ...], found: tuple[Entry, ...], code: str, count: int
) -> None:
    """Each kind of fault is reported alone, with how often it occurs."""
    assert codes(dataset(*truth), results(*found)) == {code: count}


def test_smaller_k_of_the_file_is_reported() -> None:
    """A file written for 5 sources per question cannot have a full Recall@10."""
    truth = dataset(Question("q", "?", (A,)))
    found = results(Entry("q", "?", (A,)), k=5)
    assert codes(truth, found) == {"smaller_k": 5}
    assert codes(truth, found, k=5) == {}


def test_issue_names_the_first_three_ids() -> None:
    """Examples are different ids, three at most."""
    truth = dataset(*(Question(name, "?", (A,)) for name in "abcde"))
    found = results(Entry("a", "?", (A,)))
    (issue,) = find_issues(truth, found, match_entries(truth, found), k=10)
    assert (issue.count, issue.examples) == (4, ("b", "c", "d"))
