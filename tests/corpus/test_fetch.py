"""Fetching a known corpus: what is put in place, and what never is. No network is used."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypi_simple
import pytest
import requests

from ragmachine.corpus import fetch
from ragmachine.errors import CorpusError, StorageError, UsageError


@dataclass
class FakePackage:
    """One file on the project's page."""

    filename: str
    version: str = "1.0"
    package_type: str = "sdist"


class FakeIndex:
    """A package index that serves `content` as the archive, or fails as told."""

    def __init__(self, content: bytes = b"", error: Exception | None = None) -> None:
        self.content = content
        self.error = error
        self.packages = [
            FakePackage("demo-1.0-py3-none-any.whl", package_type="wheel"),
            FakePackage("demo-0.9.tar.gz", version="0.9"),
            FakePackage("demo-1.0.zip"),
            FakePackage("demo-1.0.tar.gz"),
        ]
        self.requested: list[str] = []

    def get_project_page(self, project: str, timeout: float) -> Any:
        """The page, which is this object itself: it has `packages`."""
        assert 0 < timeout < 120
        self.requested.append(project)
        return self

    def download_package(
        self, pkg: Any, path: Path, verify: bool, *, progress: Any, timeout: float
    ) -> None:
        """Write the content in two pieces, or half of it and fail."""
        assert 0 < timeout < 120
        self.requested.append(pkg.filename)
        half = len(self.content) // 2
        with path.open("wb") as file, progress(len(self.content)) as meter:
            file.write(self.content[:half])
            meter.update(half)
            if self.error is not None:
                raise self.error
            file.write(self.content[half:])
            meter.update(len(self.content) - half)


