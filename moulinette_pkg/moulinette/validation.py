"""What is wrong or doubtful in a pair of files that can still be scored."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .datasets import Dataset, Entry, Results

EXAMPLES = 3
"""Number of ids an issue names."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One kind of problem.

    Attributes:
        code: stable name, for machines.
        count: how often it occurs, at least 1.
        message: what it is and how it was scored, without the count.
        examples: the first ids concerned, at most EXAMPLES.
    """

    code: str
    count: int
    message: str
    examples: tuple[str, ...] = ()


def find_issues(
    dataset: Dataset,
    results: Results,
    matched: Sequence[Entry | None],
    *,
    k: int,
    max_context_length: int | None = None,
) -> list[Issue]:
    """Every issue of the two files, in a fixed order; empty when all is well.

    Args:
        matched: the entry of each question, from `match_entries`.
        k: number of sources scored per entry.
        max_context_length: in characters; None leaves the length of spans unchecked.
    """
    found = [
        *_source_issues(results, k, max_context_length),
        *_identity_issues(dataset, results, matched),
        *_text_issues(dataset, results, matched),
        *_dataset_issues(dataset, results, k),
    ]
    return [issue for issue in found if issue.count]


def _source_issues(results: Results, k: int, max_context_length: int | None) -> Iterable[Issue]:
    scored = [(entry, entry.sources[:k]) for entry in results.entries]
    yield _issue(
        "too_many_sources",
        f"entries with more than {k} sources, only the first {k} are scored",
        [entry.question_id for entry in results.entries if len(entry.sources) > k],
    )
    if max_context_length is not None:
        yield _issue(
            "too_long_spans",
            f"sources longer than {max_context_length} characters, they do not count as found",
            [
                entry.question_id
                for entry, spans in scored
                for span in spans
                if span.is_valid and span.length > max_context_length
            ],
        )
    yield _issue(
        "bad_spans",
        "sources with a negative, inverted or empty span, they do not count as found",
        [
            entry.question_id
            for entry, spans in scored
            for span in (*spans, *(entry.citations or ()))
            if not span.is_valid
        ],
    )


def _identity_issues(
    dataset: Dataset, results: Results, matched: Sequence[Entry | None]
) -> Iterable[Issue]:
    asked = Counter(question.question_id for question in dataset.questions)
    used = {id(entry) for entry in matched}
    surplus = [entry for entry in results.entries if id(entry) not in used]
    yield _issue(
        "unknown_ids",
        "entries with an id the dataset does not know, they are not scored",
        [entry.question_id for entry in surplus if entry.question_id not in asked],
    )
    yield _issue(
        "duplicate_ids",
        "entries beyond those the dataset asks for under their id, only the first are scored",
        [entry.question_id for entry in surplus if entry.question_id in asked],
    )
    yield _issue(
        "missing_entries",
        "questions with no entry in the results, they count 0",
        [
            question.question_id or question.text
            for question, entry in zip(dataset.questions, matched, strict=True)
            if entry is None
        ],
    )


def _text_issues(
    dataset: Dataset, results: Results, matched: Sequence[Entry | None]
) -> Iterable[Issue]:
    yield _issue(
        "inconsistent_texts",
        "entries whose question and question_str differ, older and newer graders read "
        "different texts",
        [entry.question_id for entry in results.entries if not entry.is_text_consistent],
    )
    yield _issue(
        "changed_texts",
        "entries whose question is not the dataset's text for that id, matched by id",
        [
            entry.question_id
            for question, entry in zip(dataset.questions, matched, strict=True)
            if entry is not None and entry.text.strip() != question.text.strip()
        ],
    )


def _dataset_issues(dataset: Dataset, results: Results, k: int) -> Iterable[Issue]:
    questions = dataset.questions
    asked = Counter(question.question_id for question in questions if question.question_id)
    yield _issue(
        "repeated_dataset_ids",
        "ids that repeat in the dataset, the n-th question is matched with the n-th entry",
        [question_id for question_id, count in asked.items() if count > 1],
    )
    yield _issue(
        "dataset_without_ids",
        "questions without an id in the dataset, matched by their text",
        [question.text for question in questions if question.question_id is None],
    )
    yield _issue(
        "bad_true_spans",
        "true sources with a negative, inverted or empty span, they cannot be found",
        [
            question.question_id or question.text
            for question in questions
            for span in question.sources
            if not span.is_valid
        ],
    )
    true_paths = {span.file_path for question in questions for span in question.sources}
    paths = {span.file_path for entry in results.entries for span in entry.sources[:k]}
    if not true_paths:
        message = "questions, none with a true source, so each recall is 1 by definition"
        yield Issue("no_true_sources", len(questions), message)
    elif paths and paths.isdisjoint(true_paths):
        message = "retrieved file paths, none of them in the dataset, compare how they are written"
        yield Issue("foreign_paths", len(paths), message, tuple(sorted(paths)[:1]))
    if results.k is not None and 0 < results.k < k:
        message = f"sources per question asked for in the file (k), fewer than the {k} scored"
        yield Issue("smaller_k", results.k, message)


def _issue(code: str, message: str, concerned: Sequence[str]) -> Issue:
    return Issue(code, len(concerned), message, tuple(dict.fromkeys(concerned))[:EXAMPLES])
