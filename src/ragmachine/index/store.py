"""The index on disk: write-once generations, one pointer that is replaced atomically.

<folder>/CURRENT            name of the generation that answers; replaced by rename
<folder>/gen-…/             one generation, never changed once CURRENT names it
    manifest.json           format, versions, settings, corpus root, files, skipped, counts
    chunks.json             chunk map: the columns of every chunk
    bm25/                   score matrix of the chunks, with the vocabulary (bm25s's layout)
    bm25_files/             score matrix of whole files
    postings/               raw counts per passage and per label, to rescore and to reuse
    documents.bin           the indexed text of every file, UTF-8, back to back
    *.hash                  SHA-256 of each of the above, as `sha256sum -c` reads it
<folder>/query_cache.json   results of earlier queries; dies with its generation
"""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import threading
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from ragmachine.errors import (
    IndexCorruptError,
    IndexMissingError,
    IndexVersionError,
    RagError,
    StorageError,
)
from ragmachine.index.hashes import verify, write_hash
from ragmachine.index.lock import exclusive

FORMAT_VERSION = 1
CURRENT = "CURRENT"
ARTIFACTS = ("manifest.json", "chunks.json", "bm25", "bm25_files", "postings", "documents.bin")
_LOCK = "index.lock"
_LOCK_TIMEOUT_S = 30.0


class Verification:
    """Checks a generation's hashes in a thread, so that a one-shot search can import meanwhile."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._error: RagError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            verify(os.path.join(self.folder, name) for name in ARTIFACTS)
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
        except (OSError, UnicodeDecodeError) as error:
            raise IndexCorruptError(
                f"{self.path(CURRENT)} is unreadable", remedy="build the index again: `make index`"
            ) from error
        if not name.startswith("gen-") or os.sep in name:
            raise IndexCorruptError(
                f"{self.path(CURRENT)} names no generation",
                remedy="build the index again: `make index`",
            )
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

    def verified(self) -> str:
        """The current generation's folder once its hashes are checked.

        A generation replaced while it is being read is no fault: the check starts over.
        """
        for _ in range(5):
            generation = self.require_current()
            check = _running.pop(generation, None) or Verification(generation)
            try:
                check.result()
            except IndexCorruptError:
                if self.current() == generation:
                    raise
                continue
            return generation
        raise IndexCorruptError(f"the index in {self.folder} keeps changing", remedy="try again")

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
                remedy="build it again: `make index`",
            )
        return dict(manifest)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder's lock, and clear what killed runs left behind.

        Raises:
            IndexBusyError: another process is indexing into the folder.
            StorageError: the folder cannot be written.
        """
        with storage_errors(self.folder):
            os.makedirs(self.folder, exist_ok=True)
        with contextlib.ExitStack() as stack:
            with storage_errors(self.folder):
                stack.enter_context(exclusive(self.path(_LOCK), timeout_s=_LOCK_TIMEOUT_S))
            self._sweep()
            yield

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
                for artifact in ARTIFACTS:
                    write_hash(os.path.join(building, artifact))
                os.rename(building, self.path(name))
                replace_text(self.path(CURRENT), name + "\n")
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        self._sweep()

    def _sweep(self) -> None:
        """Remove generations that CURRENT does not name, and unfinished ones."""
        with contextlib.suppress(RagError, OSError):
            current = os.path.basename(self.current() or "")
            for name in os.listdir(self.folder):
                is_stale = name.startswith(("gen-", "building-gen-")) and name != current
                if is_stale:
                    shutil.rmtree(self.path(name), ignore_errors=True)


class Documents:
    """The indexed text of every file, memory-mapped."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            self._bytes: mmap.mmap | bytes = (
                mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
            )

    def text(self, start: int, end: int) -> str:
        """Text between two byte offsets."""
        return self._bytes[start:end].decode("utf-8")

    def raw(self, start: int, end: int) -> bytes:
        """Bytes between two offsets."""
        return self._bytes[start:end]


@contextlib.contextmanager
def storage_errors(folder: str) -> Iterator[None]:
    """Translate what the operating system refuses into a StorageError."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"cannot write to {folder}: {error.strerror or error}",
            remedy="free some space or choose another folder with --index_dir;"
            " the index that was there still answers",
        ) from error


def read_json(path: str) -> Any:
    """Parse a JSON file of the index.

    Raises: IndexCorruptError: missing or not JSON.
    """
    try:
        with open(path, "rb") as stream:
            return orjson.loads(stream.read())
    except (OSError, orjson.JSONDecodeError) as error:
        raise IndexCorruptError(
            f"{path} is missing or is not JSON", remedy="build the index again: `make index`"
        ) from error


def write_json(path: str, document: Any) -> None:
    """Write a JSON file of a generation that nobody reads yet."""
    with open(path, "wb") as stream:
        stream.write(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY))


def replace_text(path: str, text: str) -> None:
    """Replace a small file in one step: readers see the old text or the new one."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        raise


def versions() -> dict[str, str]:
    """Versions that shape an index, for the manifest."""
    from importlib.metadata import version

    names: Sequence[str] = ("bm25s", "numpy", "PyStemmer", "markdown-it-py")
    return {name: version(name) for name in names}