def member(name: str, content: bytes = b"text", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    """A tar member: a plain file unless `fields` say otherwise."""
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def pack(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """A gzipped tar of the members, written without any check."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


GOOD = pack(
    member("demo-1.0", b"", type=tarfile.DIRTYPE, mode=0o755),
    member("demo-1.0/README.md", b"# Demo\n"),
    member("demo-1.0/src/a.py", b"a = 1\n"),
)


@pytest.fixture
def get(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Fetch the corpus ``demo`` under ``tmp_path/raw`` from a fake index, its digest pinned."""

    def run(index: FakeIndex, *, pinned: bytes | None = None, progress: Any = None) -> Path:
        digest = hashlib.sha256(index.content if pinned is None else pinned).hexdigest()
        release = fetch.Release("demo", "1.0", digest, "demo-1.0", title="Demo")
        monkeypatch.setitem(fetch.CORPORA, "demo", release)
        return fetch.fetch_corpus(
            "demo", tmp_path / "raw", progress=progress, connect=lambda: nullcontext(index)
        )

    return run


def left_in(tmp_path: Path) -> list[str]:
    """Everything under the root, hidden files included."""
    return sorted(os.listdir(tmp_path / "raw"))


def test_the_corpus_is_put_in_place(tmp_path: Path, get: Callable[..., Path]) -> None:
    """Files arrive whole under the release's folder, and nothing else is left."""
    folder = get(FakeIndex(GOOD))
    assert folder == tmp_path / "raw" / "demo-1.0"
    assert (folder / "README.md").read_bytes() == b"# Demo\n"
    assert (folder / "src" / "a.py").read_bytes() == b"a = 1\n"
    assert left_in(tmp_path) == ["demo-1.0"]


def test_the_source_archive_of_the_release_is_chosen(get: Callable[..., Path]) -> None:
    """Wheels, other versions and other formats are passed over."""
    index = FakeIndex(GOOD)
    get(index)
    assert index.requested == ["demo", "demo-1.0.tar.gz"]


def test_progress_is_told_in_bytes(get: Callable[..., Path]) -> None:
    """The callback gets the bytes so far and the total."""
    seen: list[tuple[int, int | None]] = []
    get(FakeIndex(GOOD), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(len(GOOD) // 2, len(GOOD)), (len(GOOD), len(GOOD))]


def test_a_corpus_already_there_is_returned_at_once(
    tmp_path: Path, get: Callable[..., Path]
) -> None:
    """A folder with content is taken as it is: no request, no change."""
    (tmp_path / "raw" / "demo-1.0").mkdir(parents=True)
    (tmp_path / "raw" / "demo-1.0" / "mine.txt").write_text("mine")
    index = FakeIndex(GOOD)
    assert get(index) == tmp_path / "raw" / "demo-1.0"
    assert index.requested == []
    assert os.listdir(tmp_path / "raw" / "demo-1.0") == ["mine.txt"]


def test_an_empty_folder_is_filled(tmp_path: Path, get: Callable[..., Path]) -> None:
    """A folder made by hand in advance does not pass for a corpus."""
    (tmp_path / "raw" / "demo-1.0").mkdir(parents=True)
    assert (get(FakeIndex(GOOD)) / "README.md").exists()


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    """The refusal lists the names there are."""
    with pytest.raises(
        UsageError, match="no corpus is named 'nope'; choose one of: numpy, sqlalchemy, vllm"
    ):
        fetch.fetch_corpus("nope", tmp_path)


def test_the_known_corpus_is_pinned() -> None:
    """The one corpus we know has a name, a version and a whole SHA-256."""
    release = fetch.CORPORA["vllm"]
    assert str(release) == "vLLM 0.10.1"
    assert release.archive == "vllm-0.10.1.tar.gz"
    assert len(bytes.fromhex(release.sha256)) == 32


def answer(status: int) -> requests.HTTPError:
    """The error of a server that answers with `status`."""
    response = requests.Response()
    response.status_code = status
    return requests.HTTPError(response=response)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (requests.ConnectionError("x"), "there is no connection to the package index"),
        (requests.ConnectTimeout("x"), "the package index did not answer within 30 s"),
        (requests.ReadTimeout("x"), "the package index did not answer within 30 s"),
        (answer(503), "the package index answered with status 503"),
        (pypi_simple.NoSuchProjectError("demo", "x"), "the package index has no such project"),
        (pypi_simple.UnsupportedContentTypeError("x", "y"), "an answer that makes no sense"),
        (requests.exceptions.ChunkedEncodingError("x"), "an answer that makes no sense"),
    ],
    ids=["offline", "connect", "read", "status", "project", "content", "broken off"],
)
def test_a_failed_download_is_told_in_words(
    tmp_path: Path, get: Callable[..., Path], error: Exception, reason: str
) -> None:
    """Each way to fail has its reason and the same way out; nothing is left behind."""
    with pytest.raises(CorpusError) as caught:
        get(FakeIndex(GOOD, error))
    assert caught.value.message.startswith("Demo 1.0 cannot be downloaded: ")
    assert reason in caught.value.message
    assert caught.value.remedy == (
        f"connect to the network, or unpack demo-1.0.tar.gz into {tmp_path / 'raw'} yourself"
    )
    assert left_in(tmp_path) == []


def test_a_release_no_longer_offered_is_told(get: Callable[..., Path]) -> None:
    """A page without the release's source archive is not an error of ours."""
    index = FakeIndex(GOOD)
    index.packages.pop()
    with pytest.raises(CorpusError, match="does not offer this release's source"):
        get(index)


def test_an_archive_without_end_is_stopped(
    tmp_path: Path, get: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A download larger than any corpus is broken off."""
    monkeypatch.setattr(fetch, "MAX_ARCHIVE_BYTES", 10)
    with pytest.raises(CorpusError, match="the archive is larger than 10 bytes"):
        get(FakeIndex(GOOD))
    assert left_in(tmp_path) == []


def test_another_archive_than_pinned_is_not_kept(tmp_path: Path, get: Callable[..., Path]) -> None:
    """A wrong digest is refused before anything is unpacked."""
    with pytest.raises(CorpusError, match="not the expected one: its SHA-256 is"):
        get(FakeIndex(GOOD), pinned=b"another")
    assert left_in(tmp_path) == []


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (member("demo-1.0/../../evil"), "leads out of the archive"),
        (member("/demo-1.0/evil"), "leads out of the archive"),
        (member("other/evil"), "lies outside the folder demo-1.0"),
        (member("evil"), "lies outside the folder demo-1.0"),
        (member("demo-1.0/l", b"", type=tarfile.SYMTYPE, linkname="/etc"), "neither a file nor"),
        (member("demo-1.0/l", b"", type=tarfile.LNKTYPE, linkname="demo-1.0/a"), "neither a file"),
        (member("demo-1.0/d", b"", type=tarfile.CHRTYPE), "neither a file nor a folder"),
        (member("demo-1.0/p", b"", type=tarfile.FIFOTYPE), "neither a file nor a folder"),
    ],
    ids=["traversal", "absolute", "sibling", "loose", "symlink", "hard link", "device", "pipe"],
)
def test_one_unsafe_member_refuses_the_archive(
    tmp_path: Path, get: Callable[..., Path], bad: tuple[tarfile.TarInfo, bytes], reason: str
) -> None:
    """Whatever is not a plain file or folder inside the top folder unpacks nothing at all."""
    with pytest.raises(CorpusError, match=reason):
        get(FakeIndex(pack(member("demo-1.0/a"), bad, member("demo-1.0/z"))))
    assert left_in(tmp_path) == []
    assert os.listdir(tmp_path) == ["raw"]


@pytest.mark.parametrize(
    ("limit", "value"), [("MAX_MEMBERS", 2), ("MAX_UNPACKED_BYTES", 12)], ids=["members", "bytes"]
)
def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path,
    get: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: int,
) -> None:
    """Three members of 13 bytes are over a limit of 2 members, or of 12 bytes."""
    monkeypatch.setattr(fetch, limit, value)
    with pytest.raises(CorpusError, match="unpacks to more than a corpus may hold"):
        get(FakeIndex(GOOD))
    assert left_in(tmp_path) == []


def test_an_archive_at_the_limits_is_accepted(
    get: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three members of 13 bytes are within limits of 3 and 13."""
    monkeypatch.setattr(fetch, "MAX_MEMBERS", 3)
    monkeypatch.setattr(fetch, "MAX_UNPACKED_BYTES", 13)
    assert get(FakeIndex(GOOD)).is_dir()


NOISE = bytes((index * index * 7919 >> 3) % 251 for index in range(200_000))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>not an archive</html>",
        GOOD[:40],
        pack(member("demo-1.0/a", NOISE))[:-2000],
    ],
    ids=["empty", "page", "truncated head", "truncated body"],
)
def test_a_damaged_archive_is_refused(
    tmp_path: Path, get: Callable[..., Path], content: bytes
) -> None:
    """An archive that cannot be read to its end leaves no half corpus."""
    with pytest.raises(CorpusError, match="cannot be unpacked: it is damaged"):
        get(FakeIndex(content))
    assert left_in(tmp_path) == []


@pytest.mark.parametrize(
    "content", [pack(), pack(member("demo-1.0"))], ids=["no member", "a file of that name"]
)
def test_an_archive_without_the_folder_is_refused(get: Callable[..., Path], content: bytes) -> None:
    """The release's top folder must be there."""
    with pytest.raises(CorpusError, match=r"does not hold the folder demo-1\.0"):
        get(FakeIndex(content))


@pytest.mark.parametrize("step", ["_check_digest", "_unpack", "_put_in_place"])
def test_an_interruption_leaves_no_half_corpus(
    tmp_path: Path, get: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Ctrl-C at any step leaves the root empty, and the next run succeeds."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fetch, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            get(FakeIndex(GOOD))
    assert left_in(tmp_path) == []
    assert get(FakeIndex(GOOD)).is_dir()


def test_nothing_bears_the_corpus_name_while_unpacking(
    tmp_path: Path, get: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a process killed without clean-up has written under another name only."""
    names: list[list[str]] = []
    extract = fetch._extract

    def watch(tar: tarfile.TarFile, info: tarfile.TarInfo, into: Path) -> None:
        extract(tar, info, into)
        names.append(left_in(tmp_path))

    monkeypatch.setattr(fetch, "_extract", watch)
    get(FakeIndex(GOOD))
    assert len(names) == 3
    assert all("demo-1.0" not in seen for seen in names)


def test_a_process_that_was_faster_wins(
    tmp_path: Path, get: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where another process put the corpus in place meanwhile, that one is used."""
    unpack = fetch._unpack

    def race(release: fetch.Release, archive: Path, into: Path) -> None:
        unpack(release, archive, into)
        (tmp_path / "raw" / "demo-1.0").mkdir()
        (tmp_path / "raw" / "demo-1.0" / "theirs.txt").write_text("theirs")

    monkeypatch.setattr(fetch, "_unpack", race)
    assert os.listdir(get(FakeIndex(GOOD))) == ["theirs.txt"]
    assert left_in(tmp_path) == ["demo-1.0"]


def test_a_full_disk_is_a_storage_error(tmp_path: Path, get: Callable[..., Path]) -> None:
    """A write that the system refuses is not taken for a network failure."""
    with pytest.raises(StorageError, match=r"Demo 1\.0 cannot be stored in .*: no space left"):
        get(FakeIndex(GOOD, OSError(28, "No space left on device")))
    assert left_in(tmp_path) == []


def test_a_root_that_is_a_file_is_a_storage_error(tmp_path: Path, get: Callable[..., Path]) -> None:
    """A file where the folder should be made is named with a remedy."""
    (tmp_path / "raw").write_text("")
    with pytest.raises(StorageError) as caught:
        get(FakeIndex(GOOD))
    assert caught.value.remedy


def test_files_are_readable_and_never_privileged(get: Callable[..., Path]) -> None:
    """A set-user-id bit in the archive does not reach the disk."""
    folder = get(FakeIndex(pack(member("demo-1.0/tool", mode=0o4777))))
    mode = (folder / "tool").stat().st_mode
    assert mode & 0o7022 == 0
    assert mode & 0o400


def test_an_archive_cut_anywhere_gives_all_or_nothing(
    tmp_path: Path, get: Callable[..., Path]
) -> None:
    """Cut at every seventh byte, the archive is refused or, past its last file, unpacked whole."""
    for cut in range(0, len(GOOD), 7):
        try:
            folder = get(FakeIndex(GOOD[:cut]))
        except CorpusError:
            assert left_in(tmp_path) == []
        else:
            assert (folder / "src" / "a.py").read_bytes() == b"a = 1\n"
            shutil.rmtree(folder)
