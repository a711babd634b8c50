"""How settings become the generators that are asked; called where a model is used."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ragmachine.generators import EXTRACTIVE, LOCAL, OLLAMA, OPENAI, Generator, parse_generators
from ragmachine.settings import FIELDS, Settings

if TYPE_CHECKING:
    from ragmachine.llm.chat import ChatClient
    from ragmachine.llm.ollama_pull import PullProgress
    from ragmachine.llm.vision import OllamaVision


def make_client(settings: Settings) -> ChatClient | None:
    """The generators that write answers, as one; None where no model is to be asked."""
    return None if settings.llm == "extractive" else make_chain(settings)


def make_chain(settings: Settings) -> ChatClient:
    """The generators that the settings name, as one; none is reached or loaded before it is asked.

    `auto`, and `extractive` where a model is wanted all the same, mean Ollama, then an endpoint
    where ``OPENAI_BASE_URL`` names one, then a local model where the setting `gguf` does.
    """
    from ragmachine.llm.chain import ChatChain

    named = [one for one in parse_generators(settings.llm) if one.kind != EXTRACTIVE]
    clients = [(one.kind, _client(one, settings)) for one in named or _automatic(settings)]
    return clients[0][1] if len(clients) == 1 else ChatChain(clients)


def _automatic(settings: Settings) -> list[Generator]:
    is_there = {
        OLLAMA: True,
        OPENAI: bool(os.environ.get("OPENAI_BASE_URL")),
        LOCAL: bool(settings.gguf),
    }
    return [Generator(kind) for kind, is_used in is_there.items() if is_used]


def _client(generator: Generator, settings: Settings) -> ChatClient:
    if generator.kind == LOCAL:
        from ragmachine.llm.local import LocalChat

        return LocalChat(
            _file(generator.model or settings.gguf, settings.project_root),
            threads=settings.llm_threads,
            timeout_s=settings.llm_timeout_s,
        )
    if generator.kind == OPENAI:
        from ragmachine.llm.openai import OpenAIChat

        model = generator.model or _endpoint_model(settings)
        return OpenAIChat(model, timeout_s=settings.llm_timeout_s)
    from ragmachine.llm.ollama import OllamaChat

    return OllamaChat(
        generator.model or settings.model,
        settings.ollama_host or None,
        timeout_s=settings.llm_timeout_s,
        keep_alive=settings.keep_alive,
    )


def _endpoint_model(settings: Settings) -> str:
    """The setting, unless it is only Ollama's default and ``OPENAI_MODEL`` says otherwise."""
    is_default = settings.model == FIELDS["model"].default
    return (os.environ.get("OPENAI_MODEL") if is_default else "") or settings.model


def _file(written: str, project_root: str) -> str:
    """A file as it was typed, or else below the project; "" stays so."""
    path = os.path.expanduser(written)
    return path if not path or os.path.exists(path) else os.path.join(project_root, path)


def make_transcriber(settings: Settings, model: str) -> OllamaVision | None:
    """The vision model of this name, which nobody has reached yet; None for no name."""
    if not model:
        return None
    from ragmachine.llm.vision import OllamaVision

    return OllamaVision(
        model,
        settings.ollama_host or None,
        timeout_s=settings.llm_timeout_s,
        keep_alive=settings.keep_alive,
    )


def pull_model(
    settings: Settings, *, on_progress: Callable[[PullProgress], None] | None = None
) -> None:
    """Have Ollama download the model that the settings name.

    Raises: ModelError: no server, no such model, or a failed download.
    """
    from ragmachine.llm import ollama_pull

    ollama_pull.pull_model(settings.model, settings.ollama_host or None, on_progress=on_progress)
