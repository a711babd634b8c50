"""What an endpoint refuses, in words that say what to type next, and never with the key."""

from __future__ import annotations

from ragmachine.errors import ModelError

from .chat import ModelUnavailableError, PromptTooLongError
from .completions import RefusedError
from .endpoint import Endpoint

TEMPORARY = {429, 502, 503, 504}
_SHOWN_CHARS = 200
_SHORTEST_KEY_CHARS = 4  # a stand-in such as "x" is no secret, and would garble every message
_NAME_IT = "name another with --model or OPENAI_MODEL"


def refusal(
    endpoint: Endpoint, model: str, error: RefusedError, *, key: str, max_tokens: int
) -> ModelError:
    """An endpoint's error as ours, by its status.

    Args:
        endpoint: who refused.
        model: the model that was asked for.
        error: the refusal; its words are shown in part, without the key.
        key: what was sent, "" for none.
        max_tokens: longest answer that was asked for.
    """
    words = error.words.replace(key, "…") if len(key) >= _SHORTEST_KEY_CHARS else error.words
    said = f": {words[:_SHOWN_CHARS]}" if words else ""
    who = f"the endpoint {endpoint.url}"
    if error.is_too_long:
        needed_tokens = error.prompt_tokens and error.prompt_tokens + max_tokens
        return PromptTooLongError(
            model, needed_tokens=needed_tokens, limit_tokens=error.limit_tokens
        )
    if error.status in (401, 403):  # its words are left out: some repeat a part of the key
        fault = "does not accept the key in" if key else "wants a key in"
        return ModelUnavailableError(
            f"{who} {fault} OPENAI_API_KEY", remedy="set OPENAI_API_KEY in the environment"
        )
    if error.status == 404 and "model" in words.lower():
        return ModelUnavailableError(f"{who} has no model {model}", remedy=_NAME_IT)
    if error.status == 404 or 300 <= error.status < 400:
        return ModelUnavailableError(
            f"{who} has no chat completions", remedy="mend OPENAI_BASE_URL; it usually ends in /v1"
        )
    if error.status in TEMPORARY:
        state = "allows no more questions now" if error.status == 429 else "is not ready"
        wait_s = error.retry_after_s
        wait = f"wait {wait_s:.0f} s" if wait_s is not None else "wait a moment"
        return ModelUnavailableError(f"{who} {state}{said}", remedy=wait)
    if error.status >= 500 or error.status == 200:
        return ModelError(f"{who} failed{said}", remedy="see its log, or ask another model")
    return ModelError(f"{who} refused, status {error.status}{said}", remedy=_NAME_IT)
