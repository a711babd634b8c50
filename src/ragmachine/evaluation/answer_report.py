"""A file of answers against a dataset: every measure, over all questions and over those found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ragmachine.errors import DatasetError

from .answer_scores import MEASURES, AnswerScore, Estimate, means, means_json, score_answer
from .given_answers import read_answer
from .pairing import pair_entries
from .text_measures import ROUGE_REMEDY, has_rouge

if TYPE_CHECKING:
    from ragmachine.exchange import Dataset, SearchResults

_QUESTION_CHARS = 70


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """What an evaluation of answers found.

    Attributes:
        scores: one per question, in the order of the dataset.
        warnings: what a reader must know before believing the numbers, a line each.
    """

    scores: tuple[AnswerScore, ...]
    warnings: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[AnswerScore, ...]:
        """The questions of which a true source was retrieved."""
        return tuple(score for score in self.scores if score.has_source)

    def _counts(self) -> dict[str, Any]:
        refused = [score for score in self.scores if score.is_refusal]
        return {
            "questions": len(self.scores),
            "answered": sum(score.is_answered for score in self.scores),
            "unanswerable": sum(not score.is_answerable for score in self.scores),
            "source_retrieved": len(self.found),
            "refused": {
                "right": sum(not score.is_answerable for score in refused),
                "wrong": sum(score.is_answerable for score in refused),
            },
        }

    def to_json(self) -> dict[str, Any]:
        """The report as one JSON document; null for a measure that applies to nothing."""
        return {
            **self._counts(),
            "measures": means_json(self.scores),
            "measures_where_source_retrieved": means_json(self.found),
            "warnings": list(self.warnings),
            "rows": [asdict(score) for score in self.scores],
        }

    def to_text(self, *, verbose: bool = False) -> str:
        """The report for people; no final newline.

        Args:
            verbose: put the questions with a missing key value in front, or a wrong refusal.
        """
        counts = self._counts()
        lines = [*_failures(self.scores), ""] if verbose else []
        lines += [
            f"{counts['questions']} questions: {counts['answered']} with an answer,"
            f" {counts['unanswerable']} unanswerable,"
            f" {counts['source_retrieved']} of which a true source was retrieved",
            f"Refusals: {counts['refused']['right']} right, {counts['refused']['wrong']} wrong",
            "",
            *_table(means(self.scores), means(self.found)),
        ]
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])


def evaluate_answers(answers: SearchResults, dataset: Dataset) -> AnswerReport:
    """Measure answers against reference answers and true sources.

    Raises: DatasetError: the files do not belong together, or no entry holds an answer.
    """
    entries = pair_entries(answers, dataset)
    given = [read_answer(entry) if entry else None for entry in entries]
    if not any(given):
        raise DatasetError(
            "no entry of this file holds an answer",
            remedy="write answers with answer_dataset, or measure a search with evaluate",
        )
    pairs = zip(dataset.rag_questions, given, strict=True)
    scores = tuple(score_answer(question, answer) for question, answer in pairs)
    return AnswerReport(scores, tuple(_warnings(scores, answers, entries)))


def _warnings(
    scores: Sequence[AnswerScore], answers: SearchResults, entries: Sequence[object]
) -> list[str]:
    unanswered = sum(not score.is_answered for score in scores)
    foreign = len(answers.search_results) - sum(entry is not None for entry in entries)
    unchecked = all(score.unsupported is None or score.is_refusal for score in scores)
    found = [
        (unanswered, f"{unanswered} of the questions have no answer and count 0"),
        (foreign, f"{foreign} of the entries answer no question of the set"),
        (unchecked, "no answer tells which of its sentences are supported"),
        (not has_rouge(), ROUGE_REMEDY),
        (
            not any(score.is_answerable for score in scores),
            "the dataset has neither answers nor sources: only refusals are measured",
        ),
    ]
    return [text for is_so, text in found if is_so]


def _table(every: dict[str, Estimate | None], found: dict[str, Estimate | None]) -> list[str]:
    """A line per measure: over all questions, and where a true source was retrieved."""
    head = ("", "all questions", "source retrieved")
    rows = [head, *((MEASURES[m], cell(every[m]), cell(found[m])) for m in MEASURES)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def cell(estimate: Estimate | None) -> str:
    """``0.812 [0.74, 0.88] n=98``, or a dash."""
    if estimate is None:
        return "-"
    return f"{estimate.mean:.3f} [{estimate.low:.2f}, {estimate.high:.2f}] n={estimate.n}"


def _failures(scores: Sequence[AnswerScore]) -> list[str]:
    """Questions whose answer lacks a key value, or that were refused and need not have been."""
    lines = []
    for score in scores:
        why = ""
        if score.false_refusals:
            why = "refused"
        elif score.missing and score.is_answered:
            why = f"lacks {', '.join(score.missing)}"
        elif score.refusal_recall == 0.0:
            why = "unanswerable, and answered"
        if why:
            found = "source retrieved" if score.has_source else "source not retrieved"
            question = " ".join(score.question.split())[:_QUESTION_CHARS]
            place = f"; {found}" if score.is_answerable else ""
            lines.append(f"{question}: {why}{place}")
    return lines or ["every question is answered right, as far as key values tell"]
