"""How settings name the indexes that lie beside the one that they mean."""

from __future__ import annotations

import os
from dataclasses import replace

from ragmachine.collection_names import COLLECTIONS_FOLDER, check_collection, collection_dir
from ragmachine.errors import RagError, UsageError
from ragmachine.settings import Settings


def base_folder(settings: Settings) -> str:
    """Folder of the index without a name, which the others lie in."""
    folder = settings.index_dir
    return os.path.dirname(os.path.dirname(folder)) if settings.collection else folder


def settings_of(settings: Settings, name: str) -> Settings:
    """The same settings for another index beside this one, "" for the one without a name.

    Raises: UsageError: the name could not be a folder's, or would lead out of its place.
    """
    check_collection(name)
    folder = collection_dir(base_folder(settings), name)
    return replace(settings, collection=name, index_dir=folder)


def collection_names(settings: Settings) -> list[str]:
    """Names of the indexes that are there, "" first for the one without; none is opened."""
    from ragmachine.index.store import IndexStore

    def is_there(name: str) -> bool:
        try:
            return IndexStore(settings_of(settings, name).index_dir).current() is not None
        except UsageError:  # a folder that nobody can ask for
            return False
        except RagError:  # damaged: there, and whoever asks is told so
            return True

    try:
        below = sorted(os.listdir(os.path.join(base_folder(settings), COLLECTIONS_FOLDER)))
    except OSError:
        below = []
    return [name for name in ("", *below) if is_there(name)]
