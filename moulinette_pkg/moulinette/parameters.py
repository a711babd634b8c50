"""Command line arguments, each by position or by name, checked before any work is done."""

import difflib
import math
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import UsageError

LARGEST_INTEGER = 10**9
"""Larger values mean the same as this one."""

_OPTION = re.compile(r"--?[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a command.

    Attributes:
        key: name under which the value is handed to the command.
        names: accepted after `--`, with underscores or hyphens.
        convert: text to value; raises ValueError with what was expected.
        is_required: given by the user always, else `default` holds.
        is_switch: true or false; its name without a value means True.
        has_position: may be given without its name. A switch without position takes a value
            only after `=`.
    """

    key: str
    names: tuple[str, ...]
    help: str
    convert: Callable[[str], Any]
    default: Any = None
    is_required: bool = False
    is_switch: bool = False
    has_position: bool = True


def parse_arguments(parameters: Sequence[Parameter], arguments: Sequence[str]) -> dict[str, Any]:
    """Values by parameter key, defaults included.

    Positions fill the parameters in their order; a required one already given by name is skipped.
    After `--` every argument is a position.

    Raises: UsageError: unknown name, bad or missing value, argument missing, given twice or too
        many.
    """
    values: dict[str, Any] = {}
    positions: list[str] = []
    queue = deque(arguments)
    while queue:
        argument = queue.popleft()
        if argument == "--":
            positions.extend(queue)
            break
        if _OPTION.match(argument):
            _take_named(parameters, argument, queue, values)
        else:
            positions.append(argument)
    _take_positions(parameters, positions, values)
    for parameter in parameters:
        if parameter.key in values:
            continue
        if parameter.is_required:
            raise UsageError(
                f"{parameter.key.upper()} is missing, give it by position or with "
                f"--{parameter.names[0]}"
            )
        values[parameter.key] = parameter.default
    return values


def _take_named(
    parameters: Sequence[Parameter], argument: str, queue: deque[str], values: dict[str, Any]
) -> None:
    option, has_value, text = argument.partition("=")
    parameter = _find(parameters, option)
    if not has_value:
        if queue and not queue[0].startswith("--") and parameter.has_position:
            text = queue.popleft()
        elif parameter.is_switch:
            text = "True"
        else:
            raise UsageError(f"{option} needs a value")
    _store(parameter, option, text, values)


def _find(parameters: Sequence[Parameter], option: str) -> Parameter:
    name = option.lstrip("-").replace("-", "_")
    by_name = {name: parameter for parameter in parameters for name in parameter.names}
    # One dash is for one letter only.
    if name in by_name and (option.startswith("--") or len(name) == 1):
        return by_name[name]
    near = difflib.get_close_matches(name.lower(), by_name, n=1)
    hint = f"did you mean --{near[0]}?" if near else "--help lists the options"
    raise UsageError(f"unknown option {option}, {hint}")


def _take_positions(
    parameters: Sequence[Parameter], positions: Sequence[str], values: dict[str, Any]
) -> None:
    queue = deque(positions)
    for parameter in parameters:
        is_skipped = parameter.is_required and parameter.key in values
        if queue and parameter.has_position and not is_skipped:
            _store(parameter, parameter.key.upper(), queue.popleft(), values)
    if queue:
        raise UsageError(f"unexpected argument {_shorten(queue[0])}, --help shows the arguments")


def _store(parameter: Parameter, shown: str, text: str, values: dict[str, Any]) -> None:
    if parameter.key in values:
        raise UsageError(f"{shown} is given twice, give it once")
    try:
        values[parameter.key] = parameter.convert(text)
    except ValueError as error:
        raise UsageError(f"{shown} must be {error}, not {_shorten(text)}") from None


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def path_text(text: str) -> str:
    """A path as given; not empty."""
    if not text:
        raise ValueError("the path of a file")
    return text


def positive_integer(text: str) -> int:
    """A whole number from 1, written in ASCII digits; clamped to LARGEST_INTEGER."""
    if not re.fullmatch(r"[0-9]+", text) or not text.strip("0"):
        raise ValueError("a whole number of 1 or more")
    digits = text.lstrip("0")
    return LARGEST_INTEGER if len(digits) > 10 else min(int(digits), LARGEST_INTEGER)


def share(text: str) -> float:
    """A finite number from 0 to 1."""
    expected = "a number from 0 to 1"
    try:
        value = float(text)
    except ValueError:
        raise ValueError(expected) from None
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise ValueError(expected)
    return value


def boolean(text: str) -> bool:
    """True or False, in any case; also yes, no, y, n, 1 and 0."""
    value = _BOOLEANS.get(text.lower())
    if value is None:
        raise ValueError("True or False")
    return value


_BOOLEANS = {
    "true": True, "yes": True, "y": True, "1": True,
    "false": False, "no": False, "n": False, "0": False,
}  # fmt: skip
