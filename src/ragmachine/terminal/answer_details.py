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
