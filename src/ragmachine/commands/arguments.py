"""The command line's grammar: every command, every option, every spelling, checked before any work.

Python Fire guesses types from looks and runs a command before it complains about a misspelt flag,
so the words are read and checked here; Fire then gets a canonical line with one quoted literal
per option.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ragmachine.errors import UsageError

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_FLAG = re.compile(r"--?[A-Za-z][^\s=]*(=|$)")
_YES = frozenset({"y", "yes", "true", "1", "on"})
_NO = frozenset({"n", "no", "false", "0", "off"})
_SHOWN_CHARS = 60
_MAX_DIGITS = 30  # a longer number is cut here: still far beyond every bound


@dataclass(frozen=True, slots=True)
class Option:
    """One argument of a command.

    Attributes:
        name: canonical name, as the method of `Commands` takes it.
        kind: ``text``, ``path``, ``int``, ``float``, ``flag`` (present or not), ``yes_no``, or
            ``mode``: one of `choices`, the second when its name stands alone.
        help: one line.
        default: None where the setting of that name decides.
        aliases: further names.
        is_positional: may also be given without its name, in the order of the table.
        is_required: the command cannot run without it.
        is_repeatable: may be given several times; its value is a list then.
        low, high: inclusive bounds of a number; above `high` is clamped when `is_clamped`.
    """

    name: str
    kind: str
    help: str
    default: Any = None
    aliases: tuple[str, ...] = ()
    is_positional: bool = False
    is_required: bool = False
    low: float | None = None
    high: float | None = None
    is_clamped: bool = False
    choices: tuple[str, ...] = ()
    is_repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand: its name, what it does in one line, its options and other names."""

    name: str
    help: str
    options: tuple[Option, ...]
    aliases: tuple[str, ...] = ()
    example: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A command line that can be run."""

    command: Command
    values: dict[str, Any] = field(default_factory=dict)


def parse(command: Command, words: Sequence[str]) -> Parsed:
    """Read the words that follow a command's name.

    Raises: UsageError: anything unknown, missing, twice or out of range.
    """
    values = _Words(command, words).read()
    for option in command.options:
        if option.name not in values:
            if option.is_required:
                raise UsageError(
                    f"{command.name} needs {option.name}: {option.help}",
                    remedy=f"for example `ragmachine {command.example}`",
                )
            values[option.name] = option.default if option.kind != "flag" else None
    return Parsed(command, values)


class _Words:
    """The words after the command, taken apart."""

    def __init__(self, command: Command, words: Sequence[str]) -> None:
        self.command = command
        self.words = list(words)
        self.by_name = {
            name: option for option in command.options for name in (option.name, *option.aliases)
        }
        self.positional = [option for option in command.options if option.is_positional]
        self.values: dict[str, Any] = {}
        self.loose: list[str] = []

    def read(self) -> dict[str, Any]:
        """Values by canonical name."""
        while self.words:
            word = self.words.pop(0)
            if word == "--" and self.words:  # as in other programs: no option comes after it
                self.loose += self.words
                break
            if self._is_flag(word):
                self._flag(word)
            else:
                self.loose.append(word)
        self._place()
        return self.values

    @staticmethod
    def _is_flag(word: str) -> bool:
        """Whether a word is meant as an option: dashes and a name; `->`, `-1e5`, phrases no."""
        return _FLAG.match(word) is not None

    def _known(self, word: str) -> Option | None:
        return self.by_name.get(_bare(word))

    def _flag(self, word: str) -> None:
        option = self._known(word)
        name, equals, text = word.partition("=")
        if option is None:
            return self._unknown(word, name)
        if option.kind == "flag":
            return self._set(option, text if equals else "true", word)
        if not equals and option.kind == "mode":
            follows = bool(self.words) and self.words[0] in option.choices
            text = self.words.pop(0) if follows else option.choices[1]
        elif not equals:
            if not self._has_value(option):
                return self._without_value(option, word)
            text = self.words.pop(0)
        return self._set(option, text, word)

    def _has_value(self, option: Option) -> bool:
        """Whether the next word is this option's value rather than the next option."""
        if not self.words:
            return False
        is_next_option = self._is_flag(self.words[0]) and self._known(self.words[0]) is not None
        return option.kind == "text" or not is_next_option

    def _without_value(self, option: Option, word: str) -> None:
        """`search --k`: the words are the query when there is no other."""
        if self.positional and self.positional[0].kind == "text" and not self.loose:
            self.loose.append(word)
        else:
            raise UsageError(f"{word} needs a value: {option.help}")

    def _unknown(self, word: str, name: str) -> None:
        bare = _bare(word)
        negated = self.by_name.get(bare.removeprefix("no").removeprefix("_"))
        is_negation = bare.startswith("no") and word == name
        if is_negation and negated is not None and negated.kind == "flag":
            return self._set(negated, "false", word)
        close = difflib.get_close_matches(bare, self.by_name, n=1, cutoff=0.7)
        if close:
            remedy = f"did you mean --{close[0]}?"
        elif self.positional and self.positional[0].name == "query":
            from shlex import quote

            remedy = "to look for that text, " + (
                f"write --query={quote(word)}" if len(word) <= _SHOWN_CHARS else "use --query"
            )
        else:
            remedy = f"`{self.command.name} --help` lists the options"
        raise UsageError(f"{self.command.name} has no option {shorten(name)}", remedy=remedy)

    def _place(self) -> None:
        """Give the words without a name to the positional options in order."""
        free = [
            option
            for option in self.positional
            if option.name not in self.values or option.is_repeatable
        ]
        if self.positional and self.positional[0].name == "query":
            remedy = "put a question of several words in quotes"
        else:
            remedy = f"`{self.command.name} --help` lists the options"
        for word in self.loose:
            if not free:
                message = f"{self.command.name} does not know what to do with {shown(word)}"
                raise UsageError(message, remedy=remedy)
            option = self._take(free, word)
            try:
                self._set(option, word, option.name)
            except UsageError as error:
                raise UsageError(error.message, remedy=error.remedy or remedy) from None

    @staticmethod
    def _take(free: list[Option], word: str) -> Option:
        """The option that a word without a name is for; it goes, unless it may be repeated.

        `index docs src`: a folder that is there is no number, and what is neither y nor n is one
        more folder.
        """
        if free[0].kind == "int" and len(free) > 1 and free[1].is_repeatable:
            if os.path.exists(word) and not _NUMBER.fullmatch(word):
                free.pop(0)
        elif free[0].is_repeatable and len(free) > 1 and word.lower() in _YES | _NO:
            free.pop(0)
        return free[0] if free[0].is_repeatable else free.pop(0)

    def _set(self, option: Option, text: str, word: str) -> None:
        is_given = option.name in self.values
        if is_given and not option.is_repeatable:
            raise UsageError(f"{option.name} is given twice")
        value = convert(option, text, word.partition("=")[0])
        if is_given:
            before = self.values[option.name]
            value = [*(before if isinstance(before, list) else [before]), value]
        self.values[option.name] = value


