"""The command table, the methods behind it, and the line that Fire reads back."""

from __future__ import annotations

import inspect
import re
import shlex
from typing import Any

import fire
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmachine.commands import help_text
from ragmachine.commands.arguments import Command, Option, Parsed, canonical, convert, parse
from ragmachine.commands.program import Commands
from ragmachine.commands.table import COMMANDS, find_command
from ragmachine.errors import UsageError
from ragmachine.settings import FIELDS

each_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates as well
word = st.one_of(
    any_text,
    st.sampled_from(["--", "-", "--k", "--k=", "-k", "--query", "--json", "--no-json", "--bonus"]),
    st.sampled_from(["y", "5", "-1", "None", "--max_chunk_size", "--nonsense", "--k=3", "a b"]),
)


class Recorder:
    """Takes every command's values in place of `Commands`."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __dir__(self) -> list[str]:
        return [command.name for command in COMMANDS]

    def __getattr__(self, name: str) -> Any:
        if name not in {command.name for command in COMMANDS}:
            raise AttributeError(name)
        return lambda **values: self.calls.append((name, values))


def through_fire(parsed: Parsed) -> tuple[str, dict[str, Any]]:
    """The command and the values that Fire makes of the canonical line."""
    recorder = Recorder()
    fire.Fire(recorder, command=canonical(parsed), name="ragmachine")
    (call,) = recorder.calls
    return call


def given_values(parsed: Parsed) -> dict[str, Any]:
    """Values that were given or have a default of their own."""
    return {name: value for name, value in parsed.values.items() if value is not None}


def explicit(command: Command) -> dict[str, inspect.Parameter]:
    """Parameters of a command's method, `self` and ``**settings`` left out."""
    parameters = inspect.signature(getattr(Commands, command.name)).parameters
    return {
        name: parameter
        for name, parameter in parameters.items()
        if name != "self" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }


@each_command
def test_a_command_has_a_method_that_takes_its_options(command: Command) -> None:
    """Every parameter is an option; the options beyond are settings, taken by ``**settings``."""
    parameters = inspect.signature(getattr(Commands, command.name)).parameters
    names = {option.name for option in command.options}
    assert explicit(command).keys() <= names
    rest = names - explicit(command).keys()
    assert rest <= FIELDS.keys()
    takes_settings = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    assert takes_settings == bool(rest)


@each_command
def test_a_methods_parameters_are_given_by_name(command: Command) -> None:
    """Fire then cannot put a value into a neighbour's place."""
    kinds = {parameter.kind for parameter in explicit(command).values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


@each_command
def test_a_parameter_without_default_always_gets_a_value(command: Command) -> None:
    """Its option is required, or has a default in the table."""
    options = {option.name: option for option in command.options}
    for name, parameter in explicit(command).items():
        if parameter.default is inspect.Parameter.empty:
            assert options[name].is_required or options[name].default is not None


def test_every_public_method_is_in_the_table() -> None:
    """No command can be reached around the table."""
    methods = {name for name in dir(Commands) if not name.startswith("_")}
    assert methods == {command.name for command in COMMANDS}


def test_names_of_commands_are_unique() -> None:
    """Aliases count as names."""
    names = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    assert len(names) == len(set(names))


@each_command
def test_names_of_options_are_unique(command: Command) -> None:
    """Aliases count as names, and hyphens as underscores."""
    names = [name for option in command.options for name in (option.name, *option.aliases)]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)


@each_command
def test_no_option_hides_behind_the_negation_of_another(command: Command) -> None:
    """``--no-x`` means x is off, unless an option has that very name."""
    names = {option.name for option in command.options}
    flags = {option.name for option in command.options if option.kind == "flag"}
    assert not {f"no{name}" for name in flags} & names
    assert not {f"no_{name}" for name in flags} & names


@each_command
def test_required_options_come_first_and_by_position(command: Command) -> None:
    """A later position cannot be filled before them."""
    places = [option.is_required for option in command.options if option.is_positional]
    assert places == sorted(places, reverse=True)
    assert all(option.is_positional for option in command.options if option.is_required)


@each_command
def test_the_example_of_a_command_can_be_run(command: Command) -> None:
    """What the help shows is a line that this program takes."""
    name, *words = shlex.split(command.example)
    assert find_command(name) is command
    parse(command, words)


@each_command
def test_the_help_of_a_command_names_every_option(command: Command) -> None:
    """Each spelling, with its meaning."""
    text = help_text.usage(command)
    for option in command.options:
        assert option.help in text
        for name in (option.name, *option.aliases):
            assert f"--{name}" in text


@pytest.mark.parametrize("name", ["search", "answer"])
@settings(deadline=None)
@given(text=any_text)
def test_fire_reads_back_any_query(name: str, text: str) -> None:
    """Whatever the text looks like, the command gets that text."""
    parsed = parse(find_command(name), [f"--query={text}"])
    command, values = through_fire(parsed)
    assert command == name
    assert values == given_values(parsed)
    assert values["query"] == text


@settings(deadline=None)
@given(words=st.lists(word, max_size=6), command=st.sampled_from(COMMANDS))
def test_any_line_is_read_or_refused_and_fire_agrees(words: list[str], command: Command) -> None:
    """No words make the grammar fail in another way, or Fire see other values or types."""
    try:
        parsed = parse(command, words)
    except UsageError:
        return
    _, values = through_fire(parsed)
    expected = given_values(parsed)
    assert values == expected
    assert {name: type(value) for name, value in values.items()} == {
        name: type(value) for name, value in expected.items()
    }


@settings(deadline=None)
@given(text=any_text)
def test_a_number_is_read_or_refused(text: str) -> None:
    """Only ASCII digits make a number, and it stays within its bounds."""
    option = Option("k", "int", "", low=1, high=50, is_clamped=True)
    try:
        value = convert(option, text, "--k")
    except UsageError:
        return
    assert text.strip().isascii()
    assert 1 <= value <= 50


@settings(deadline=None)
@given(number=st.integers(min_value=1))
def test_a_clamped_number_is_the_smaller_of_itself_and_its_bound(number: int) -> None:
    """However many digits it has."""
    option = Option("k", "int", "", low=1, high=50, is_clamped=True)
    assert convert(option, str(number), "--k") == min(number, 50)


def test_where_an_index_folder_can_be_named_a_collection_can_be() -> None:
    """An agent is served the same indexes as a person."""
    for command in COMMANDS:
        names = {option.name for option in command.options}
        assert ("index_dir" in names) == ("collection" in names), command.name
