"""What is shown of how an answer came about: the passages its author read, and its timings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragmachine.models import Answer

NO_CONTEXT = "no passage was shown to whoever wrote this"


def context_json(answer: Answer) -> list[dict[str, Any]]:
    """The passages as their reader got them, in order, each with its number and score."""
    return [{**hit.to_json(), "rank": number} for number, hit in enumerate(answer.context, 1)]


def context_lines(answer: Answer) -> Iterator[str]:
    """The same for people: a heading line for each passage, then its text."""
    if not answer.context:
        yield NO_CONTEXT
    for number, hit in enumerate(answer.context, 1):
        label = f"  {hit.chunk.label}" if hit.chunk.label else ""
        yield f"\n[{number}]  score {hit.score:.2f}  {hit.chunk.location}{label}"
        yield hit.chunk.text.rstrip("\n")


def timings_json(answer: Answer, total_ms: float, *, has_answer_cache: bool) -> dict[str, Any]:
    """Milliseconds of each step, null for one that did not run; cache hits; tokens.

    Args:
        answer: as the pipeline gave it.
        total_ms: wall time of the whole, opening the index and loading a model included.
        has_answer_cache: whether earlier answers could have been given again.
    """
    stages, usage = answer.result.stage_ms, answer.usage
    # a model's answer that cost no tokens now was written earlier
    is_again = has_answer_cache and usage is None and answer.mode not in ("extractive", "none")
    return {
        "plan_ms": _rounded(stages.get("plan")),
        "search_ms": _rounded(stages.get("search")),
        "rerank_ms": _rounded(stages.get("rerank")),
        "generate_ms": None if is_again else _rounded(answer.answer_time_ms),
        "first_token_ms": _rounded(usage.first_token_ms) if usage else None,
        "total_ms": _rounded(total_ms),
        "query_cache": ("hit" if answer.result.is_cached else "miss") if stages else "off",
        "answer_cache": ("hit" if is_again else "miss") if has_answer_cache else "off",
        "prompt_tokens": usage.prompt_tokens if usage else 0,
        "answer_tokens": usage.answer_tokens if usage else 0,
        "tokens_estimated": bool(usage and usage.is_estimated),
    }


def timings_lines(timings: dict[str, Any]) -> Iterator[str]:
    """The same for people, a line a step."""
    yield "\nTimings:"
    for name in ("plan", "search", "rerank", "generate", "first_token", "total"):
        spent = timings[f"{name}_ms"]
        shown = "-" if spent is None else f"{spent:,.1f} ms"
        yield f"  {name.replace('_', ' '):<12}{shown:>14}"
    yield f"  caches      queries {timings['query_cache']}, answers {timings['answer_cache']}"
    about = "about " if timings["tokens_estimated"] else ""
    read, written = timings["prompt_tokens"], timings["answer_tokens"]
    yield (
        f"  tokens      {about}{read:,} read, {written:,} written"
        if read or written
        else "  tokens      none: no model was asked"
    )


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 3)
