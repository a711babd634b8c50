"""The index on disk: write-once generations, one pointer that is replaced atomically.

<folder>/CURRENT            name of the generation that answers; replaced by rename
<folder>/gen-…/             one generation, never changed once CURRENT names it
    manifest.json           format, versions, settings, corpus root, files, skipped, counts
    chunks.json             chunk map: the columns of every chunk
    bm25/                   score matrix of the chunks, with the vocabulary (bm25s's layout)
    bm25_files/             score matrix of whole files
    postings/               raw counts per passage and per label, to rescore and to reuse
    documents.bin           the indexed text of every file, UTF-8, back to back
    rows/                   short columns of tables of records, where there are such (see `rows`)
    *.hash                  SHA-256 of each of the above, as `sha256sum -c` reads it
<folder>/query_cache.json   results of earlier queries; ignored once its generation is replaced
<folder>/answer_cache.json  a model's answers; <folder>/expansions.json: its synonyms
<folder>/page_cache.sqlite  what was read out of the pages of PDFs, by their content
<folder>/collections/NAME   an index folder like this one, with a name
<folder>/dense-vectors/     vectors of the chunks, laid out by `dense`
<folder>/summaries.log      what a model wrote about chunks, by their text (see `summaries`)
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ragmachine.errors import (
    IndexCorruptError,
    IndexMissingError,
    IndexVersionError,
    RagError,
    StorageError,
)
from ragmachine.index.files import TEMPORARY, read_json, replace_file, storage_errors
from ragmachine.index.hashes import REBUILD, SUFFIX, verify, write_hash
from ragmachine.index.lock import exclusive

FORMAT_VERSION = 3
CURRENT = "CURRENT"
ARTIFACTS = ("manifest.json", "chunks.json", "bm25", "bm25_files", "postings", "documents.bin")
_OPTIONAL = ("rows",)
LOCK = "index.lock"
VECTORS = "dense-vectors"  # laid out by `dense`, which needs numpy
_LOCK_TIMEOUT_S = 30.0
_GENERATION = re.compile(r"gen-[0-9a-f]{12}")
_OWN_NAME = (
    r"(?:building-)?gen-[0-9a-f]{12}|CURRENT(?:\.tmp)?|index\.lock"
    r"|(?:query|answer)_cache\.json(?:\.\w+)?|expansions\.json|collections"
    rf"|page_cache\.sqlite(?:-\w+)?|{VECTORS}|summaries\.log(?:\.lock)?"
)
# A reader starts over as often as this when each generation it turns to is replaced at once.
_READ_ATTEMPTS = 20

_Read = TypeVar("_Read")


class Verification:
    """Checks a generation's hashes in a thread, so that a one-shot search can import meanwhile."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        # until the check has come to its end, nothing is vouched for
        self._error: RagError | None = IndexCorruptError(
            f"{folder} could not be checked", remedy="try again"
        )
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            verify(artifacts(self.folder))
            self._error = None
        except RagError as error:
            self._error = error

    def result(self) -> None:
        """Wait for the check.

        Raises: IndexCorruptError: names the file that does not match.
        """
        self._thread.join()
        if self._error:
            raise self._error


# Checks under way, by generation: whoever opens the index next waits for the one that runs.
_running: dict[str, Verification] = {}


