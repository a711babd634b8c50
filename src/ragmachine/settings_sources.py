"""Reads settings from config files and the environment with pydantic-settings.

Called by `settings` alone, and only when there is something to read.
"""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import Field, ValidationError, create_model
from pydantic_settings import BaseSettings, SettingsConfigDict

from ragmachine.errors import UsageError

ENV_PREFIX = "RAG_"


def read_sources(
    settings: type, files: Sequence[Path], variables: Mapping[str, str]
) -> dict[str, Any]:
    """Values given in config files and ``RAG_`` variables; later files and then variables win.

    Args:
        settings: the dataclass whose fields are the settings; ranges in their metadata.
        files: TOML files, least important first.
        variables: environment variables that begin with ``RAG_``.
    Raises: UsageError: an unreadable file, an unknown name, a value of the wrong type or range.
    """
    names = [field.name for field in dataclasses.fields(settings)]
    values: dict[str, Any] = {}
    for path in files:
        values.update(_from_file(path, names))
    for variable, text in variables.items():
        values[_name_of(variable, names)] = text
    model = _model(settings)
    try:
        checked = model(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise UsageError(
            f"{name} = {first['input']!r} is refused: {first['msg']}",
            remedy=f"change it where it is set: {ENV_PREFIX}{name.upper()} or a config file",
        ) from None
    return {name: getattr(checked, name) for name in values}


def _from_file(path: Path, names: Sequence[str]) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", remedy="mend or remove it") from error
    for name in document:
        if name not in names:
            hint = _suggestion(name, names)
            raise UsageError(f"{path} sets {name!r}, which is no setting{hint}")
    return document


def _name_of(variable: str, names: Sequence[str]) -> str:
    name = variable.removeprefix(ENV_PREFIX).lower()
    if name not in names:
        hint = _suggestion(name, names, ENV_PREFIX)
        raise UsageError(f"{variable} is no setting{hint}")
    return name


def _suggestion(name: str, names: Sequence[str], prefix: str = "") -> str:
    close = difflib.get_close_matches(name, names, n=1)
    if not close:
        return ""
    meant = prefix + close[0].upper() if prefix else close[0]
    return f"; did you mean {meant}?"


def _model(settings: type) -> type[BaseSettings]:
    """A pydantic-settings model with the dataclass's names, types and ranges."""
    hints = get_type_hints(settings)
    fields: dict[str, Any] = {
        field.name: (
            hints[field.name],
            Field(default=field.default, ge=field.metadata["low"], le=field.metadata["high"]),
        )
        for field in dataclasses.fields(settings)
    }

    class _Base(BaseSettings):
        model_config = SettingsConfigDict(extra="forbid", env_prefix=ENV_PREFIX)

    return create_model("CheckedSettings", __base__=_Base, **fields)
