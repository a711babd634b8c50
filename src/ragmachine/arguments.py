"""The command line's grammar: every command, every option, every spelling, checked before any work.

Python Fire guesses types from looks and runs a command before it complains about a misspelt flag,
so the words are read and checked here; Fire then gets a canonical line with one quoted literal
per option.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ragmachine.errors import UsageError
from ragmachine.settings import DEFAULT_CORPUS, FIELDS

_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_YES = frozenset({"y", "yes", "true", "1", "on"})
_NO = frozenset({"n", "no", "false", "0", "off"})
MAX_K = 100_000


@dataclass(frozen=True, slots=True)
class Option:
    """One argument of a command.

    Attributes:
        name: canonical name, as the method of `commands.Commands` takes it.
        kind: ``text``, ``path``, ``int``, ``float``, ``flag`` (present or not) or ``yes_no``.
        help: one line.
        default: None where the setting of that name decides.
        aliases: further names.
        is_positional: may also be given without its name, in the order of the table.
        is_required: the command cannot run without it.
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


def _setting(name: str, kind: str = "text", **more: Any) -> Option:
    """An option that overrides a setting, with the setting's help and bounds."""
    known = FIELDS[name].metadata
    return Option(
        name, kind, known["text"], low=known["low"], high=known["high"],
        choices=known["choices"], **more,
    )  # fmt: skip


_K = Option("k", "int", "hits to return", is_positional=True, low=1, high=MAX_K, is_clamped=True)
_QUERY = Option(
    "query", "text", "what to look for, any text", aliases=("question",),
    is_positional=True, is_required=True,
)  # fmt: skip
_DATASET = Option("dataset_path", "path", "a dataset in JSON", is_positional=True, is_required=True)
_RESULTS = Option(
    "student_search_results_path", "path", "a results file that search_dataset wrote",
    aliases=("student_results_path", "student_answer_path"), is_positional=True, is_required=True,
)  # fmt: skip
_BONUS = Option("bonus", "yes_no", "y: use dense vectors as well, where they were built")
_JSON = Option("json", "flag", "print one JSON document")
_INDEX_DIR = _setting("index_dir", "path")
_NO_CACHE = Option("no_cache", "flag", "neither read nor write the query cache")
_EXPAND = _setting("expand", "flag")
_MODEL = (_setting("llm"), _setting("model"), _setting("ollama_host"), _setting("llm_timeout_s", "float"),
          _setting("max_new_tokens", "int"), _setting("context_chars", "int"))  # fmt: skip
_COMMON = (_INDEX_DIR, Option("quiet", "flag", "no progress and no notices"))

COMMANDS = (
    Command(
        "index", "build the index of a folder, or bring it up to date",
        (
            _setting("max_chunk_size", "int", is_positional=True),
            Option("target_dir", "path", f"folder to index ({DEFAULT_CORPUS})",
                   aliases=("repo_path",), is_positional=True),
            Option("bonus", "yes_no", "y: build dense vectors as well", is_positional=True),
            _setting("overlap", "int"), _setting("max_file_bytes", "int"),
            _setting("workers", "int"),
            Option("force", "flag", "read every file again"),
            Option("strict", "flag", "fail on any file that is odd or unreadable"),
            _JSON, *_COMMON,
        ),
        example="index --max_chunk_size 2000 --target_dir docs",
    ),
    Command(
        "search", "the best passages for one question",
        (_QUERY, _K, _BONUS, _EXPAND, _NO_CACHE, _JSON, *_COMMON),
        example='search "how is the KV cache sized?" --k 5',
    ),
    Command(
        "search_dataset", "search every question of a dataset and save the results",
        (
            _DATASET, _K,
            Option("save_directory", "path", "folder of the results file",
                   default="data/output/search_results", is_positional=True),
            _BONUS, _EXPAND, _NO_CACHE, *_COMMON,
        ),
        example="search_dataset data/datasets/UnansweredQuestions/sample.json --k 10",
    ),
    Command(
        "evaluate", "recall, MRR and nDCG of a results file against an answered dataset",
        (
            _RESULTS, _DATASET, _K,
            Option("max_context_length", "int", "longer sources do not count", default=2000,
                   is_positional=True, low=1),
            Option("verbose", "flag", "a line for every question"), _JSON,
            Option("quiet", "flag", "no notices"),
        ),
        aliases=("measure_recall_at_k_on_dataset",),
        example="evaluate data/output/search_results/sample.json"
        " data/datasets/AnsweredQuestions/sample.json",
    ),
    Command(
        "answer", "answer one question from the passages found, with their lines",
        (_QUERY, _K, _BONUS, _EXPAND, _NO_CACHE, _JSON, *_MODEL, *_COMMON),
        example='answer "what does the scheduler do when memory runs out?"',
    ),
    Command(
        "answer_dataset", "add an answer to every entry of a results file",
        (
            _RESULTS,
            Option("save_directory", "path", "folder of the answers file",
                   default="data/output/search_results_and_answer", is_positional=True),
            *_MODEL, *_COMMON,
        ),
        example="answer_dataset data/output/search_results/sample.json",
    ),
    Command(
        "corpus", "download the reference corpus, vLLM 0.10.1",
        (
            Option("name", "text", "which corpus", default="vllm", is_positional=True),
            Option("directory", "path", "where to unpack it", default="data/raw",
                   is_positional=True),
            Option("quiet", "flag", "no progress"),
        ),
        example="corpus",
    ),
    Command(
        "serve", "HTTP API and web page",
        (
            Option("host", "text", "address to bind", default="127.0.0.1", is_positional=True),
            Option("port", "int", "port", default=8000, is_positional=True, low=0, high=65535),
            _BONUS, _INDEX_DIR,
        ),
        example="serve --port 8000",
    ),
)  # fmt: skip
_BY_NAME = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}


