"""Several generators as one: the first that can answers; built by the pipeline only."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragmachine.errors import ModelError

from .chat import ChatClient, Message, ModelUnavailableError, PromptTooLongError, Reply


@dataclass(slots=True)
class _Link:
    label: str
    client: ChatClient
    left_alone_until: float = 0.0
    failure: ModelError | None = None


class ChatChain:
    """Asks generators in order until one answers; safe to share between threads.

    Args:
        clients: what each is called in notices, and its client; the one to be asked first is first.
        retry_after_s: how long one that could not be reached is left alone, so that a thousand
            questions do not wait for it a thousand times.
        clock: seconds, as `time.monotonic` counts them.
    Raises: ValueError: there is none.
    """

    def __init__(
        self,
        clients: Sequence[tuple[str, ChatClient]],
        *,
        retry_after_s: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not clients:
            raise ValueError("a chain has at least one client")
        self._links = [_Link(label, client) for label, client in clients]
        self._asked = self._links[0].client
        self._retry_after_s = retry_after_s
        self._clock = clock

    @property
    def name(self) -> str:
        """The names in order, with commas; a reply names the one that wrote it."""
        return ",".join(link.client.name for link in self._links)

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
        """Answer the last message; see `ChatClient.chat`.

        What was shown cannot be taken back, so one that fails after that has no successor. Neither
        has a prompt that is too long: the next would get a shorter one than it can read.

        Returns: a reply whose notice says who failed and why, and who answered instead.
        Raises: ModelUnavailableError: all failed; its message names each with its reason.
        """
        listener = None if on_token is None else _Listener(on_token)
        options = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "schema": schema,
            "timeout_s": timeout_s,
        }
        failed: list[_Link] = []
        for link in self._links:
            reply = self._attempt(link, messages, listener, options)
            if reply and not failed:
                return reply
            if reply:
                told = f"{_told(failed)}; {link.label}: answered by {reply.model}"
                return replace(reply, notice=told)
            failed.append(link)
        remedy = next((link.failure.remedy for link in failed if link.failure), "")
        raise ModelUnavailableError(_told(failed), remedy=remedy)

    def count_tokens(self, text: str) -> int:
        """The count of the client that was asked last; see `ChatClient.count_tokens`."""
        return self._asked.count_tokens(text)

    def _attempt(
        self,
        link: _Link,
        messages: Sequence[Message],
        listener: _Listener | None,
        options: Mapping[str, Any],
    ) -> Reply | None:
        """One client's reply; None where it failed unheard or is left alone."""
        if self._clock() < link.left_alone_until:
            return None
        self._asked = link.client
        try:
            return link.client.chat(messages, on_token=listener, **options)
        except PromptTooLongError:
            raise
        except ModelError as error:
            link.failure = error
            if isinstance(error, ModelUnavailableError):
                link.left_alone_until = self._clock() + self._retry_after_s
            if listener and listener.has_heard:
                raise
            return None


def _told(failed: Sequence[_Link]) -> str:
    return "; ".join(f"{link.label}: {link.failure.message}" for link in failed if link.failure)


class _Listener:
    """Passes pieces on, and knows whether there were any."""

    def __init__(self, on_token: Callable[[str], None]) -> None:
        self._on_token = on_token
        self.has_heard = False

    def __call__(self, piece: str) -> None:
        self.has_heard = True
        self._on_token(piece)
