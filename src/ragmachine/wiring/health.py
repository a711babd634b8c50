"""How settings become reports about an index and an installation."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragmachine.collection_names import COLLECTIONS_FOLDER
from ragmachine.generators import AUTO, OLLAMA, is_model_required, parse_generators
from ragmachine.health.checks import DoctorReport, SettingSource
from ragmachine.settings import (
    DEFAULT_CORPUS,
    ENV_PREFIX,
    FIELDS,
    Settings,
    checkout_root,
    config_files,
    load_settings,
)
from ragmachine.wiring.collections import base_folder

if TYPE_CHECKING:
    from ragmachine.health.collections import Collection
    from ragmachine.health.statistics import Statistics
    from ragmachine.health.status import IndexStatus
    from ragmachine.index.store import IndexStore


def _store(settings: Settings) -> IndexStore:
    from ragmachine.index.store import IndexStore

    return IndexStore(settings.index_dir)


def index_status(settings: Settings) -> IndexStatus:
    """The status of the index that the settings name.

    Raises: as `read_status`.
    """
    from ragmachine.health.status import read_status

    status = read_status(_store(settings))
    return replace(status, command=_update_command(settings, status))


def _update_command(settings: Settings, status: IndexStatus) -> str:
    """What to type to bring an index up to date with the settings that it was built with."""
    from ragmachine.index.sources import Selection

    words = ["ragmachine", "index"]
    places = Selection.from_json(status.settings).places(status.absolute_root)
    if settings.collection:
        words.append(f"--collection={settings.collection}")
    elif places != [settings.target_dir]:
        for place in places:
            words += ["--target_dir", shlex.quote(place)]
    tags = [tag for _, tag in status.folders]
    if any(tags):
        words += ["--source_tag", shlex.quote(",".join(dict.fromkeys(tags) if len(set(tags)) == 1
                                                       else tags))]  # fmt: skip
    for name, value in status.settings.items():
        written = ",".join(map(str, value)) if isinstance(value, list) else value
        if name != "folders" and name in FIELDS and written != getattr(settings, name):
            words.append(f"--{name}={shlex.quote(str(written))}")
    return " ".join(words)


def index_statistics(settings: Settings) -> Statistics:
    """The index that the settings name, in numbers.

    Raises: as opening it.
    """
    from ragmachine.health.statistics import count
    from ragmachine.index.reader import open_index

    return count(open_index(_store(settings)))


def collections(settings: Settings) -> list[Collection]:
    """The indexes in the folder that the settings name, the one without a name first."""
    from ragmachine.health.collections import find_collections

    return find_collections(base_folder(settings), COLLECTIONS_FOLDER)


def examine(flags: Mapping[str, Any]) -> DoctorReport:
    """Look at everything that the program rests on; at most some seconds.

    Args:
        flags: settings given on the command line.
    Raises: UsageError: a setting that cannot be meant.
    """
    from ragmachine.health import models, packages, places

    settings = load_settings(flags)
    store = _store(settings)
    checks = [
        packages.python_check(),
        *packages.package_checks(checkout_root() is not None),
        places.index_check(store, _build_command(settings)),
        *filter(None, [places.vectors_check(store)]),
        places.room_check(store),
        places.permission_check(store),
    ]
    kinds = [generator.kind for generator in parse_generators(settings.llm)]
    if settings.llm.strip() == AUTO or OLLAMA in kinds:
        required = is_model_required(settings.llm) and set(kinds) == {OLLAMA}
        host = settings.ollama_host or None
        checks.append(models.ollama_check(host, settings.model, is_required=required))
    if settings.ocr_model:
        checks.append(
            models.ollama_check(
                settings.ollama_host or None, settings.ocr_model, is_required=False,
                name="ocr model", instead="pages without text are read by OCR",
            )
        )  # fmt: skip
    return DoctorReport(checks, setting_sources(flags))


def _build_command(settings: Settings) -> str:
    place = f" --target_dir {settings.target_dir}"
    if settings.target_dir == os.path.join(settings.project_root, DEFAULT_CORPUS):
        place = "" if os.path.isdir(settings.target_dir) else " --target_dir FOLDER"
    return f"ragmachine index{place}" + (
        f" --collection {settings.collection}" if settings.collection else ""
    )


def setting_sources(flags: Mapping[str, Any]) -> list[SettingSource]:
    """Settings that something sets, with the strongest that sets them, in the settings' order."""
    import tomllib

    found: dict[str, SettingSource] = {}
    for path in config_files(flags.get("project_root"), os.environ):
        with open(path, encoding="utf-8-sig") as stream:  # it was read without a fault already
            for name, value in tomllib.loads(stream.read()).items():
                found[name] = SettingSource(name, str(value), str(path))
    for variable, text in os.environ.items():
        if variable.startswith(ENV_PREFIX):
            name = variable.removeprefix(ENV_PREFIX).lower()
            found[name] = SettingSource(name, text, variable)
    for name, value in flags.items():
        if value is not None:
            found[name] = SettingSource(name, str(value), f"--{name}")
    return [found[name] for name in FIELDS if name in found]
