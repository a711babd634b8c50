"""Reads settings from config files and the environment with pydantic-settings.

Called by `settings` alone, and only when there is something to read.
"""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import ValidationError, create_model
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from ragmachine.errors import UsageError

ENV_PREFIX = "RAG_"


def read_sources(
    settings: type,
    files: Sequence[Path],
    variables: Mapping[str, str],
    check: Callable[[str, Any], Any],
) -> dict[str, Any]:
    """Values given in config files and ``RAG_`` variables; later files and then variables win.

    Args:
        settings: the dataclass whose fields are the settings.
        files: TOML files, least important first.
        variables: environment variables that begin with ``RAG_``.
        check: given a name and a value of its type, refuses what is out of range.
    Raises: UsageError: an unreadable file, an unknown name, a value of the wrong type or range.
    """
    names = [field.name for field in dataclasses.fields(settings)]
    values: dict[str, Any] = {}
    if files:
        model = _model(settings, is_strict=True)  # TOML has types: true is no number
        for path in files:
            for name, value in _from_file(path, names).items():
                typed = _typed(model, name, value, f"{path}: {name}")
                values[name] = _in_range(check, name, typed, str(path))
    if variables:
        model = _model(settings, is_strict=False)  # a variable is text: "5" is a number
        for variable, text in variables.items():
            name = _name_of(variable, names)
            typed = _typed(model, name, text, variable)
            values[name] = _in_range(check, name, typed, variable)
    return values


def _typed(model: type[BaseSettings], name: str, value: Any, source: str) -> Any:
    try:
        return getattr(model(**{name: value}), name)
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise UsageError(f"{source} = {value!r} is refused: {reason}", remedy="mend it") from None


def _in_range(check: Callable[[str, Any], Any], name: str, value: Any, source: str) -> Any:
    try:
        return check(name, value)
    except UsageError as error:
        raise UsageError(error.message, remedy=f"mend it in {source}") from None


def _from_file(path: Path, names: Sequence[str]) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", remedy="mend or remove it") from error
    for name in document:
        if name not in names:
            raise UsageError(f"{path} sets {name!r}, which is no setting{_suggestion(name, names)}")
        if name == "project_root":  # it decides which config file is read
            raise UsageError(
                f"{path} sets project_root, which no config file can",
                remedy=f"remove it and set {ENV_PREFIX}PROJECT_ROOT",
            )
    return document


def _name_of(variable: str, names: Sequence[str]) -> str:
    name = variable.removeprefix(ENV_PREFIX).lower()
    if name not in names:
        raise UsageError(f"{variable} is no setting{_suggestion(name, names, ENV_PREFIX)}")
    return name


def _suggestion(name: str, names: Sequence[str], prefix: str = "") -> str:
    """The setting that was probably meant, as the end of a message; "" when none is near."""
    close = difflib.get_close_matches(name.lower(), names, n=1)
    if not close:
        return ""
    return f"; did you mean {prefix + close[0].upper() if prefix else close[0]}?"


class _Given(BaseSettings):
    """Takes what it is given and looks nowhere else: the environment is read by `settings`."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


class _Strict(_Given):
    model_config = SettingsConfigDict(strict=True)


def _model(settings: type, *, is_strict: bool) -> type[BaseSettings]:
    """A pydantic-settings model with the dataclass's names and types."""
    hints = get_type_hints(settings)
    fields: dict[str, Any] = {
        field.name: (hints[field.name], field.default) for field in dataclasses.fields(settings)
    }
    return create_model("Checked", __base__=_Strict if is_strict else _Given, **fields)
