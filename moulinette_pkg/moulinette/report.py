"""Writes what the commands found as text for people; lines meant for graders keep their form."""

import re
from collections.abc import Sequence

from .answers.scoring import MEASURES, AnswerScore, Summary
from .datasets import Dataset, Entry, Question, Results
from .recall import PASS_CUTOFF
from .validation import Issue

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_MISSING_ID = "(no id)"


def header_lines(dataset: Dataset, results: Results, matched: Sequence[Entry | None]) -> list[str]:
    """The two files, what they hold and how many questions have an entry."""
    questions = dataset.questions
    with_source = sum(bool(question.sources) for question in questions)
    with_entry = sum(entry is not None for entry in matched)
    declared = "" if results.k is None else f", written with k = {results.k}"
    return [
        one_line(f"Results: {results.path}: {len(results.entries)} entries{declared}"),
        one_line(
            f"Dataset: {dataset.path}: {len(questions)} questions, {with_source} with a true source"
        ),
        f"Matched: {with_entry}/{len(questions)} questions have an entry",
    ]


def issue_lines(issues: Sequence[Issue]) -> list[str]:
    """One line per issue, or one line that says there is none."""
    if not issues:
        return ["Problems: none"]
    lines = ["Problems:"]
    for issue in issues:
        first = f" (first: {', '.join(issue.examples)})" if issue.examples else ""
        lines.append(one_line(f"  {issue.message}: {issue.count}{first}"))
    return lines


def recall_lines(recalls: dict[int, float]) -> list[str]:
    """`Recall@5 = 0.810 (81.0%)` for each cut-off."""
    return [f"Recall@{k} = {value:.3f} ({value:.1%})" for k, value in recalls.items()]


def verdict_line(recall: float, threshold: float, *, is_pass: bool) -> str:
    """`PASS: Recall@5 = 0.8100, threshold 0.8`, or the same with FAIL."""
    word = "PASS" if is_pass else "FAIL"
    return f"{word}: Recall@{PASS_CUTOFF} = {recall:.4f}, threshold {threshold:g}"


def validity_lines(
    questions: Sequence[Question], is_valid: Sequence[bool], *, mode: str, k: int, above: float
) -> list[str]:
    """The mode, one line per question in the dataset's order, and the summary."""
    lines = [f"Mode: {mode} (k = {k}, overlap > {above:g})"]
    for question, valid in zip(questions, is_valid, strict=True):
        mark = "VALID" if valid else "INVALID"
        question_id = _MISSING_ID if question.question_id is None else question.question_id
        lines.append(one_line(f'[{mark}] {question_id} "{question.text}"'))
    lines.append(f"Summary: {sum(is_valid)}/{len(questions)} questions valid")
    return lines


def answer_lines(scores: Sequence[AnswerScore], summaries: dict[str, Summary]) -> list[str]:
    """`Token F1 = 0.412 (n = 100, 95% interval 0.380 to 0.445)` for each measure."""
    lines = []
    for field, name in MEASURES.items():
        summary = summaries[field]
        if field == "refusal_precision":
            lines.append(_refusal_line(scores))
        if summary.mean is None:
            lines.append(f"{name} = n/a (n = 0)")
        else:
            interval = f"95% interval {summary.low:.3f} to {summary.high:.3f}"
            lines.append(f"{name} = {summary.mean:.3f} (n = {summary.n}, {interval})")
    return lines


def found_lines(count: int, summaries: dict[str, Summary]) -> list[str]:
    """The measures over the questions of which a true source was retrieved, where there are any."""
    lines = [f"Where a true source was retrieved (n = {count}):"]
    for field, name in MEASURES.items():
        summary = summaries[field]
        if summary.mean is not None and not field.startswith("refusal"):
            interval = f"95% interval {summary.low:.3f} to {summary.high:.3f}"
            lines.append(f"  {name} = {summary.mean:.3f} (n = {summary.n}, {interval})")
    return lines


def _refusal_line(scores: Sequence[AnswerScore]) -> str:
    judged = [score.refusal_precision for score in scores if score.refusal_precision is not None]
    right = sum(value == 1.0 for value in judged)
    return f"Refusals: {len(judged)} of {len(scores)}: {right} right, {len(judged) - right} wrong"


def one_line(text: str) -> str:
    """The text with its white space collapsed and other control characters escaped."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", _collapse(text))


def _collapse(text: str) -> str:
    # Only breaks are collapsed: leading blanks and double spaces may matter to the reader.
    return re.sub(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+", " ", text)