def find_command(name: str) -> Command:
    """The command of that name, hyphens and underscores alike.

    Raises: UsageError: there is none; the message suggests the nearest.
    """
    command = _BY_NAME.get(name.replace("-", "_"))
    if command is None:
        close = difflib.get_close_matches(name, _BY_NAME, n=1)
        hint = f"did you mean {close[0]}?" if close else "`--help` lists the commands"
        raise UsageError(f"there is no command {name!r}", remedy=hint)
    return command


def parse(argv: Sequence[str]) -> Parsed:
    """Read a command line whose first word is a command.

    Raises: UsageError: anything unknown, missing, twice or out of range.
    """
    command = find_command(argv[0])
    words = _Words(command, argv[1:])
    values = words.read()
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
            if self._is_flag(word):
                self._flag(word)
            else:
                self.loose.append(word)
        self._place()
        return self.values

    @staticmethod
    def _is_flag(word: str) -> bool:
        """Whether a word is meant as an option: a lone dash, a number or a phrase is text."""
        if not word.startswith("-") or word.strip("-") == "" or _NUMBER.fullmatch(word):
            return False
        name = word.partition("=")[0]
        return not any(character.isspace() for character in name)

    def _known(self, word: str) -> Option | None:
        name = word.partition("=")[0].lstrip("-").replace("-", "_")
        return self.by_name.get(name)

    def _flag(self, word: str) -> None:
        option = self._known(word)
        name, equals, text = word.partition("=")
        if option is None:
            return self._unknown(word, name)
        if option.kind == "flag":
            return self._set(option, text if equals else "true", word)
        if not equals:
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
        bare = name.lstrip("-").replace("-", "_")
        negated = self.by_name.get(bare.removeprefix("no"))
        if bare.startswith("no") and negated is not None and negated.kind == "flag":
            return self._set(negated, "false", word)
        close = difflib.get_close_matches(bare, self.by_name, n=1, cutoff=0.7)
        if close:
            remedy = f"did you mean --{close[0]}?"
        elif self.positional and self.positional[0].name == "query":
            remedy = f"to look for that text, write --query={word}"
        else:
            remedy = f"`{self.command.name} --help` lists the options"
        raise UsageError(f"{self.command.name} has no option {name}", remedy=remedy)

    def _place(self) -> None:
        """Give the words without a name to the positional options in order."""
        free = [option for option in self.positional if option.name not in self.values]
        if self.positional and self.positional[0].name == "query":
            remedy = "put a question of several words in quotes"
        else:
            remedy = f"`{self.command.name} --help` lists the options"
        for word in self.loose:
            if not free:
                message = f"{self.command.name} does not know what to do with {word!r}"
                raise UsageError(message, remedy=remedy)
            option = free.pop(0)
            try:
                self._set(option, word, option.name)
            except UsageError as error:
                raise UsageError(error.message, remedy=error.remedy or remedy) from None

    def _set(self, option: Option, text: str, word: str) -> None:
        if option.name in self.values:
            raise UsageError(f"{option.name} is given twice")
        self.values[option.name] = convert(option, text, word.partition("=")[0])


def convert(option: Option, text: str, name: str) -> Any:
    """An option's value from its text.

    Raises: UsageError: not of the option's kind, or out of its bounds.
    """
    if option.kind in ("flag", "yes_no"):
        low = text.lower()
        if low not in _YES | _NO:
            raise UsageError(f"{name} takes y or n, not {text!r}")
        return low in _YES
    if option.kind == "path":
        if not text or "\0" in text:
            raise UsageError(f"{name} needs a path, not {text!r}")
        return text
    if option.kind == "text":
        if option.choices and text not in option.choices:
            raise UsageError(f"{name} must be one of {', '.join(option.choices)}, not {text!r}")
        return text
    return _number(option, text, name)


def _number(option: Option, text: str, name: str) -> float:
    try:
        if not _NUMBER.fullmatch(text.strip()) or len(text) > 30:
            raise ValueError(text)
        value = int(text) if option.kind == "int" else float(text)
    except ValueError:
        kind = "a whole number" if option.kind == "int" else "a number"
        raise UsageError(f"{name} must be {kind}, not {text!r}") from None
    if option.low is not None and value < option.low:
        raise UsageError(f"{name} must be at least {option.low:g}, not {text}")
    if option.high is not None and value > option.high:
        if option.is_clamped:
            return type(value)(option.high)
        raise UsageError(f"{name} must be at most {option.high:g}, not {text}")
    return value


def canonical(parsed: Parsed) -> list[str]:
    """The same command line as words that Fire reads back as exactly these values."""
    given = {name: value for name, value in parsed.values.items() if value is not None}
    return [parsed.command.name, *(f"--{name}={value!r}" for name, value in given.items())]


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

