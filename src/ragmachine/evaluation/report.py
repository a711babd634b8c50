"""Search results against a dataset: one row per question, the means, and how sure they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from .bootstrap import bootstrap_interval
from .measures import Span, first_true_rank, ndcg, recall, reciprocal_rank
from .pairing import pair_entries
from .table import table

if TYPE_CHECKING:  # exchange imports pydantic; whoever read the files has paid for that already
    from ragmachine.exchange import Dataset, Question, SearchEntry, SearchResults, Source

_CUTOFFS = (1, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """The measures of one question; all are 0 where the results have no entry for it.

    Attributes:
        question_id: as in the dataset.
        question: its text.
        recall: recall by cutoff.
        first_rank: rank, from 1, of the first retrieved source that finds a true one, or None.
        reciprocal_rank: cut at the report's k, as is `ndcg`.
        ndcg: see `measures.ndcg`.
        is_retrieved: whether the results have an entry for the question.
        style: the dataset's word for the kind of question, else "".
    """

    question_id: str
    question: str
    recall: dict[int, float]
    first_rank: int | None
    reciprocal_rank: float
    ndcg: float
    is_retrieved: bool
    style: str = ""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over all questions, and its 95 % bootstrap interval from `low` to `high`."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """What an evaluation found.

    Attributes:
        k: sources looked at per question.
        recall: mean by cutoff: those of 1, 3, 5 and 10 that are at most k, and k itself.
        mrr: mean reciprocal rank at k.
        ndcg: mean nDCG at k.
        entries: questions that have an entry in the results.
        without_sources: questions that have no true source; with an entry they count 1.
        rows: one per question, in the order of the dataset.
        warnings: what a reader must know before believing the numbers, a line each.
    """

    k: int
    recall: dict[int, Mean]
    mrr: Mean
    ndcg: Mean
    entries: int
    without_sources: int
    rows: tuple[QuestionRow, ...]
    warnings: tuple[str, ...] = ()

    def by_style(self) -> list[tuple[str, int, list[float]]]:
        """(style, questions, mean recall by cutoff) of each kind of question, by name.

        Empty where the dataset knows one kind only.
        """
        styles = sorted({row.style for row in self.rows})
        if len(styles) < 2:
            return []
        groups = [(style, [row for row in self.rows if row.style == style]) for style in styles]
        return [
            (
                style or "other",
                len(rows),
                [fmean(row.recall[k] for row in rows) for k in self.recall],
            )
            for style, rows in groups
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as one JSON document; cutoffs are written as strings."""
        return {
            "k": self.k,
            "questions": len(self.rows),
            "entries": self.entries,
            "without_sources": self.without_sources,
            "recall": {str(cutoff): asdict(mean) for cutoff, mean in self.recall.items()},
            "mrr": asdict(self.mrr),
            "ndcg": asdict(self.ndcg),
            "warnings": list(self.warnings),
            "by_style": {
                style: {
                    "questions": count,
                    "recall": dict(zip(map(str, self.recall), means, strict=True)),
                }
                for style, count, means in self.by_style()
            },
            "rows": [_row_json(row) for row in self.rows],
        }

    def to_text(self, verbose: bool = False) -> str:
        """The report for people: counts, a line per mean, warnings; no final newline.

        Args:
            verbose: put a table of all questions in front.
        """
        named = [(f"Recall@{cutoff}", mean) for cutoff, mean in self.recall.items()]
        named += [(f"MRR@{self.k}", self.mrr), (f"nDCG@{self.k}", self.ndcg)]
        heads = [f"{name} = {mean.mean:.3f} ({mean.mean:.1%})" for name, mean in named]
        width = max(map(len, heads))
        lines = [*table(self.rows), ""] if verbose else []
        lines.append(
            f"{len(self.rows)} questions: {self.entries} with an entry in the results, "
            f"{self.without_sources} without a true source"
        )
        lines += [
            f"{head:<{width}}  95% CI [{mean.low:.2f}, {mean.high:.2f}]"
            for head, (_, mean) in zip(heads, named, strict=True)
        ]
        lines += [
            f"  {style}, {count} questions: Recall@{'/'.join(map(str, self.recall))} = "
            + "/".join(f"{100 * mean:.1f}" for mean in means)
            for style, count, means in self.by_style()
        ]
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])


