"""From argv to an exit code: 0 success, 1 failure, 2 usage, 130 interrupted; never a traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragmachine.errors import RagError

if TYPE_CHECKING:
    from ragmachine.commands.arguments import Parsed
    from ragmachine.settings import Settings

_READS_INDEX = frozenset({"search", "search_dataset", "answer"})
_HELP = frozenset({"--help", "-h", "help"})
_MESSAGE_CHARS = 1000


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line.

    Args:
        argv: words after the program's name; by default those of this process.
    Returns: the exit code.
    """
    _open_closed_streams()
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        _flush()
        return code
    except RagError as error:
        return _fail(str(error), error.exit_code)
    except BrokenPipeError:  # the reader has gone (`| head`): end quietly
        _discard_output()
        return 0
    except KeyboardInterrupt:
        # what was half-made when the signal came would complain on stderr as it is torn down
        sys.unraisablehook = lambda unraisable: None
        return _fail("interrupted; nothing is left half-written", 130)
    except MemoryError:
        return _fail("out of memory; try a smaller folder or a smaller k", 1)
    except Exception as error:
        if os.environ.get("RAGMACHINE_DEBUG"):
            raise
        detail = f"{type(error).__name__}: {error}"
        return _fail(
            f"unexpected error, please report it: {detail}; RAGMACHINE_DEBUG=1 shows where", 1
        )


def _run(words: list[str]) -> int:
    from ragmachine.commands import arguments, help_text, table
    from ragmachine.terminal.console import Console

    if not words or words[0] in _HELP:
        named = [word for word in words[1:] if word not in _HELP]
        about = table.find_command(named[0]) if named else None
        Console().line(help_text.usage(about))
        return 0
    if words[0] == "--version":
        from ragmachine import __version__

        Console().line(f"ragmachine {__version__}")
        return 0
    command = table.find_command(words[0])
    if any(word in ("--help", "-h") for word in words[1:]):
        Console().line(help_text.usage(command))
        return 0
    parsed = arguments.parse(command, words[1:])
    settings = _settings(parsed)
    from ragmachine.commands.program import Commands

    console = Console(project_root=settings.project_root)
    import fire

    fire.Fire(Commands(console), command=arguments.canonical(parsed), name="ragmachine")
    return 0


def _settings(parsed: Parsed) -> Settings:
    """Where things lie; begins to hash the index, so that imports and hashing overlap."""
    from ragmachine.settings import load_settings

    where = {name: parsed.values.get(name) for name in ("index_dir", "collection")}
    settings = load_settings(where)
    if parsed.command.name in _READS_INDEX:
        from ragmachine.index.store import IndexStore

        IndexStore(settings.index_dir).start_verification()
    return settings


def _flush() -> None:
    from ragmachine.terminal.clean import output_errors

    with output_errors():
        sys.stdout.flush()


def _open_closed_streams() -> None:
    """Give a process that was started without stdout or stderr (`>&-`) one that takes anything.

    Python has None there, and the next file to be opened would become file descriptor 1 or 2.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _discard_output() -> None:
    """Let what stdout still holds go nowhere, so that Python does not fail to write it at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> int:
    """Print a message as one line that a terminal shows and does not obey."""
    from ragmachine.terminal.clean import clean

    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _discard_output()
    line = clean(message)
    if len(line) > _MESSAGE_CHARS:  # somebody's 100,000 characters: their two ends will do
        half = _MESSAGE_CHARS // 2
        line = f"{line[:half]} … {line[-half:]}"
    with contextlib.suppress(OSError):
        print(f"error: {line}", file=sys.stderr)  # noqa: T201
    return code
