"""The three commands: paths and options in, a report and an exit code out.

They print nothing and never exit; `cli` does.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from . import report
from .answers.scoring import is_source_retrieved, score_answer, summarise
from .datasets import Dataset, Entry, Question, Results, read_dataset, read_results
from .errors import UsageError
from .matching import match_entries
from .recall import (
    PASS_CUTOFF,
    applicable_cutoffs,
    is_passing,
    is_question_valid,
    mean,
    question_recall,
)
from .validation import Issue, find_issues


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command hands back: a whole report, without its last newline, and an exit code."""

    text: str
    exit_code: int = 0


def evaluate_search_results(
    *,
    results: str,
    dataset: str,
    k: int,
    max_context_length: int,
    threshold: float | None,
    as_json: bool,
) -> Outcome:
    """Recall at 1, 3, 5, 10 (up to k) of a results file, after what is wrong with it.

    Returns: exit code 1 where Recall@5 is below the threshold, else 0.
    Raises: UsageError: a threshold with k below 5; DataError: see `datasets` and `matching`.
    """
    if threshold is not None and k < PASS_CUTOFF:
        raise UsageError(
            f"--threshold judges Recall@{PASS_CUTOFF}, give --k {PASS_CUTOFF} or more, not {k}"
        )
    pair = _read_pair(results, dataset)
    issues = pair.issues(k, max_context_length)
    rows = [_recall_row(*found, k, max_context_length) for found in pair]
    recalls = {cutoff: mean([row[cutoff] for row in rows]) for cutoff in rows[0]}
    is_pass = None if threshold is None else is_passing(recalls[PASS_CUTOFF], threshold)
    exit_code = 1 if is_pass is False else 0
    if as_json:
        options = {"k": k, "max_context_length": max_context_length, "threshold": threshold}
        document = {
            **pair.to_json("evaluate_student_search_results", issues, options),
            "recall": recalls,
            "passed": is_pass,
            "questions": [
                {"question_id": question.question_id, "recall": row}
                for question, row in zip(pair.dataset.questions, rows, strict=True)
            ],
        }
        return Outcome(_dump(document), exit_code)
    lines = [*pair.header_lines(), *report.issue_lines(issues), *report.recall_lines(recalls)]
    if threshold is not None:
        lines.append(report.verdict_line(recalls[PASS_CUTOFF], threshold, is_pass=not exit_code))
    return Outcome("\n".join(lines), exit_code)


def _recall_row(
    question: Question, entry: Entry | None, k: int, max_context_length: int
) -> dict[int, float]:
    return {
        cutoff: question_recall(question, entry, cutoff, max_context_length=max_context_length)
        for cutoff in applicable_cutoffs(k)
    }


def list_valid_questions(
    *,
    results: str,
    dataset: str,
    k: int,
    require_all_sources: bool,
    minimal_iou_threshold: float,
    as_json: bool,
) -> Outcome:
    """Which questions the first k retrieved sources can answer; the length of spans is free.

    Raises: DataError: see `datasets` and `matching`.
    """
    pair = _read_pair(results, dataset)
    above = minimal_iou_threshold
    is_valid = [
        is_question_valid(question, entry, k, require_all_sources=require_all_sources, above=above)
        for question, entry in pair
    ]
    questions = pair.dataset.questions
    mode = "all_sources" if require_all_sources else "any_source"
    if not as_json:
        lines = report.validity_lines(questions, is_valid, mode=mode, k=k, above=above)
        return Outcome("\n".join(lines))
    options = {"k": k, "mode": mode, "minimal_iou_threshold": above}
    document = {
        **pair.to_json("list_valid_questions", pair.issues(k), options),
        "valid": sum(is_valid),
        "total": len(is_valid),
        "questions": [
            {"question_id": question.question_id, "question": question.text, "is_valid": valid}
            for question, valid in zip(questions, is_valid, strict=True)
        ],
    }
    return Outcome(_dump(document))


def evaluate_answers(*, results: str, dataset: str, k: int, as_json: bool) -> Outcome:
    """Every measure of an answers file over the dataset's reference answers and true sources.

    Raises: DataError: see `datasets` and `matching`.
    """
    pair = _read_pair(results, dataset, needs_answer=True)
    issues = pair.issues(k)
    scores = [score_answer(question, entry, k) for question, entry in pair]
    summaries = summarise(scores)
    found = [is_source_retrieved(question, entry, k) for question, entry in pair]
    of_found = summarise([score for score, is_in in zip(scores, found, strict=True) if is_in])
    if as_json:
        document = {
            **pair.to_json("evaluate_student_answers", issues, {"k": k}),
            "measures": {name: asdict(summary) for name, summary in summaries.items()},
            "measures_where_source_retrieved": {
                name: asdict(summary) for name, summary in of_found.items()
            },
            "questions": [
                {"question_id": question.question_id, "is_source_retrieved": is_in, **asdict(score)}
                for question, score, is_in in zip(
                    pair.dataset.questions, scores, found, strict=True
                )
            ],
        }
        return Outcome(_dump(document))
    lines = [*pair.header_lines(), *report.issue_lines(issues)]
    lines += report.answer_lines(scores, summaries)
    lines += report.found_lines(sum(found), of_found)
    return Outcome("\n".join(lines))


@dataclass(frozen=True, slots=True)
class _Pair:
    """The two files of a command and which entry belongs to which question."""

    dataset: Dataset
    results: Results
    matched: tuple[Entry | None, ...]

    def __iter__(self) -> Iterator[tuple[Question, Entry | None]]:
        return zip(self.dataset.questions, self.matched, strict=True)

    def issues(self, k: int, max_context_length: int | None = None) -> list[Issue]:
        return find_issues(
            self.dataset, self.results, self.matched, k=k, max_context_length=max_context_length
        )

    def header_lines(self) -> list[str]:
        return report.header_lines(self.dataset, self.results, self.matched)

    def to_json(
        self, command: str, issues: Sequence[Issue], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            "command": command,
            **options,
            "results": {
                "path": self.results.path,
                "entries": len(self.results.entries),
                "k": self.results.k,
            },
            "dataset": {"path": self.dataset.path, "questions": len(self.dataset.questions)},
            "matched": sum(entry is not None for entry in self.matched),
            "issues": [asdict(issue) for issue in issues],
        }


def _read_pair(results: str, dataset: str, *, needs_answer: bool = False) -> _Pair:
    truth, found = read_dataset(dataset), read_results(results, needs_answer=needs_answer)
    return _Pair(truth, found, tuple(match_entries(truth, found)))


def _dump(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, allow_nan=False)
