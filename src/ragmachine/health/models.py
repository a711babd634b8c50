"""Whether the model that would write answers is there; nothing is asked of it."""

from __future__ import annotations

from ragmachine.errors import ModelError
from ragmachine.health.checks import ABSENT, BROKEN, OK, Check
from ragmachine.llm.ollama_api import OllamaServer, probe

_CONNECT_S = 0.5
_ANSWER_S = 2.0


def ollama_check(
    host: str | None,
    model: str,
    *,
    is_required: bool,
    name: str = "ollama",
    instead: str = "answers are quotations",
) -> Check:
    """Whether Ollama listens and has the model, within three seconds.

    Args:
        host: its address; None for ``OLLAMA_HOST`` or the local default.
        model: name of the model, e.g. ``qwen3:0.6b``.
        is_required: whether there is nothing else instead.
        name: of the check.
        instead: what happens without the model where it is not required.
    """
    missing = BROKEN if is_required else ABSENT
    without = "" if is_required else f": {instead}"
    try:
        endpoint = OllamaServer(model, host, _CONNECT_S).endpoint
    except ModelError as error:
        return Check(name, BROKEN, error.message, error.remedy)
    if not probe(endpoint, _CONNECT_S):
        detail = f"no server answers at {endpoint.url}{without}"
        return Check(name, missing, detail, "ollama serve")
    import httpx

    try:
        reply = httpx.get(
            f"{endpoint.url}/api/tags", timeout=_ANSWER_S, trust_env=not endpoint.is_loopback
        )
        names = {str(row["name"]) for row in reply.raise_for_status().json()["models"]}
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return Check(name, missing, f"{endpoint.url} answers, but not as Ollama does{without}",
                     "name Ollama's address: --ollama_host HOST:PORT")  # fmt: skip
    wanted = model if ":" in model else f"{model}:latest"
    if wanted not in names:
        detail = f"the server at {endpoint.url} has no model {model}{without}"
        return Check(name, missing, detail, f"ragmachine pull {model}")
    return Check(name, OK, f"{model} at {endpoint.url}")
