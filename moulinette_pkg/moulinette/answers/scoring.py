"""Scores each answer of a dataset by every measure, and summarises them.

Pure functions on values; reading is `datasets`, pairing is `matching`, printing is `report`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..bootstrap import bootstrap_interval
from ..datasets import Entry, Question
from ..overlap import is_found
from ..recall import mean
from .citations import citation_precision, citation_recall, cited_spans, without_marks
from .key_values import containment, extract_key_values
from .refusals import is_refusal
from .rouge_l import rouge_l_f1
from .token_f1 import token_f1


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The measures of one question, each 0.0 to 1.0, or None where it does not apply.

    A refusal says nothing: its words and key values count 0, whatever it repeats of the question.

    Attributes:
        token_f1, rouge_l_f1: apply where there is a reference answer.
        key_values: applies where there is a key value.
        citation_precision: applies where there is a true source and a citation.
        citation_recall: applies where there is a true source.
        unsupported: share of the sentences that the answers file itself marks as not supported;
            applies to answers with such marks that do not refuse.
        refusal_precision: applies to refusals: 1.0 if there is no true source.
        refusal_recall: applies where there is no true source: 1.0 if the answer refuses.
    """

    token_f1: float | None
    rouge_l_f1: float | None
    key_values: float | None
    citation_precision: float | None
    citation_recall: float | None
    unsupported: float | None
    refusal_precision: float | None
    refusal_recall: float | None


MEASURES = {
    "token_f1": "Token F1",
    "rouge_l_f1": "ROUGE-L F1",
    "key_values": "Key values",
    "citation_precision": "Citation precision",
    "citation_recall": "Citation recall",
    "unsupported": "Unsupported sentences",
    "refusal_precision": "Refusal precision",
    "refusal_recall": "Refusal recall",
}
"""Field of AnswerScore -> printed name, in printing order."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One measure over a dataset.

    Attributes:
        n: number of questions it applies to; the other fields are None where that is 0.
        mean: plain mean over them, 0.0 to 1.0.
        low, high: 95 % bootstrap interval of the mean.
    """

    n: int
    mean: float | None
    low: float | None
    high: float | None


def score_answer(question: Question, entry: Entry | None, k: int) -> AnswerScore:
    """Score one answer; without an entry every measure that applies is 0.

    Args:
        k: number of retrieved sources that a mark [n] may name.
    """
    has_source = bool(question.sources)
    values = question.key_values
    if values is None:
        values = extract_key_values(question.answer or "", question.text)
    if entry is None:
        zero_if_reference = 0.0 if question.answer else None
        return AnswerScore(
            token_f1=zero_if_reference,
            rouge_l_f1=zero_if_reference,
            key_values=0.0 if values else None,
            citation_precision=None,
            citation_recall=0.0 if has_source else None,
            unsupported=None,
            refusal_precision=None,
            refusal_recall=None if has_source else 0.0,
        )
    answer = entry.answer or ""
    cited = cited_spans(answer, entry.sources[:k], entry.citations)
    refused = is_refusal(answer)
    text = "" if refused else without_marks(answer)
    return AnswerScore(
        token_f1=token_f1(text, question.answer) if question.answer else None,
        rouge_l_f1=rouge_l_f1(text, question.answer) if question.answer else None,
        key_values=containment(text, values),
        citation_precision=citation_precision(question.sources, cited) if has_source else None,
        citation_recall=citation_recall(question.sources, cited),
        unsupported=None if refused else entry.unsupported,
        refusal_precision=float(not has_source) if refused else None,
        refusal_recall=None if has_source else float(refused),
    )


def is_source_retrieved(question: Question, entry: Entry | None, k: int) -> bool:
    """Whether the first k retrieved sources hold a true one, so that it could be answered."""
    retrieved = entry.sources[:k] if entry else ()
    return any(is_found(source, retrieved) for source in question.sources)


def summarise(scores: Sequence[AnswerScore]) -> dict[str, Summary]:
    """Mean and interval of each measure over the questions it applies to, by field name."""
    return {measure: _summary(getattr(score, measure) for score in scores) for measure in MEASURES}


def _summary(values: Iterable[float | None]) -> Summary:
    applicable = [value for value in values if value is not None]
    if not applicable:
        return Summary(0, None, None, None)
    low, high = bootstrap_interval(applicable)
    return Summary(len(applicable), mean(applicable), low, high)
