"""The setting `llm`: who is asked to write, in what order, as people type it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragmachine.errors import UsageError

AUTO = "auto"
OLLAMA, OPENAI, LOCAL, EXTRACTIVE = "ollama", "openai", "local", "extractive"
_KINDS = (OLLAMA, OPENAI, LOCAL, EXTRACTIVE)
_DURATION = re.compile(r"-?\d+(\.\d+)?|-?(\d+(\.\d+)?(ns|us|ms|s|m|h))+")


@dataclass(frozen=True, slots=True)
class Generator:
    """One way to an answer.

    Attributes:
        kind: ``ollama``, ``openai``, ``local`` or ``extractive``.
        model: its model, or file for ``local``; "" for what other settings name.
    """

    kind: str
    model: str = ""


def parse_generators(written: str) -> tuple[Generator, ...]:
    """Read ``auto``, or one or more generators with commas, each perhaps with ``:MODEL``.

    Returns: them in order, each once; none for ``auto``.
    Raises: UsageError: another word, a model for ``extractive``, or something after it.
    """
    if written.strip() == AUTO:
        return ()
    generators: dict[Generator, None] = {}
    for word in written.split(","):
        kind, colon, model = word.strip().partition(":")
        if kind not in _KINDS or (colon and (not model or kind == EXTRACTIVE)):
            raise UsageError(
                f"llm must be auto, or one or more of {', '.join(_KINDS)}, not {written!r}",
                remedy="separate several by commas, as in ollama:qwen3:4b,local,extractive",
            )
        generators[Generator(kind, model)] = None
    if any(generator.kind == EXTRACTIVE for generator in list(generators)[:-1]):
        raise UsageError(
            f"llm names {list(generators)[-1].kind} after extractive, which always answers",
            remedy="put extractive last",
        )
    return tuple(generators)


def is_model_required(written: str) -> bool:
    """Whether nothing but a model will do: one is named, and quoting is not allowed instead."""
    generators = parse_generators(written)
    return bool(generators) and generators[-1].kind != EXTRACTIVE


def check_keep_alive(written: str) -> None:
    """Refuse what Ollama would not take for a duration.

    Raises: UsageError.
    """
    if not _DURATION.fullmatch(written):
        raise UsageError(
            f"keep_alive must be a duration, not {written!r}",
            remedy="write 10m, 1h30m, 0 to unload the model at once, or -1 to keep it for ever",
        )