def evaluate(
    results: SearchResults, dataset: Dataset, *, k: int = 10, max_context_length: int = 2000
) -> EvaluationReport:
    """Measure search results against the true sources of a dataset.

    Where an id repeats, its n-th entry answers its n-th question. Sources after the first `k` are
    ignored; a source longer than `max_context_length` keeps its rank but finds nothing.

    Args:
        results: with or without answers.
        dataset: questions with their true sources.
        k: sources looked at per question, from 1.
        max_context_length: longest source that counts, in characters, from 1.

    Raises:
        DatasetError: the dataset is empty, or shares no question id with the results.
        ValueError: k or max_context_length is not positive.
    """
    if k < 1 or max_context_length < 1:
        raise ValueError("k and max_context_length must be positive")
    entries = pair_entries(results, dataset)
    cutoffs = sorted({k, *(cutoff for cutoff in _CUTOFFS if cutoff < k)})
    rows = tuple(
        _measure(question, entry, cutoffs, max_context_length)
        for question, entry in zip(dataset.rag_questions, entries, strict=True)
    )
    return EvaluationReport(
        k=k,
        recall={cutoff: _mean([row.recall[cutoff] for row in rows]) for cutoff in cutoffs},
        mrr=_mean([row.reciprocal_rank for row in rows]),
        ndcg=_mean([row.ndcg for row in rows]),
        entries=sum(row.is_retrieved for row in rows),
        without_sources=sum(not question.sources for question in dataset.rag_questions),
        rows=rows,
        warnings=tuple(_warnings(results, dataset, entries, k, max_context_length)),
    )


def _measure(
    question: Question, entry: SearchEntry | None, cutoffs: Sequence[int], max_context_length: int
) -> QuestionRow:
    k = max(cutoffs)
    style = str((question.model_extra or {}).get("style") or "")
    if entry is None:
        nothing = dict.fromkeys(cutoffs, 0.0)
        return QuestionRow(
            question.question_id, question.question, nothing, None, 0.0, 0.0,
            is_retrieved=False, style=style,
        )  # fmt: skip
    truth = [_span(source) for source in question.sources]
    retrieved = [_span(source, max_context_length) for source in entry.retrieved_sources[:k]]
    return QuestionRow(
        question_id=question.question_id,
        question=question.question,
        recall={cutoff: recall(retrieved, truth, k=cutoff) for cutoff in cutoffs},
        first_rank=first_true_rank(retrieved, truth, k=k),
        reciprocal_rank=reciprocal_rank(retrieved, truth, k=k),
        ndcg=ndcg(retrieved, truth, k=k),
        is_retrieved=True,
        style=style,
    )


def _span(source: Source, max_chars: int | None = None) -> Span:
    """The source's span; an empty one, which overlaps nothing, in place of one too long."""
    start, end = source.first_character_index, source.last_character_index
    is_too_long = max_chars is not None and end - start > max_chars
    return Span(source.file_path, start, start if is_too_long else end)


def _mean(values: Sequence[float]) -> Mean:
    low, high = bootstrap_interval(values)
    return Mean(fmean(values), low, high)


def _warnings(
    results: SearchResults,
    dataset: Dataset,
    entries: Sequence[SearchEntry | None],
    k: int,
    max_context_length: int,
) -> list[str]:
    """What makes the numbers lower or emptier than they look, with counts; nothing counted 0."""
    pairs = [
        (question, entry)
        for question, entry in zip(dataset.rag_questions, entries, strict=True)
        if entry is not None
    ]
    shown = [source for _, entry in pairs for source in entry.retrieved_sources[:k]]
    true_paths = {true.file_path for question, _ in pairs for true in question.sources}
    too_long = sum(
        source.last_character_index - source.first_character_index > max_context_length
        for source in shown
    )
    found = [
        (len(entries) - len(pairs), "of the questions have no entry in the results and count 0"),
        (len(results.search_results) - len(pairs), "of the entries answer no question of the set"),
        (
            sum(question.question.strip() != entry.question.strip() for question, entry in pairs),
            "of the entries were retrieved for another text than the question of that id",
        ),
        (too_long, f"of the sources are longer than {max_context_length} characters: not counted"),
        (
            len(shown) if true_paths.isdisjoint(source.file_path for source in shown) else 0,
            "sources retrieved, but none from a file of the dataset: "
            "do both write paths from the project root?",
        ),
    ]
    lines = [f"{count} {text}" for count, text in found if count]
    if results.k < k:
        lines.append(f"the results were made with k = {results.k}: measures at {k} see no more")
    if not any(question.sources for question in dataset.rag_questions):
        lines.append("the dataset has no sources, so these numbers say nothing about retrieval")
    return lines


def _row_json(row: QuestionRow) -> dict[str, Any]:
    recall_by_name = {str(cutoff): value for cutoff, value in row.recall.items()}
    return {**asdict(row), "recall": recall_by_name}
