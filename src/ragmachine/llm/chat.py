"""One chat protocol for every language model, and the text repairs that all of them need.

Rooms above receive a `ChatClient` from the pipeline; they never build one themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ragmachine.errors import ModelError

_TAGS = ("<think>", "</think>", "<thinking>", "</thinking>")
_LONGEST_TAG = max(map(len, _TAGS))
# A tag between quotes or backticks is a word of the answer ("the `<think>` token"), not markup.
_TAG = r"(?<![`'\"])</?think(?:ing)?>|</?think(?:ing)?>(?=[^`'\"]"
_TAG_WITHIN = re.compile(f"{_TAG})", re.IGNORECASE)
_TAG_AT_END = re.compile(f"{_TAG}|\\Z)", re.IGNORECASE)
_SENTENCE_END = re.compile(
    r"""(?<!\be\.g)(?<!\bi\.e)(?<!^\d)(?<!\n\d)(?<!\n\d\d)  # abbreviations, list numbers
        [.!?…。！？]["'”’)\]*_`]*(?:\s?\[\d+(?:\s*,\s*\d+)*\])*(?=\s|$)
        | \n(?=[ \t]*(?:[-*+•]|\d+[.)])[ ])          # the item before a new list item is whole
        | \n(?=[ \t]*\n)
    """,
    re.VERBOSE,
)
_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)


class ModelUnavailableError(ModelError):
    """The model cannot answer now nor a moment later: no server, no such model, or silence."""


class DroppedConnectionError(ModelError):
    """The server went away in the middle of an answer; asking once more may help."""


class PromptTooLongError(ModelError):
    """The model would not read the whole prompt; a shorter one may be answered.

    Args:
        model: the model's name.
        needed_tokens: length of the prompt and the longest answer together; 0 where unknown.
        limit_tokens: what the model reads and writes at most; 0 where unknown.

    Attributes:
        needed_tokens: as given.
        excess_tokens: what the prompt has too much, at least; 0 where unknown.
    """

    def __init__(self, model: str, *, needed_tokens: int = 0, limit_tokens: int = 0) -> None:
        is_known = 0 < limit_tokens < needed_tokens
        numbers = f": {needed_tokens:,} tokens with the answer, of {limit_tokens:,}"
        super().__init__(
            f"the prompt is too long for the model {model}{numbers if is_known else ''}",
            remedy="show it less with --context_chars",
        )
        self.needed_tokens = needed_tokens
        self.excess_tokens = needed_tokens - limit_tokens if is_known else 0


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat.

    Attributes:
        role: who says it.
        content: what is said.
        images: PNG or JPEG files beside it, which only Ollama's client sends.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        text: never empty, without thinking; trimmed at a sentence end when truncated, unless it
            was to follow a schema.
        is_truncated: whether the model was stopped by `max_tokens`.
        model: the model that answered.
        notice: why others that were to be asked first did not answer; "" when none was.
        prompt_tokens, answer_tokens: as the server counted them; 0 where it does not say.
    """

    text: str
    is_truncated: bool
    model: str
    notice: str = ""
    prompt_tokens: int = 0
    answer_tokens: int = 0


class ChatClient(Protocol):
    """Anything that answers a list of messages."""

    @property
    def name(self) -> str:
        """The model's name, as a user would type it."""
        ...

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        on_token: Callable[[str], None] | None = None,
        schema: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> Reply:
        """Answer the last message.

        Args:
            messages: the conversation, oldest first.
            max_tokens: upper bound of the answer's length, in tokens.
            temperature: 0 for the likeliest answer.
            on_token: receives each visible piece as it arrives; never thinking.
            schema: JSON Schema of the answer, which is then JSON as far as the server can see to
                it; the caller still has to check.
            timeout_s: longest silence of the server in this call, in seconds; None for the
                client's own. Without `on_token` an answer comes at once, so this bounds all of it.
        Raises: ModelError, with its remedy; ModelUnavailableError when asking again soon is vain;
            PromptTooLongError when the model would not have read all of the messages.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Length of a text in tokens: the model's own count, or an estimate that is hardly less.

        Raises: ModelError: the model that would count cannot be had.
        """
        ...


class ThinkFilter:
    """Drops ``<think>…</think>`` from a text that arrives in pieces of any size.

    Leading blank text is dropped as well. A close tag without an open one is dropped alone here,
    since what stood before it was already let through; `strip_thinking` removes both.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._before = ""
        self._is_thinking = False
        self._has_started = False

    def feed(self, piece: str) -> str:
        """Take the next piece and return what may be shown, possibly ""."""
        self._pending += piece
        shown = self._pass_tags(_TAG_WITHIN)
        return self._visible(shown + self._take(len(self._pending) - self._held()))

    def flush(self) -> str:
        """End of text: return what was held back, unless it is thinking."""
        shown = self._pass_tags(_TAG_AT_END)
        return self._visible(shown + self._take(len(self._pending)))

    def _pass_tags(self, tag: re.Pattern[str]) -> str:
        shown = []
        while match := tag.search(self._before + self._pending):
            shown.append(self._take(match.start() - len(self._before)))
            self._before, self._pending = "", self._pending[match.end() - match.start() :]
            self._is_thinking = not _is_close(match)
        return "".join(shown)

    def _take(self, length: int) -> str:
        taken, self._pending = self._pending[:length], self._pending[length:]
        self._before = taken[-1:] or self._before
        return "" if self._is_thinking else taken

    def _held(self) -> int:
        """Length of the tail that may yet grow into a tag."""
        tail = self._pending[-_LONGEST_TAG:].lower()
        for start, character in enumerate(tail):
            if character == "<" and any(tag.startswith(tail[start:]) for tag in _TAGS):
                return len(tail) - start
        return 0

    def _visible(self, text: str) -> str:
        if not self._has_started:
            text = text.lstrip()
            self._has_started = bool(text)
        return text


def _is_close(tag: re.Match[str]) -> bool:
    return "/" in tag.group()


def strip_thinking(text: str) -> str:
    """Remove thinking, closed or not, and blank text around the answer.

    A close tag without an open one ends a thought whose open tag the server's template swallowed:
    everything up to it goes. Tags in quotes or backticks are words and stay.
    """
    first = _TAG_AT_END.search(text)
    if first and _is_close(first):
        text = text[first.end() :]
    think_filter = ThinkFilter()
    return (think_filter.feed(text) + think_filter.flush()).strip()


def trim_to_sentence(text: str) -> str:
    """Cut a truncated text after its last whole sentence, citation, list item or paragraph.

    A code fence left open is cut at its last whole line and closed. A text without any such end
    is returned as it is, stripped.
    """
    text = text.strip()
    fences = list(_FENCE.finditer(text))
    if len(fences) % 2:
        head, line_end, _ = text.rpartition("\n")
        return f"{head}\n{fences[-1][1]}" if line_end and len(head) > fences[-1].end() else text
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]].strip() if ends else text
