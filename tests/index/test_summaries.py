"""The log of summaries: whatever kills a writer, whole lines are kept and the next one goes on."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import Any

import pytest

from ragmachine.errors import IndexBusyError, StorageError
from ragmachine.index import summaries
from ragmachine.index.lock import exclusive
from ragmachine.index.summaries import (
    SUMMARIES_FILE,
    Author,
    Summaries,
    SummaryWriter,
    read_summaries,
    text_digest,
    writing_summaries,
)
from workspace import read_only

AUTHOR = Author("tiny:1b", "summary-1")
OTHER = Author("large:9b", "summary-1")


def write(folder: Path, *texts: str, author: Author = AUTHOR) -> None:
    """Write a line about each text, in one run."""
    with writing_summaries(str(folder), author) as writer:
        for text in texts:
            writer.put(text_digest(text.encode()), f"about {text}")


def known(folder: Path, *texts: str, author: Author | None = None) -> list[str]:
    """The lines about these texts, as another process finds them."""
    found = read_summaries(str(folder), author)
    return [found.of(text.encode()) if found else "" for text in texts]


def test_nobody_has_written(tmp_path: Path) -> None:
    """Looking makes no file."""
    assert read_summaries(str(tmp_path)) is None
    assert list(tmp_path.iterdir()) == []


def test_a_line_comes_back_by_the_text_it_is_about(tmp_path: Path) -> None:
    """Text, quotes and line ends within it as they were; nothing for another text."""
    write(tmp_path, "alpha", 'b"e\ntä 中')
    assert known(tmp_path, "alpha", 'b"e\ntä 中', "gamma") == [
        "about alpha",
        'about b"e\ntä 中',
        "",
    ]


def test_a_record_is_a_checksum_and_json(tmp_path: Path) -> None:
    """The format on disk, written out; printf alpha | sha256sum gives the digest."""
    write(tmp_path, "alpha")
    digest = "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8"
    body = (
        f'{{"model":"tiny:1b","prompt":"summary-1","sha256":"{digest}","summary":"about alpha"}}'
    ).encode()
    expected = b"%08x %s\n" % (zlib.crc32(body), body)
    assert (tmp_path / SUMMARIES_FILE).read_bytes() == expected


def test_a_writer_killed_at_any_byte_loses_one_line_at_most(tmp_path: Path) -> None:
    """After each possible length of the file: what was whole is read, and a new run goes on."""
    write(tmp_path, "alpha", "beta")
    path = tmp_path / SUMMARIES_FILE
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        expected = ["about alpha"] * (size >= first) + ["about beta"] * (size == len(whole))
        assert [line for line in known(tmp_path, "alpha", "beta") if line] == expected
        write(tmp_path, "gamma")
        assert known(tmp_path, "gamma") == ["about gamma"]
        assert [line for line in known(tmp_path, "alpha", "beta") if line] == expected


def test_a_damaged_line_costs_that_line(tmp_path: Path) -> None:
    """A letter that changed on the disk makes its line unknown, and none beside it."""
    write(tmp_path, "alpha", "beta", "gamma")
    path = tmp_path / SUMMARIES_FILE
    path.write_bytes(path.read_bytes().replace(b"about beta", b"about bata"))
    assert known(tmp_path, "alpha", "beta", "gamma") == ["about alpha", "", "about gamma"]


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"00000000\n00000000 \n", b"\0" * 99, b"hello\n"]
)
def test_a_file_without_a_record_is_none(tmp_path: Path, content: bytes) -> None:
    """And can be written to."""
    (tmp_path / SUMMARIES_FILE).write_bytes(content)
    assert read_summaries(str(tmp_path)) is None
    write(tmp_path, "alpha")
    assert known(tmp_path, "alpha") == ["about alpha"]


def test_who_wrote_last_is_taken(tmp_path: Path) -> None:
    """Another model, or another prompt, has summaries of its own; both are kept."""
    write(tmp_path, "alpha", "beta")
    write(tmp_path, "alpha", author=OTHER)
    last = read_summaries(str(tmp_path))
    assert last is not None
    assert last.author == OTHER
    assert known(tmp_path, "alpha", "beta") == ["about alpha", ""]
    assert known(tmp_path, "alpha", "beta", author=AUTHOR) == ["about alpha", "about beta"]
    assert known(tmp_path, "alpha", author=Author("tiny:1b", "summary-2")) == [""]


def test_an_author_can_be_chosen_again(tmp_path: Path) -> None:
    """Without writing anything new."""
    write(tmp_path, "alpha")
    write(tmp_path, "beta", author=OTHER)
    with writing_summaries(str(tmp_path), AUTHOR) as writer:
        writer.choose()
    assert known(tmp_path, "alpha", "beta") == ["about alpha", ""]


def test_the_digest_names_what_is_known_and_not_how_it_came(tmp_path: Path) -> None:
    """The order of writing does not matter; a line, a word or an author does."""
    one = Summaries(AUTHOR, {"a": "x", "b": "y"})
    assert one.digest == Summaries(AUTHOR, {"b": "y", "a": "x"}).digest
    others = [
        Summaries(AUTHOR, {"a": "x"}),
        Summaries(AUTHOR, {"a": "x", "b": "z"}),
        Summaries(OTHER, {"a": "x", "b": "y"}),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 4


def test_one_process_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run says that another is at it."""
    monkeypatch.setattr(summaries, "_LOCK_TIMEOUT_S", 0.0)
    lock = str(tmp_path / f"{SUMMARIES_FILE}.lock")
    with exclusive(lock, timeout_s=0.0), pytest.raises(IndexBusyError, match="another process"):
        write(tmp_path, "alpha")


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """What was there is untouched."""
    write(tmp_path, "alpha")
    with read_only(tmp_path), pytest.raises(StorageError, match="cannot write to"):
        write(tmp_path, "beta")
    assert known(tmp_path, "alpha", "beta") == ["about alpha", ""]


def test_a_disk_that_takes_half_a_line_is_full(tmp_path: Path) -> None:
    """The run ends; the half line is cut off by the next."""

    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            return super().write(data[:-5])

    writer = SummaryWriter(Full(), str(tmp_path), AUTHOR)
    with pytest.raises(StorageError, match="No space left"):
        writer.put(text_digest(b"alpha"), "about alpha")


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """Rather than indexing without what somebody paid for."""
    (tmp_path / SUMMARIES_FILE).mkdir()
    with pytest.raises(StorageError, match=r"summaries in .* cannot be read"):
        read_summaries(str(tmp_path))
