"""From argv to stdout and an exit code: 0 success, 1 failure, 2 usage, 130 interrupted."""

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import __version__
from .commands import Outcome, evaluate_answers, evaluate_search_results, list_valid_questions
from .errors import MoulinetteError, UsageError
from .overlap import FOUND_ABOVE
from .parameters import (
    Parameter,
    boolean,
    parse_arguments,
    path_text,
    positive_integer,
    share,
)
from .report import one_line

_RESULTS_NAMES = (
    "student_search_results_path",
    "student_results_path",
    "student_answer_path",
)
_DATASET = Parameter(
    "dataset", ("dataset_path",), "JSON file with rag_questions", path_text, is_required=True
)
_K = Parameter("k", ("k",), "sources scored per question, from 1", positive_integer, default=10)
_JSON = Parameter(
    "as_json",
    ("json",),
    "print one JSON document instead of text",
    boolean,
    default=False,
    is_switch=True,
    has_position=False,
)


def _results(what: str, key: str = "results") -> Parameter:
    return Parameter(key, _RESULTS_NAMES, what, path_text, is_required=True)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its arguments in the order of their positions, and the function it calls."""

    summary: str
    parameters: tuple[Parameter, ...]
    run: Callable[..., Outcome]


COMMANDS = {
    "evaluate_student_search_results": Command(
        "recall@1, 3, 5 and 10 of search results, after what is wrong with them",
        (
            _results("JSON file with search_results"),
            _DATASET,
            _K,
            Parameter(
                "max_context_length",
                ("max_context_length",),
                "in characters; a longer source does not count as found",
                positive_integer,
                default=2000,
            ),
            Parameter(
                "threshold",
                ("threshold",),
                "0 to 1; PASS (exit 0) if Recall@5 reaches it, else FAIL (exit 1)",
                share,
            ),
            _JSON,
        ),
        evaluate_search_results,
    ),
    "list_valid_questions": Command(
        "which questions the retrieved sources can answer",
        (
            _results("JSON file with search_results"),
            _DATASET,
            _K,
            Parameter(
                "require_all_sources",
                ("require_all_sources",),
                "True: all true sources must be found; False: one is enough",
                boolean,
                default=True,
                is_switch=True,
            ),
            Parameter(
                "minimal_iou_threshold",
                ("minimal_iou_threshold",),
                "0 to 1; overlap that a found source must exceed",
                share,
                default=FOUND_ABOVE,
            ),
            _JSON,
        ),
        list_valid_questions,
    ),
    "evaluate_student_answers": Command(
        "answers against reference answers and true sources",
        (_results("JSON file with search_results that hold answers"), _DATASET, _K, _JSON),
        evaluate_answers,
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; the only place that prints."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A question may hold characters that the terminal's encoding or UTF-8 cannot write.
            stream.reconfigure(errors="backslashreplace")
    try:
        outcome = _run(arguments)
        return _write(outcome)
    except MoulinetteError as error:
        return _complain(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _complain("interrupted", 130)


def _run(arguments: Sequence[str]) -> Outcome:
    if not arguments:
        raise UsageError(f"no command, give one of: {', '.join(COMMANDS)}")
    name, *rest = arguments
    if name in ("-h", "--help", "help"):
        return Outcome(_general_help())
    if name == "--version":
        return Outcome(f"moulinette {__version__}")
    key = name.replace("-", "_")
    if key not in COMMANDS:
        near = difflib.get_close_matches(key.lower(), COMMANDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"give one of: {', '.join(COMMANDS)}"
        raise UsageError(f"unknown command {name!r}, {hint}")
    options = rest[: rest.index("--")] if "--" in rest else rest
    if "-h" in options or "--help" in options:
        return Outcome(_command_help(key))
    command = COMMANDS[key]
    return command.run(**parse_arguments(command.parameters, rest))


def _write(outcome: Outcome) -> int:
    if sys.stdout is None:  # started with a closed stdout
        return outcome.exit_code
    try:
        sys.stdout.write(outcome.text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
    except OSError as error:
        _silence_stdout()
        return _complain(f"the report could not be written: {error.strerror}", 1)
    return outcome.exit_code


def _silence_stdout() -> None:
    # The interpreter flushes stdout again at exit and would print its own complaint.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str, exit_code: int) -> int:
    if sys.stderr is not None:
        print(one_line(f"moulinette: {message}"), file=sys.stderr)
    return exit_code


def _general_help() -> str:
    width = max(map(len, COMMANDS))
    lines = ["usage: moulinette COMMAND RESULTS DATASET [options]", "", "commands:"]
    lines += [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join([*lines, "", "moulinette COMMAND --help shows the options of a command."])


def _command_help(name: str) -> str:
    command = COMMANDS[name]
    usage = [f"usage: moulinette {name}"]
    rows = []
    for parameter in command.parameters:
        shown = f"--{parameter.names[0]}"
        if parameter.is_required:
            usage.append(parameter.key.upper())
            shown = f"{parameter.key.upper()}, {shown}"
        elif parameter.has_position:
            usage.append(f"[{shown} VALUE]")
        else:
            usage.append(f"[{shown}]")
        has_default = parameter.default is not None and parameter.has_position
        default = f" (default {parameter.default})" if has_default else ""
        rows.append(f"  {shown}\n      {parameter.help}{default}")
        if len(parameter.names) > 1:
            rows.append("      also --" + ", --".join(parameter.names[1:]))
    closing = "Values may also be given by position, in this order; names with _ or -."
    return "\n".join([" ".join(usage), "", command.summary, "", *rows, "", closing])
