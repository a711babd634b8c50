"""What a search says about itself: the plan for ``--explain``, and the notice for everyone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragmachine.retrieval.ranking import Question


def plan_of(question: Question, filter_text: str) -> dict[str, Any]:
    """What was made of a query, then what the stages noted; the keys are in reading order."""
    analysis = question.analysis
    plan: dict[str, Any] = {
        "terms": _rounded(analysis.terms),
        "added": _rounded(question.added),
        "corrections": dict(analysis.corrections),
        "ignored": list(analysis.ignored),
        "names": list(analysis.identifiers),
        "quoted": list(analysis.phrases),
        "files": list(analysis.paths),
        "options": list(analysis.flags),
    }
    if question.parts:
        plan["parts"] = list(question.parts)
    if filter_text:
        plan["filter"] = filter_text
    plan["narrowed to"] = list(question.narrowing.named)
    return plan | question.notes


def notice_of(question: Question, hit_count: int, chunk_count: int) -> str:
    """One line on words that were mended, or on why there is no hit; else "".

    Args:
        question: what was searched for.
        hit_count: hits found.
        chunk_count: chunks in the index.
    """
    corrections = question.analysis.corrections
    if hit_count:
        pairs = [f"{meant!r} for {typed!r}" for typed, meant in corrections.items()]
        return f"nobody wrote that word: also looked for {', '.join(pairs)}" if pairs else ""
    if not question.analysis.text.strip():
        return "the query is empty: there is nothing to look for"
    if not chunk_count:
        return "the index is empty: no file in it held text"
    if not question.analysis.terms:
        return "the query holds no word that could tell one file from another"
    if question.mask is not None and not question.mask.any():
        return "nothing meets the filter"
    where = " where the filter allows" if question.mask is not None else " in the index"
    return "no evidence: none of the query's words occurs" + where


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    return {term: round(weight, 3) for term, weight in weights.items()}
