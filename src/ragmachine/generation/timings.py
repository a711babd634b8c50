"""Where the time of an answer went, in the form that the command line and the API give."""

from __future__ import annotations

from typing import Any

from ragmachine.models import Answer


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


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 3)
