"""A conversation at a terminal or through a pipe: lines in, answers out, until the end.

`Commands.chat` makes one of settings; it knows the pipeline only by what it asks of it.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ragmachine.conversation.history import Conversation
from ragmachine.conversation.rewriting import MODEL, OFF, RULES, WAYS, Rewriter
from ragmachine.conversation.sources import CHANGED, GONE, MOVED, Source, excerpt, sources_of
from ragmachine.errors import ModelError, RagError, UsageError
from ragmachine.terminal.chat_input import (
    HELP,
    HISTORY_FILE,
    Line,
    LineHistory,
    Pipe,
    Terminal,
    read_line,
    state_folder,
)
from ragmachine.terminal.chat_text import ChatConsole

if TYPE_CHECKING:
    from ragmachine.models import Answer
    from ragmachine.pipeline import RagPipeline
    from ragmachine.terminal.console import Console

_MOST_FILE_BYTES = 50_000_000


class Lines(Protocol):
    """Where lines come from."""

    is_interactive: bool

    def read(self) -> str | None:
        """The next line; None at the end."""


@dataclass(slots=True)
class ChatSession:
    """Reads lines and answers them.

    Args:
        pipeline: searches and answers.
        console: shows.
        lines: where questions and commands come from.
        k: passages for an answer.
        filter_text: as for `RagPipeline.answer`.
        rewrite: one of `WAYS`.
        is_quiet: without notices.
    """

    pipeline: RagPipeline
    console: ChatConsole
    lines: Lines
    k: int
    filter_text: str = ""
    rewrite: str = RULES
    is_quiet: bool = False
    conversation: Conversation = field(default_factory=Conversation)
    _made: dict[str, Rewriter] = field(default_factory=dict)
    _failed: int = 0
    _done: int = 0

    def run(self) -> None:
        """Answer until the lines end.

        At a terminal an error is shown and the session goes on, and Ctrl-C breaks off an answer.

        Raises: RagError: the index cannot be used, or, where nobody watches, some lines failed;
            KeyboardInterrupt: Ctrl-C where nobody watches; BrokenPipeError.
        """
        index = self.pipeline.opened_index()
        if self.rewrite != OFF:
            self._rewriter(self.rewrite)
        if self.lines.is_interactive and not self.is_quiet:
            files = index.manifest["counts"]["files"]
            self.console.aside(f"ask about {files:,} files; /help lists the commands")
        try:
            while self._step():
                pass
        finally:
            self.pipeline.flush()
        if self._failed and not self.lines.is_interactive:
            count = self._failed + self._done
            raise RagError(f"{self._failed} of {count} lines failed, see above")

    def _step(self) -> bool:
        """Read a line and do what it asks; False at the end."""
        try:
            text = self.lines.read()
            if text is None:
                if self.lines.is_interactive:
                    self.console.line()
                return False
            if not text.strip():
                return True
            if not self.lines.is_interactive:
                self.console.aside(f"> {text.strip()}")
            is_going_on = self._do(read_line(text))
            self._done += 1
            return is_going_on
        except RagError as error:
            self._failed += 1
            self.console.error(str(error))
        except KeyboardInterrupt:
            if not self.lines.is_interactive:
                raise
            self.console.cancelled()
        return True

    def _do(self, line: Line) -> bool:
        if not line.command:
            self._answer(line.question)
            return True
        if line.command == "quit":
            return False
        taking_a_word = {"open": self._open, "k": self._set_k, "rewrite": self._set_rewrite}
        if line.command in taking_a_word:
            taking_a_word[line.command](line.word)
        else:
            {"help": self._help, "sources": self._sources, "history": self._history,
             "clear": self._clear}[line.command]()  # fmt: skip
        return True

    def _help(self) -> None:
        self.console.line(HELP)

    def _answer(self, asked: str) -> None:
        question, notice = self._standing_alone(asked)
        if question != asked:
            self.console.aside(f"asked as: {question}")
        answer = self.pipeline.answer(
            question, self.k, filter=self.filter_text, on_token=self.console.stream()
        )
        self.conversation.add(asked, question, answer, sources_of(answer, self._indexed))
        self.console.answer(answer)
        for text in (notice, answer.notice or answer.result.notice):
            if text and not self.is_quiet:
                self.console.notice(text)

    def _standing_alone(self, asked: str) -> tuple[str, str]:
        """The question to be searched for, and a notice about it."""
        if self.rewrite == OFF:
            return asked, ""
        done = self._rewriter(self.rewrite).rewrite(asked, self.conversation)
        return done.question, done.notice

    def _rewriter(self, way: str) -> Rewriter:
        """Who completes questions in a way, `OFF` left out.

        Raises: ModelError: a model is wanted and none is set.
        """
        if way not in self._made:
            client = self.pipeline.chat_client() if way == MODEL else None
            if way == MODEL and client is None:
                raise ModelError("no model is set", remedy="leave out --llm extractive")
            self._made[way] = Rewriter(client)
        return self._made[way]

    def _indexed(self, file_path: str, start: int, end: int) -> str | None:
        text = self.pipeline.opened_index().file_text(file_path)
        return None if text is None else text[start:end]

    def _last(self) -> Answer:
        if self.conversation.answer is None:
            raise UsageError("there is no answer yet", remedy="ask a question first")
        return self.conversation.answer

    def _sources(self) -> None:
        answer = self._last()
        if not self.conversation.sources:
            self.console.line("the last answer has no sources")
            return
        self.console.sources(self.conversation.sources, is_cited=bool(answer.citations))

    def _open(self, word: str) -> None:
        self._last()
        known = {str(source.number): source for source in self.conversation.sources}
        if not known:
            raise UsageError("the last answer has no sources")
        source = known.get(word.strip("[]").lstrip("0"))
        if source is None:
            numbers = ", ".join(known)
            raise UsageError(f"/open takes the number of a source: {numbers}; /sources lists them")
        path = os.path.join(self.pipeline.settings.project_root, source.file_path)
        now, reason = (None, "") if source.place else read_file(path)
        found = excerpt(source, now)
        self.console.excerpt(source, found, _remark(source, found.state, found.cited, reason))

    def _set_k(self, word: str) -> None:
        if word:
            from ragmachine.settings import MAX_K

            if not re.fullmatch(r"[0-9]{1,9}", word) or int(word) < 1:
                raise UsageError("/k takes a whole number of at least 1, as in /k 5")
            self.k = min(int(word), MAX_K)
        self.console.line(f"k is {self.k}")

    def _set_rewrite(self, word: str) -> None:
        way = {"on": RULES, "": self.rewrite}.get(word.lower(), word.lower())
        if way not in WAYS:
            raise UsageError(f"/rewrite takes one of {', '.join(WAYS)}")
        if way != OFF:
            self._rewriter(way)
        self.rewrite = way
        self.console.line(f"follow-up questions are completed: {way}")

    def _history(self) -> None:
        if not self.conversation.turns:
            self.console.line("nothing was asked yet")
        self.console.turns(list(self.conversation.turns))

    def _clear(self) -> None:
        self.conversation.clear()
        self.console.line("forgotten")


def open_session(
    pipeline: RagPipeline,
    console: Console,
    k: int | None = None,
    filter_text: str = "",
    *,
    is_quiet: bool = False,
) -> ChatSession:
    """A session on standard input: with a prompt at a terminal, else line by line."""
    settings = pipeline.settings
    lines: Lines
    if sys.stdin is not None and sys.stdin.isatty():
        path = state_folder() / HISTORY_FILE
        lines = Terminal(LineHistory(path) if settings.chat_history else None)
    else:
        lines = Pipe(sys.stdin)
    return ChatSession(
        pipeline,
        ChatConsole(console.out, console.project_root),
        lines,
        settings.k if k is None else k,
        filter_text,
        settings.rewrite,
        is_quiet,
    )


def read_file(path: str) -> tuple[str | None, str]:
    """The text of a file as it is now, read as the index would; None, and why, where it is not."""
    from ragmachine.corpus.decode import decode, is_binary

    try:
        with open(path, "rb", opener=_open_regular) as stream:
            data = stream.read(_MOST_FILE_BYTES + 1)
    except FileNotFoundError:
        return None, "the file is no longer there"
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        return None, f"the file cannot be read: {getattr(error, 'strerror', None) or error}"
    if len(data) > _MOST_FILE_BYTES:
        return None, "the file has become too large to be shown"
    return (None, "the file has become binary") if is_binary(data) else (decode(data).text, "")


def _open_regular(path: str, flags: int) -> int:
    """Open a file and nothing that would wait for a writer, such as a named pipe."""
    file = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError("it is no regular file")
    return file


def _remark(source: Source, state: str, cited: tuple[int, int], reason: str) -> str:
    """What has become of the lines since they were indexed; "" where nothing has."""
    if state == MOVED and cited == (source.first_line, source.last_line):
        return ""  # what stands before them on their first line has changed
    return {
        MOVED: f"the file has changed: these lines are now {cited[0]}-{cited[1]}",
        CHANGED: "these lines have changed since they were indexed; now they say:",
        GONE: f"{reason or 'the file is shorter now'}; as indexed, the lines said:",
    }.get(state, "")
