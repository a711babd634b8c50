"""Lines that a person types, or that a pipe brings, and which of them are commands.

The history file holds questions, so it is its owner's alone (mode 0600), bounded, and can be
switched off. Nothing about it stops a session: a folder that cannot be written keeps no history.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TextIO

from ragmachine.errors import UsageError

HELP = """\
Type a question; a follow-up ("and for the pump?", "why?", "what is its default?") is completed from
the questions before, and shown as it was understood.

  /sources      the sources of the last answer: number, file and lines, symbol or section
  /open N       the lines of source N, as the file is now
  /k [N]        passages that are looked up for an answer
  /rewrite WAY  complete follow-ups by rules, by the model, or off
  /history      the questions so far
  /clear        forget them
  /help         this
  /quit         leave; so does Ctrl-D. Ctrl-C breaks off an answer

What begins with / and is no command, as in "/health endpoint?", is a question; two strokes,
as in "//open what?", make a question of anything."""
_COMMANDS = ("help", "sources", "open", "k", "rewrite", "history", "clear", "quit", "exit")
_WITH_WORD = ("open", "k", "rewrite")
_COMMAND = re.compile(r"/([A-Za-z]+)(?:\s+(.*))?", re.DOTALL)
_CLOSE = 0.6
HISTORY_FILE = "chat_history"
MOST_KEPT = 1000
_MOST_LINE_CHARS = 2_000  # of a line that is kept
MOST_CHARS = 20_000  # of a line that is read


def state_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where this user's programs keep what they remember: ``$XDG_STATE_HOME/ragmachine``."""
    env = os.environ if environment is None else environment
    if sys.platform == "win32":
        from platformdirs import user_state_path

        return Path(env.get("LOCALAPPDATA") or user_state_path()) / "ragmachine"
    base = env.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # its specification: a relative one is to be ignored
        base = os.path.join(env.get("HOME") or os.path.expanduser("~"), ".local", "state")
    return Path(base) / "ragmachine"


class LineHistory:
    """A file with the last lines typed, oldest first.

    Args:
        path: the file; its folder is made when missing.
        most: lines kept when the file is opened; a session adds to them as it goes.
    """

    def __init__(self, path: Path, *, most: int = MOST_KEPT) -> None:
        self._path = path
        self._most = most
        self._last = ""

    def read(self) -> list[str]:
        """The lines kept; none where there is no file or it cannot be read. Cuts a long file."""
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) > self._most:
            lines = lines[-self._most :]
            self._replace(lines)
        self._last = lines[-1] if lines else ""
        return lines

    def add(self, line: str) -> None:
        """Append a line, at once and in one write, so that two sessions do not mix theirs."""
        line = " ".join(line.encode("utf-8", "replace").decode().split())
        if not line or line == self._last or len(line) > _MOST_LINE_CHARS:
            return
        self._last = line
        with contextlib.suppress(OSError):
            os.makedirs(self._path.parent, mode=0o700, exist_ok=True)
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(file, f"{line}\n".encode())
            finally:
                os.close(file)
            if os.name == "posix":  # a file that was there with a wider mode
                os.chmod(self._path, 0o600)

    def _replace(self, lines: list[str]) -> None:
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "w", encoding="utf-8") as stream:
                stream.write("".join(f"{line}\n" for line in lines))
            os.replace(temporary, self._path)
        except OSError:
            with contextlib.suppress(OSError):
                os.remove(temporary)


class Terminal:
    """Asks for a line with a prompt; arrow keys bring back earlier lines where readline is there.

    Args:
        history: what was typed before; None keeps nothing.
        prompt: shown before each line.
    """

    is_interactive = True

    def __init__(self, history: LineHistory | None, *, prompt: str = "> ") -> None:
        self._history = history
        self._prompt = prompt
        with contextlib.suppress(ImportError):  # not on Windows, nor in every build of Python
            import readline

            readline.clear_history()
            for line in history.read() if history else ():
                readline.add_history(line)

    def read(self) -> str | None:
        """The next line; None at the end.

        Raises: KeyboardInterrupt: Ctrl-C; UsageError: bytes that are no text.
        """
        try:
            line = self._ask()
        except EOFError:
            return None
        except UnicodeDecodeError:
            raise UsageError("that line is no text in this terminal's encoding") from None
        if self._history:
            self._history.add(line)
        return line

    def _ask(self) -> str:
        if sys.stdout.isatty():
            return input(self._prompt)
        print(self._prompt, end="", file=sys.stderr, flush=True)  # noqa: T201
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")


class Pipe:
    """Reads lines of a stream as UTF-8; other bytes are replaced, and a mark at its start left out.

    Args:
        stream: standard input, or what stands in for it; None is an empty one.
    """

    is_interactive = False

    def __init__(self, stream: TextIO | None) -> None:
        self._lines = _lines(stream)

    def read(self) -> str | None:
        """The next line; None at the end.

        Raises: UsageError: a line longer than 20,000 characters, which is passed over.
        """
        line = next(self._lines, None)
        if line is not None and len(line) > MOST_CHARS:
            raise UsageError(f"a line of more than {MOST_CHARS:,} characters was passed over")
        return line


def _lines(stream: TextIO | None) -> Iterator[str]:
    """Lines without their ends; of one that is too long, only so much that this can be told."""
    if stream is None:
        return
    data: IO[Any] = getattr(stream, "buffer", stream)
    is_first = True
    while True:
        piece = data.readline(4 * MOST_CHARS + 4)
        if not piece:
            return
        rest = piece
        while rest and rest[-1:] not in (b"\n", "\n"):
            rest = data.readline(4 * MOST_CHARS + 4)
        line = piece.decode("utf-8", "replace") if isinstance(piece, bytes) else piece
        yield (line.removeprefix("\ufeff") if is_first else line).rstrip("\r\n")
        is_first = False


@dataclass(frozen=True, slots=True)
class Line:
    """What a line asks for.

    Attributes:
        question: the question, or "".
        command: the command's name without its stroke, or "".
        word: what follows the command.
    """

    question: str = ""
    command: str = ""
    word: str = ""


def read_line(text: str) -> Line:
    """Tell a command from a question.

    A line is a command where its first word is one; "/health endpoint?" and "/v1/models" are
    questions, and so is whatever follows two strokes.

    Raises: UsageError: one word that is nearly a command, or no command at all.
    """
    text = text.strip()
    if text.startswith("//"):
        return Line(question=text[1:])
    match = _COMMAND.fullmatch(text)
    if not match:
        return Line(question=text)
    name, word = match[1].lower(), (match[2] or "").strip()
    if name in _COMMANDS:
        if word and name not in _WITH_WORD:
            raise UsageError(
                f"/{name} takes nothing behind it", remedy=f"to ask that, begin with //{name}"
            )
        return Line(command="quit" if name == "exit" else name, word=word)
    close = difflib.get_close_matches(name, _COMMANDS, n=1, cutoff=_CLOSE)
    is_number = word.isdigit()
    if word and not (is_number and close):
        return Line(question=text)
    hint = f"did you mean /{close[0]}? " if close else ""
    raise UsageError(
        f"there is no command /{name}",
        remedy=f"{hint}/help lists them; to ask about it, type //{name}",
    )
