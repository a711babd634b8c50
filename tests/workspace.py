"""A project folder with a corpus and an index of its own, and what may happen to it."""

from __future__ import annotations

import builtins
import contextlib
import errno
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragmachine import RagPipeline
from ragmachine.index.reader import Index, open_index
from ragmachine.index.store import IndexStore
from ragmachine.models import IndexReport

OLD_S = 3600.0  # files this old are not read again to see whether they have changed


@dataclass
class Workspace:
    """Corpus in ``<root>/corpus``, index in ``<root>/index``."""

    root: Path

    @property
    def corpus(self) -> Path:
        """The corpus folder."""
        return self.root / "corpus"

    @property
    def folder(self) -> Path:
        """The index folder."""
        return self.root / "index"

    @property
    def store(self) -> IndexStore:
        """The index folder as the product sees it."""
        return IndexStore(str(self.folder))

    @property
    def generation(self) -> Path:
        """Folder of the generation that answers."""
        return Path(self.store.require_current())

    def write(self, name: str, content: str | bytes, *, age_s: float = OLD_S) -> Path:
        """Write a file of the corpus, last changed `age_s` seconds ago."""
        path = self.corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if age_s:
            os.utime(path, (time.time() - age_s,) * 2)
        return path

    def pipeline(self, **settings: Any) -> RagPipeline:
        """A pipeline of this project; `use_cache` and settings as given."""
        # files of a test often say the same, and each is to be found
        given = {"workers": 1, "llm": "extractive", "distinct": False, **settings}
        return RagPipeline(project_root=str(self.root), index_dir=str(self.folder), **given)

    def index(self, *, force: bool = False, strict: bool = False, **settings: Any) -> IndexReport:
        """Index the corpus."""
        return self.pipeline(**settings).index("corpus", force=force, strict=strict)

    def open(self) -> Index:
        """The current generation, checked and opened."""
        return open_index(self.store)

    def found(self, query: str, **settings: Any) -> list[str]:
        """Names, within the corpus, of the files that a search finds, best first."""
        result = self.pipeline(use_cache=False, **settings).search(query, 100)
        return [hit.chunk.file_path.removeprefix("corpus/") for hit in result.hits]

    def leftovers(self) -> list[str]:
        """What lies in the index folder beyond one generation, its pointer and the lock."""
        expected = {"CURRENT", "index.lock", self.generation.name}
        return sorted(set(os.listdir(self.folder)) - expected)


def in_child(action: Callable[[], object]) -> int:
    """Run an action in a forked process; its exit code, 0 when the action came to its end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # numpy's threads do not mind a fork
        child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException:  # noqa: BLE001  (the child has no other way to tell)
            os._exit(70)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let the operating system refuse every change below a folder, even to an administrator."""

    def refuse(name: str, target: object) -> None:
        if Path(str(target)).is_relative_to(folder):
            raise PermissionError(errno.EACCES, "Permission denied", str(target))

    real_open = builtins.open

    def open_(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & set("wax+"):
            refuse("open", file)
        return real_open(file, mode, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "open", open_)
        for name in ("mkdir", "rename", "replace", "remove", "rmdir"):
            real = getattr(os, name)

            def changed(path: Any, *rest: Any, _real: Any = real, **kwargs: Any) -> Any:
                refuse(_real.__name__, path)
                return _real(path, *rest, **kwargs)

            patch.setattr(os, name, changed)
        yield