class IndexStore:
    """One index folder; the only code that knows its layout."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def path(self, name: str) -> str:
        """Where a file beside the generations lives, e.g. the query cache."""
        return os.path.join(self.folder, name)

    def current(self) -> str | None:
        """Folder of the generation that answers; None when nothing was indexed."""
        try:
            with open(self.path(CURRENT), encoding="utf-8") as stream:
                name = stream.read().strip()
        except FileNotFoundError:
            return None
        except NotADirectoryError as error:
            raise StorageError(
                f"{self.folder} is not a folder", remedy="name another one with --index_dir"
            ) from error
        except (OSError, UnicodeDecodeError) as error:
            raise IndexCorruptError(
                f"{self.path(CURRENT)} is unreadable", remedy=REBUILD
            ) from error
        if not _GENERATION.fullmatch(name):
            raise IndexCorruptError(f"{self.path(CURRENT)} names no generation", remedy=REBUILD)
        return os.path.join(self.folder, name)

    def start_verification(self) -> None:
        """Begin hashing the current generation in the background; errors surface at `open`."""
        with contextlib.suppress(RagError):
            generation = self.current()
            if generation:
                _running[generation] = Verification(generation)

    def require_current(self) -> str:
        """The current generation's folder.

        Raises: IndexMissingError: nothing was indexed here.
        """
        generation = self.current()
        if generation is None:
            raise IndexMissingError(
                f"there is no index in {self.folder}",
                remedy="build it first: `make index`, or `ragmachine index --target_dir FOLDER`",
            )
        return generation

    def read(self, action: Callable[[str], _Read]) -> _Read:
        """What `action` makes of the current generation's folder, once its hashes are checked.

        A generation replaced while it is being read is no fault: everything starts over.

        Raises:
            IndexMissingError: nothing was indexed here.
            IndexCorruptError: names the file that does not match, or comes from `action`.
            IndexVersionError: written in another format.
        """
        for _ in range(_READ_ATTEMPTS):
            generation = self.require_current()
            check = _running.pop(generation, None) or Verification(generation)
            try:
                check.result()
                return action(generation)
            except IndexCorruptError:
                if self.current() == generation:
                    self._refuse_other_format(generation)
                    raise
        raise IndexCorruptError(f"the index in {self.folder} keeps changing", remedy="try again")

    def _refuse_other_format(self, generation: str) -> None:
        """Another format may have other files: say so rather than that some are missing."""
        with contextlib.suppress(IndexCorruptError):
            verify([os.path.join(generation, "manifest.json")])
            self.manifest(generation)

    def manifest(self, generation: str) -> dict[str, Any]:
        """A generation's manifest.

        Raises:
            IndexCorruptError: not JSON.
            IndexVersionError: written in another format.
        """
        manifest = read_json(os.path.join(generation, "manifest.json"))
        found = manifest.get("format") if isinstance(manifest, dict) else None
        if found != FORMAT_VERSION:
            raise IndexVersionError(
                f"the index in {self.folder} has format {found}, this version reads"
                f" {FORMAT_VERSION}",
                remedy=REBUILD,
            )
        return dict(manifest)

    @contextlib.contextmanager
    def writing(self) -> Iterator[bool]:
        """Hold the folder's lock, and clear what killed runs left behind.

        Yields: whether another process had to be waited for.

        Raises:
            IndexBusyError: another process is indexing into the folder.
            StorageError: the folder cannot be written.
        """
        with storage_errors(self.folder):
            os.makedirs(self.folder, exist_ok=True)
        with contextlib.ExitStack() as stack:
            with storage_errors(self.folder):
                lock = exclusive(self.path(LOCK), timeout_s=_LOCK_TIMEOUT_S)
                has_waited = stack.enter_context(lock)
            self._sweep()
            yield has_waited

    @contextlib.contextmanager
    def new_generation(self) -> Iterator[str]:
        """A folder to fill; swapped in when the block ends well, removed when it does not.

        Call inside `writing`.
        """
        name = f"gen-{uuid.uuid4().hex[:12]}"
        building = self.path(f"building-{name}")
        try:
            with storage_errors(self.folder):
                os.makedirs(building)
                yield building
                for artifact in artifacts(building):
                    write_hash(artifact)
                os.rename(building, self.path(name))
                replace_file(self.path(CURRENT), f"{name}\n".encode(), is_synced=True)
        finally:
            self._sweep()

    def _sweep(self) -> None:
        """Remove generations that CURRENT does not name, and unfinished ones."""
        try:
            current = os.path.basename(self.current() or "")
        except IndexCorruptError:
            current = None  # which one is good is not known until the next build names its own
        with contextlib.suppress(OSError):
            for name in os.listdir(self.folder):
                unfinished = name.removeprefix("building-")
                is_stale = current is not None and name != current
                if _GENERATION.fullmatch(unfinished) and (is_stale or unfinished != name):
                    shutil.rmtree(self.path(name), ignore_errors=True)
                elif name == CURRENT + TEMPORARY:
                    os.remove(self.path(name))


def artifacts(generation: str) -> list[str]:
    """What a generation is made of, each with a hash file: files and folders, as paths."""
    optional = [
        name
        for name in _OPTIONAL
        if any(os.path.exists(os.path.join(generation, name + end)) for end in ("", SUFFIX))
    ]
    return [os.path.join(generation, name) for name in (*ARTIFACTS, *optional)]


def is_own_name(name: str) -> bool:
    """Whether an entry of an index folder is the index's own, rather than a document beside it."""
    return bool(re.fullmatch(_OWN_NAME, name))
