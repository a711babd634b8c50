"""Reads settings from config files and the environment with pydantic-settings; see `settings`."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import Field, ValidationError, create_model
from pydantic_settings import BaseSettings, SettingsConfigDict

from ragmachine.errors import UsageError
from ragmachine.settings import ENV_PREFIX, FIELDS, Settings


def read_sources(files: Sequence[Path], variables: Mapping[str, str]) -> dict[str, Any]:
    """Values given in config files and ``RAG_`` variables; later files and then variables win.

    Raises: UsageError: an unreadable file, an unknown name, a value of the wrong type or range.
    """
    values: dict[str, Any] = {}
    for path in files:
        values.update(_from_file(path))
    for variable, text in variables.items():
        values[_name_of(variable)] = text
    model = _model()
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


def _from_file(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", remedy="mend or remove it") from error
    for name in document:
        if name not in FIELDS:
            raise UsageError(f"{path} sets {name!r}, which is no setting{_suggestion(name)}")
    return document


def _name_of(variable: str) -> str:
    name = variable.removeprefix(ENV_PREFIX).lower()
    if name not in FIELDS:
        raise UsageError(f"{variable} is no setting{_suggestion(name, ENV_PREFIX)}")
    return name


def _suggestion(name: str, prefix: str = "") -> str:
    close = difflib.get_close_matches(name, FIELDS, n=1)
    if not close:
        return ""
    meant = prefix + close[0].upper() if prefix else close[0]
    return f"; did you mean {meant}?"


def _model() -> type[BaseSettings]:
    """A pydantic-settings model with the dataclass's names, types and ranges."""
    hints = get_type_hints(Settings)
    fields: dict[str, Any] = {
        name: (
            hints[name],
            Field(default=field.default, ge=field.metadata["low"], le=field.metadata["high"]),
        )
        for name, field in FIELDS.items()
    }

    class _Base(BaseSettings):
        model_config = SettingsConfigDict(extra="forbid", env_prefix=ENV_PREFIX)

    return create_model("CheckedSettings", __base__=_Base, **fields)
