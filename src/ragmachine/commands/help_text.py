"""The help of one command, or of the program, from the table of commands."""

from __future__ import annotations

from collections.abc import Sequence

from ragmachine.commands.arguments import Command, Option
from ragmachine.commands.table import COMMANDS
from ragmachine.settings import FIELDS


def usage(command: Command | None = None) -> str:
    """Help text of one command, or of the program."""
    if command is None:
        rows = [(item.name, item.help) for item in COMMANDS]
        head = "ragmachine COMMAND …\n\nAsk a folder of code and documents a question.\n\n"
        tail = "\n`ragmachine COMMAND --help` explains a command; RAG_… variables set defaults."
        return head + _columns(rows) + tail
    words = [f"{option.name.upper()}" if option.is_required else f"[{option.name.upper()}]"
             for option in command.options if option.is_positional]  # fmt: skip
    rows = [(_spelling(option), _explained(option)) for option in command.options]
    also = f"\nalso called {', '.join(command.aliases)}\n" if command.aliases else ""
    return (
        f"ragmachine {command.name} {' '.join(words)} …\n\n{command.help}\n{also}\n"
        f"{_columns(rows)}\nexample: ragmachine {command.example}"
    )


def _spelling(option: Option) -> str:
    return ", ".join(f"--{name}" for name in (option.name, *option.aliases))


def _explained(option: Option) -> str:
    default = option.default
    if default is None and option.name in FIELDS:
        default = FIELDS[option.name].default
    parts: list[str] = list(option.choices)
    if option.kind == "yes_no":
        parts = ["y", "n"]
    shown = f" [{'|'.join(parts)}]" if parts else ""
    has_default = default not in (None, "", False) and not option.is_required
    return f"{option.help}{shown}" + (f" (default {default})" if has_default else "")


def _columns(rows: Sequence[tuple[str, str]]) -> str:
    width = min(max(len(left) for left, _ in rows), 40)
    return "".join(f"  {left.ljust(width)}  {right}\n" for left, right in rows)