def _bare(word: str) -> str:
    """`--max-chunk-size=5` -> `max_chunk_size`."""
    return word.partition("=")[0].lstrip("-").replace("-", "_")


def shorten(text: str) -> str:
    """A text that fits into a message."""
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def shown(text: str) -> str:
    """A text in quotes, shortened, for a message."""
    return repr(shorten(text))


def convert(option: Option, text: str, name: str) -> Any:
    """An option's value from its text.

    Raises: UsageError: not of the option's kind, or out of its bounds.
    """
    if option.kind in ("flag", "yes_no"):
        low = text.lower()
        if low not in _YES | _NO:
            raise UsageError(f"{name} takes y or n, not {shown(text)}")
        return low in _YES
    if option.kind == "path":
        if not text or "\0" in text:
            raise UsageError(f"{name} needs a path, not {shown(text)}")
        return text
    if option.kind in ("text", "mode"):
        if option.choices and text not in option.choices:
            choices = ", ".join(option.choices)
            raise UsageError(f"{name} must be one of {choices}, not {shown(text)}")
        return text
    return _number(option, text, name)


def _number(option: Option, text: str, name: str) -> float:
    digits = text.strip()
    is_whole = option.kind == "int"
    if not _NUMBER.fullmatch(digits) or (is_whole and "." in digits):
        kind = "a whole number" if is_whole else "a number"
        raise UsageError(f"{name} must be {kind}, not {shown(text)}")
    value = int(digits[:_MAX_DIGITS]) if is_whole else float(digits[:_MAX_DIGITS])
    if option.low is not None and value < option.low:
        raise UsageError(f"{name} must be at least {option.low}, not {shorten(digits)}")
    if option.high is not None and value > option.high:
        if option.is_clamped:
            return type(value)(option.high)
        raise UsageError(f"{name} must be at most {option.high}, not {shorten(digits)}")
    return value


def canonical(parsed: Parsed) -> list[str]:
    """The same command line as words that Fire reads back as exactly these values."""
    given = {name: value for name, value in parsed.values.items() if value is not None}
    return [parsed.command.name, *(f"--{name}={value!r}" for name, value in given.items())]
