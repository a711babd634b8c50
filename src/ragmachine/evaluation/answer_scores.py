"""Every measure of one answer, and their means over a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from .bootstrap import bootstrap_interval
from .given_answers import GivenAnswer
from .key_values import contained, key_values
from .measures import Span, finds
from .text_measures import has_rouge, rouge_l, token_f1

if TYPE_CHECKING:
    from ragmachine.exchange import Question

MEASURES = {
    "token_f1": "Token F1",
    "rouge_l": "ROUGE-L",
    "key_values": "Key values",
    "citation_precision": "Citation precision",
    "citation_recall": "Citation recall",
    "unsupported": "Unsupported sentences",
    "refusal_precision": "Refusals that are right",
    "refusal_recall": "Unanswerable refused",
    "false_refusals": "Answerable refused",
}
"""Field of `AnswerScore` -> printed name, in printing order."""


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The measures of one question, each 0..1, or None where it does not apply.

    A refusal says nothing: its words and key values count 0, whatever it repeats of the question.

    Attributes:
        question_id, question: as in the dataset.
        style: the dataset's word for the kind of question, else "".
        is_answered: whether there is an answer; without one, what applies counts 0.
        is_answerable: whether the dataset has a source or a reference answer.
        has_source: whether a true source was retrieved; False where there is none.
        is_refusal: whether the answer says that nothing is known.
        token_f1, rouge_l: where there is a reference answer; ROUGE-L with its library only.
        key_values: share of the key values contained, where there is any.
        missing: the key values not contained.
        citation_precision: share of the citations that find a true source, where there is one
            and something is cited.
        citation_recall: share of the true sources found by a citation, where there is one.
        unsupported: share of the sentences that are not supported, where they were checked; not
            of refusals.
        refusal_precision: of a refusal: 1 where the question is unanswerable.
        refusal_recall: of an unanswerable question: 1 where it is refused.
        false_refusals: of an answerable question: 1 where it is refused.
    """

    question_id: str
    question: str
    style: str = ""
    is_answered: bool = True
    is_answerable: bool = True
    has_source: bool = False
    is_refusal: bool = False
    token_f1: float | None = None
    rouge_l: float | None = None
    key_values: float | None = None
    missing: tuple[str, ...] = ()
    citation_precision: float | None = None
    citation_recall: float | None = None
    unsupported: float | None = None
    refusal_precision: float | None = None
    refusal_recall: float | None = None
    false_refusals: float | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of a measure over the `n` questions it applies to, and its 95 % interval."""

    n: int
    mean: float
    low: float
    high: float


def wanted_values(question: Question) -> tuple[str, ...]:
    """The key values of a question: those of the dataset, or else read from its answer."""
    listed = (question.model_extra or {}).get("key_values")
    if isinstance(listed, list):
        return tuple(str(value) for value in listed if str(value).strip())
    return key_values(question.answer or "", question.question)


def score_answer(question: Question, given: GivenAnswer | None) -> AnswerScore:
    """Judge one answer by every measure that applies.

    Args:
        question: with its true sources and its reference answer.
        given: None where there is no answer.
    Source: for citations, Gao et al., Enabling LLMs to Generate Text with Citations, EMNLP 2023,
        with spans in place of their entailment model.
    """
    truth = [
        Span(source.file_path, source.first_character_index, source.last_character_index)
        for source in question.sources
    ]
    reference = (question.answer or "").strip()
    is_answerable = bool(truth or reference)
    answer = given or GivenAnswer("")
    words = "" if answer.is_refusal else answer.words
    wanted = wanted_values(question)
    held = contained(words, wanted)
    is_found = any(finds(span, true) for span in answer.retrieved for true in truth)
    verdicts = () if answer.is_refusal else answer.supported or ()
    refused = float(answer.is_refusal)
    return AnswerScore(
        question.question_id,
        question.question,
        str((question.model_extra or {}).get("style") or ""),
        is_answered=given is not None,
        is_answerable=is_answerable,
        has_source=is_found,
        is_refusal=answer.is_refusal,
        token_f1=token_f1(words, reference) if reference else None,
        rouge_l=rouge_l(words, reference) if reference and has_rouge() else None,
        key_values=len(held) / len(wanted) if wanted else None,
        missing=tuple(value for value in wanted if value not in held),
        citation_precision=_precision(truth, answer.cited),
        citation_recall=_recall(truth, answer.cited),
        unsupported=1 - fmean(verdicts) if verdicts else None,
        refusal_precision=float(not is_answerable) if answer.is_refusal else None,
        refusal_recall=None if is_answerable else refused,
        false_refusals=refused if is_answerable else None,
    )


def means(scores: Sequence[AnswerScore]) -> dict[str, Estimate | None]:
    """Each measure over the questions it applies to, by field name; None where to none."""
    return {name: _estimate([getattr(score, name) for score in scores]) for name in MEASURES}


def means_json(scores: Sequence[AnswerScore]) -> dict[str, Any]:
    """`means` as JSON: null for a measure that applies to nothing."""
    return {name: asdict(one) if one else None for name, one in means(scores).items()}


def _precision(truth: Sequence[Span], cited: Sequence[Span | None]) -> float | None:
    if not truth or not cited:
        return None
    return fmean(any(span and finds(span, true) for true in truth) for span in cited)


def _recall(truth: Sequence[Span], cited: Sequence[Span | None]) -> float | None:
    if not truth:
        return None
    return fmean(any(span and finds(span, true) for span in cited) for true in truth)


def _estimate(values: Sequence[float | None]) -> Estimate | None:
    found = [value for value in values if value is not None]
    if not found:
        return None
    low, high = bootstrap_interval(found)
    return Estimate(len(found), fmean(found), low, high)
