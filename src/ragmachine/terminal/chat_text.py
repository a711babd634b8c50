"""A conversation as a person reads it: questions as understood, sources, lines of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragmachine.models import Answer
from ragmachine.terminal.clean import clean
from ragmachine.terminal.console import Console

if TYPE_CHECKING:
    from ragmachine.conversation.history import Turn
    from ragmachine.conversation.sources import Excerpt, Source

_LINE_CHARS = 240
_TURN_CHARS = 100


class ChatConsole(Console):
    """A `Console` for many answers, one after another."""

    def answer(self, answer: Answer) -> None:
        """The answer as `Console.answer` shows it; the next one begins afresh."""
        super().answer(answer)
        self.line()
        self._begin()

    def cancelled(self) -> None:
        """Say that the answer was broken off."""
        self.line()
        self._write(self._dim("cancelled; Ctrl-D or /quit leaves") + "\n")
        self._begin()

    def _begin(self) -> None:
        self._streamed = ""
        self.out.flush()

    def aside(self, text: str) -> None:
        """A line about the conversation, dimmed where that can be shown."""
        self._write(self._dim(clean(text)) + "\n")
        self.out.flush()

    def error(self, text: str) -> None:
        """What went wrong with one line; the session goes on."""
        if self._streamed:
            self.line()
        self._begin()
        self.notice(f"error: {text}")

    def sources(self, sources: Sequence[Source], *, is_cited: bool) -> None:
        """The numbered sources of the last answer with their symbol or section."""
        self.line("Cited:" if is_cited else "Nearest passages; the answer cites none:")
        for source in sources:
            label = f"  {self._dim(clean(source.label))}" if source.label else ""
            place = self._link(clean(source.location), source.file_path)
            self._write(f"  [{source.number}] {place}{label}\n")

    def excerpt(self, source: Source, excerpt: Excerpt, remark: str) -> None:
        """Lines of a file with their numbers, the cited ones marked."""
        self._write(f"[{source.number}] {self._link(clean(source.location), source.file_path)}\n")
        if remark:
            self.line(remark)
        first, last = excerpt.cited
        width = len(str(excerpt.first_line + len(excerpt.lines)))
        for number, text in enumerate(excerpt.lines, start=excerpt.first_line):
            is_cited = first <= number <= last
            shown = clean(text if len(text) <= _LINE_CHARS else f"{text[:_LINE_CHARS]}…")
            row = f"{'>' if is_cited else ' '} {number:>{width}}  {shown}".rstrip()
            self._write((row if is_cited else self._dim(row)) + "\n")
        if excerpt.left_out:
            self.line(f"… and {excerpt.left_out} more lines")

    def turns(self, turns: Sequence[Turn]) -> None:
        """Questions and the beginnings of their answers."""
        for number, turn in enumerate(turns, start=1):
            self.line(f"{number:>3}  {_short(turn.asked)}")
            if turn.question != turn.asked:
                self.aside(f"     asked as: {_short(turn.question)}")
            self.line(f"     {_short(turn.answer)}")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _TURN_CHARS else f"{text[:_TURN_CHARS]}…"
