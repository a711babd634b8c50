"""One walk finds what is worth indexing and counts what is not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragmachine.corpus.discover import Discovery, discover
from ragmachine.errors import CorpusError

MAX = 1000
needs_bytes_in_names = pytest.mark.skipif(
    sys.platform == "darwin", reason="macOS refuses names that are not UTF-8"
)


def plant(root: Path, *paths: str, text: str = "text\n") -> None:
    """Write files, each of its own."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def walk(root: Path, *, max_file_bytes: int = MAX) -> Discovery:
    """Discover a folder."""
    return discover(str(root), max_file_bytes=max_file_bytes)


def paths(root: Path) -> list[str]:
    """The paths found in a folder, where nothing was a problem."""
    found = walk(root)
    assert found.problems == []
    return [file.path for file in found.files]


def test_files_are_listed_in_path_order_with_their_facts(tmp_path: Path) -> None:
    """POSIX path from the root, where to open it, bytes, modification time."""
    plant(tmp_path, "b.py", "a/z.md", "a/b/c.txt")
    os.utime(tmp_path / "b.py", ns=(1, 1_700_000_000_123_000_000))
    found = walk(tmp_path)
    assert [file.path for file in found.files] == ["a/b/c.txt", "a/z.md", "b.py"]
    assert found.files[2].size == 5
    assert found.files[2].mtime_ns == 1_700_000_000_123_000_000
    assert Path(found.files[0].absolute) == tmp_path / "a/b/c.txt"
    assert not found.skipped
    assert not found.problems


def test_text_files_need_no_suffix_that_is_known(tmp_path: Path) -> None:
    """What is text is decided by its bytes, later."""
    names = ["LICENSE", "Makefile", "a.unheard", "data.dat", "mesh.obj", "world.map", "SOURCES.txt"]
    plant(tmp_path, *names)
    assert paths(tmp_path) == sorted(names)


@pytest.mark.parametrize(
    "name",
    [
        "with space.md",
        "größe.py",
        "中文/合同.md",
        "it's.txt",
        "a\nb.md",
        "-k.md",
        "#.md",
        "a\\b.md",
    ],
    ids=ascii,
)
def test_odd_names_are_names(name: str, tmp_path: Path) -> None:
    """Blanks, other scripts, quotes and line ends in a name change nothing."""
    plant(tmp_path, name)
    assert paths(tmp_path) == [name]


@pytest.mark.parametrize("slash", ["", "/", "//", "/."])
def test_a_slash_behind_the_root_changes_no_path(slash: str, tmp_path: Path) -> None:
    """Paths start below the root, however it is written."""
    plant(tmp_path, "a/b.md")
    found = discover(f"{tmp_path}{slash}", max_file_bytes=MAX)
    assert [file.path for file in found.files] == ["a/b.md"]


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    """That is no error here."""
    assert walk(tmp_path) == Discovery()


def test_no_folder_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    """Its name is in the message."""
    with pytest.raises(CorpusError, match=r"there is no folder .*nowhere") as caught:
        walk(tmp_path / "nowhere")
    assert "--target_dir" in caught.value.remedy


# What is left out by rule


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("logo.PNG", "binary"),
        ("model.safetensors", "binary"),
        ("paper.doc", "binary"),
        ("uv.lock", "lock file"),
        ("web/package-lock.json", "lock file"),
        ("web/bun.lock", "lock file"),
        ("lib.min.js", "generated"),
        ("lib.js.map", "generated"),
        ("api_pb2.py", "generated"),
        ("PKG-INFO", "generated"),
        ("__pycache__/a.py", "generated"),
        ("node_modules/a.js", "generated"),
        ("x.egg-info/top.txt", "generated"),
        ("venv/a.py", "generated"),
        (".hidden.md", "hidden"),
        (".git/config", "hidden"),
        (".venv/a.py", "hidden"),
    ],
)
def test_noise_is_left_out_and_counted(path: str, reason: str, tmp_path: Path) -> None:
    """By its name, once for a folder, whatever it holds."""
    plant(tmp_path, path, "kept.md")
    found = walk(tmp_path)
    assert [file.path for file in found.files] == ["kept.md"]
    assert found.skipped == {reason: 1}


@pytest.mark.parametrize(
    "path",
    [".github/workflows/ci.yml", ".buildkite/run.sh", ".env.example", "lock.py", "png", "map.md"],
)
def test_what_only_resembles_noise_is_kept(path: str, tmp_path: Path) -> None:
    """Dot folders that people write in, and names that merely contain such words."""
    plant(tmp_path, path)
    assert paths(tmp_path) == [path]


def test_a_file_over_the_limit_is_reported(tmp_path: Path) -> None:
    """A file of exactly the limit is kept, one byte more is a problem."""
    plant(tmp_path, "fits.md", text="x" * 1000)
    plant(tmp_path, "large.md", text="x" * 1001)
    found = walk(tmp_path)
    assert [file.path for file in found.files] == ["fits.md"]
    assert found.problems == [("large.md", "1,001 bytes, over the limit of 1,000")]


# Ignore files


@pytest.mark.parametrize("name", [".gitignore", ".ragignore"])
def test_ignored_files_are_left_out_and_counted(name: str, tmp_path: Path) -> None:
    """Both files speak the same language."""
    plant(tmp_path, "a.log", "b/c.log", "b/d.md", "out/e.md")
    plant(tmp_path, name, text="*.log\n/out/\n")
    found = walk(tmp_path)
    assert [file.path for file in found.files] == ["b/d.md"]
    assert found.skipped["ignore file"] == 3


def test_an_inner_gitignore_overrides_an_outer_one(tmp_path: Path) -> None:
    """Each level may take back what one above it said."""
    plant(tmp_path, "a.log", "b/c.log", "b/d/e.log")
    plant(tmp_path, ".gitignore", text="*.log\n")
    plant(tmp_path, "b/.gitignore", text="!*.log\n")
    plant(tmp_path, "b/d/.gitignore", text="e.*\n")
    assert paths(tmp_path) == ["b/c.log"]


def test_patterns_are_relative_to_their_file(tmp_path: Path) -> None:
    """`/x` in a folder is that folder's x."""
    plant(tmp_path, "x.md", "b/x.md", "b/c/x.md")
    plant(tmp_path, "b/.gitignore", text="/x.md\n")
    assert paths(tmp_path) == ["b/c/x.md", "x.md"]


@pytest.mark.parametrize("place", ["", "b/"], ids=["beside", "above"])
def test_ragignore_has_the_last_say(place: str, tmp_path: Path) -> None:
    """It takes in what a .gitignore leaves out and leaves out what one takes in, at any level."""
    plant(tmp_path, "b/one.md", "b/two.md")
    plant(tmp_path, f"{place}.gitignore", text="one.md\n!two.md\n")
    plant(tmp_path, ".ragignore", text="!one.md\ntwo.md\n")
    assert paths(tmp_path) == ["b/one.md"]


def test_an_inner_ragignore_overrides_an_outer_one(tmp_path: Path) -> None:
    """Among themselves the nearest wins."""
    plant(tmp_path, "b/one.md", "c/one.md")
    plant(tmp_path, ".ragignore", text="one.md\n")
    plant(tmp_path, "b/.ragignore", text="!one.md\n")
    assert paths(tmp_path) == ["b/one.md"]


def test_ragignore_may_open_a_folder_that_git_ignores(tmp_path: Path) -> None:
    """As in git, the folder must be taken in for the files in it to be reached."""
    plant(tmp_path, "build/guide.md", "build/a.o.txt")
    plant(tmp_path, ".gitignore", text="build/\n*.o.txt\n")
    plant(tmp_path, ".ragignore", text="!build/\n")
    assert paths(tmp_path) == ["build/guide.md"]


def test_a_list_of_what_to_keep(tmp_path: Path) -> None:
    """All but the folders and one suffix, the common way to say "only these"."""
    plant(tmp_path, "a.md", "a.txt", "b/c/d.md", "b/c/d.txt", ".git/x.md")
    plant(tmp_path, ".ragignore", text="*\n!*/\n!*.md\n")
    assert paths(tmp_path) == ["a.md", "b/c/d.md"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("*.log\r\n", id="CR LF"),
        pytest.param("\ufeff*.log\n", id="byte order mark"),
        pytest.param("*.log", id="no line end"),
        pytest.param("[z-a\n!\n\\\n[\n*.log\n", id="lines that are no patterns"),
    ],
)
def test_ignore_files_as_editors_leave_them(text: str, tmp_path: Path) -> None:
    """One odd line does not take the others with it."""
    plant(tmp_path, "a.log", "b.md")
    (tmp_path / ".gitignore").write_bytes(text.encode())
    assert paths(tmp_path) == ["b.md"]


def test_an_ignore_file_in_another_encoding_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """Latin-1 in a comment does no harm."""
    plant(tmp_path, "a.log", "b.md")
    (tmp_path / ".gitignore").write_bytes(b"# caf\xe9\n*.log\n")
    assert paths(tmp_path) == ["b.md"]


def test_an_ignore_file_that_cannot_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is indexed all the same."""
    plant(tmp_path, "b/.gitignore", "b/a.md")
    monkeypatch.setattr("builtins.open", refuse)
    found = walk(tmp_path)
    assert found.problems == [("b/.gitignore", "cannot read: Permission denied")]
    assert [file.path for file in found.files] == ["b/a.md"]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_an_ignore_file_must_be_a_file(make: Callable[[str], None], tmp_path: Path) -> None:
    """Anything else of that name says nothing, and a pipe is not waited for."""
    make(str(tmp_path / ".gitignore"))
    plant(tmp_path, "a.md")
    assert paths(tmp_path) == ["a.md"]


def refuse(*args: object, **kwargs: object) -> None:
    """Stand in for a call that the system denies."""
    raise PermissionError(13, "Permission denied")


# Links


def link(root: Path, name: str, target: str | Path) -> None:
    """Make a symbolic link."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).symlink_to(target)


@pytest.mark.parametrize("target", ["file.md", "."], ids=["file", "folder"])
def test_links_out_of_the_folder_are_not_followed(target: str, tmp_path: Path) -> None:
    """What lies outside was not asked for."""
    plant(tmp_path, "outside/file.md", "outside-too/file.md", "root/a.md")
    link(tmp_path / "root", "one", tmp_path / "outside" / target)
    link(tmp_path / "root", "two", Path("..") / "outside" / target)
    link(tmp_path / "root", "three", tmp_path / "outside-too" / target)
    found = walk(tmp_path / "root")
    assert [file.path for file in found.files] == ["a.md"]
    assert found.skipped == {"link out of the folder": 3}


def test_a_link_out_behind_a_link_in_is_not_followed(tmp_path: Path) -> None:
    """Each step is checked, not only the first."""
    plant(tmp_path, "outside/file.md", "root/.store/a.md")
    link(tmp_path / "root", ".store/out", tmp_path / "outside")
    link(tmp_path / "root", "in", ".store")
    assert paths(tmp_path / "root") == ["in/a.md"]


def test_a_file_beats_the_links_to_it(tmp_path: Path) -> None:
    """Each real file once, under its own name, even where a link's name sorts first."""
    plant(tmp_path, "m/real.md")
    link(tmp_path, "a.md", "m/real.md")
    link(tmp_path, "b", "m")
    assert paths(tmp_path) == ["m/real.md"]
    assert walk(tmp_path).skipped == {"same file under another name": 1}


def test_a_hard_link_is_the_same_file(tmp_path: Path) -> None:
    """The first in path order is kept."""
    plant(tmp_path, "b/x.md")
    (tmp_path / "a").mkdir()
    os.link(tmp_path / "b/x.md", tmp_path / "a/x.md")
    assert paths(tmp_path) == ["a/x.md"]


@pytest.mark.parametrize(
    "links",
    [
        pytest.param({"a/self": "self"}, id="to itself"),
        pytest.param({"a/up": ".."}, id="to its parent"),
        pytest.param({"a/root": "../../root"}, id="to the root"),
        pytest.param({"a/x": "../b", "b/y": "../a"}, id="to each other"),
        pytest.param({"a/p": "q", "a/q": "p"}, id="in a ring"),
    ],
)
def test_cycles_of_links_end(links: dict[str, str], tmp_path: Path) -> None:
    """And no file is listed twice."""
    plant(tmp_path / "root", "a/one.md", "b/two.md")
    for name, target in links.items():
        link(tmp_path / "root", name, target)
    assert paths(tmp_path / "root") == ["a/one.md", "b/two.md"]


def test_a_broken_link_is_counted(tmp_path: Path) -> None:
    """It is no problem: there is nothing to index."""
    link(tmp_path, "a.md", "gone.md")
    assert walk(tmp_path) == Discovery(skipped=walk(tmp_path).skipped)
    assert walk(tmp_path).skipped == {"broken link": 1}


def test_a_link_may_show_a_file_of_a_hidden_folder(tmp_path: Path) -> None:
    """Someone has given it a visible name on purpose."""
    plant(tmp_path, ".store/notes.md")
    link(tmp_path, "notes.md", ".store/notes.md")
    assert paths(tmp_path) == ["notes.md"]


@pytest.mark.parametrize("name", ["b/.gitignore", ".ragignore"])
@pytest.mark.parametrize("target", ["b/secret.md", "b/private"], ids=["file", "folder"])
def test_a_link_does_not_show_what_is_ignored(target: str, name: str, tmp_path: Path) -> None:
    """Ignored is ignored, whatever way leads there."""
    plant(tmp_path, "b/secret.md", "b/private/key.md")
    plant(tmp_path, name, text="secret.md\nprivate\n")
    link(tmp_path, "open", target)
    assert paths(tmp_path) == []


def test_a_link_is_named_by_ignore_files_too(tmp_path: Path) -> None:
    """Its own name may be ignored, and that is counted."""
    plant(tmp_path, ".store/a.md")
    plant(tmp_path, ".gitignore", text="shown\n")
    link(tmp_path, "shown", ".store")
    assert walk(tmp_path).skipped == {"hidden": 2, "ignore file": 1}


def test_a_root_that_is_a_link_is_followed(tmp_path: Path) -> None:
    """It was asked for by that name."""
    plant(tmp_path, "real/a.md")
    link(tmp_path, "root", "real")
    assert paths(tmp_path / "root") == ["a.md"]


# A single file


def test_a_file_as_root(tmp_path: Path) -> None:
    """It is found under its own name, by whatever path it was given."""
    plant(tmp_path, "docs/a.md")
    assert paths(tmp_path / "docs/a.md") == ["a.md"]


def test_a_file_as_root_needs_no_rule_s_consent(tmp_path: Path) -> None:
    """Who names a lock file means it."""
    plant(tmp_path, "uv.lock")
    assert paths(tmp_path / "uv.lock") == ["uv.lock"]


def test_a_file_as_root_has_a_size_limit(tmp_path: Path) -> None:
    """Too large is too large."""
    plant(tmp_path, "a.md", text="x" * 1001)
    assert walk(tmp_path / "a.md").problems == [("a.md", "1,001 bytes, over the limit of 1,000")]
    assert walk(tmp_path / "a.md").files == []


# What cannot be read


def test_a_pipe_is_left_out(tmp_path: Path) -> None:
    """Opening one would wait for ever."""
    os.mkfifo(tmp_path / "pipe.md")
    plant(tmp_path, "a.md")
    assert paths(tmp_path) == ["a.md"]
    assert walk(tmp_path).skipped == {"not a regular file": 1}


def test_a_folder_that_cannot_be_listed_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is found."""
    plant(tmp_path, "closed/a.md", "open/b.md")
    monkeypatch.setattr(os, "scandir", refusing(os.scandir, "closed"))
    found = walk(tmp_path)
    assert found.problems == [("closed", "cannot list: Permission denied")]
    assert [file.path for file in found.files] == ["open/b.md"]


def test_a_folder_that_breaks_off_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in the middle of a listing leaves nothing open."""
    plant(tmp_path, "a/b.md", "c.md")
    scandir = os.scandir

    class BreaksOff:
        def __init__(self, listing: Iterator[os.DirEntry[str]]) -> None:
            self.listing: Any = listing

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            return self.entries()

        def __exit__(self, *error: object) -> None:
            self.listing.close()

        def entries(self) -> Iterator[os.DirEntry[str]]:
            yield next(self.listing)
            raise OSError(5, "Input/output error")

    def breaking(folder: str) -> Any:
        return BreaksOff(scandir(folder)) if folder.endswith("a") else scandir(folder)

    monkeypatch.setattr(os, "scandir", breaking)
    found = walk(tmp_path)
    assert found.problems == [("a", "cannot list: Input/output error")]
    assert [file.path for file in found.files] == ["c.md"]


def test_a_root_that_cannot_be_listed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to index then."""
    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(CorpusError, match=r"cannot list .*: Permission denied"):
        walk(tmp_path)


def test_a_file_that_vanishes_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the listing and the look at it."""
    plant(tmp_path, "a.md", "b.md")
    monkeypatch.setattr(os, "stat", refusing(os.stat, "a.md"))
    found = walk(tmp_path)
    assert found.problems == [("a.md", "cannot read: Permission denied")]
    assert [file.path for file in found.files] == ["b.md"]


def refusing(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The call, but denied for paths that end in a name."""

    def guarded(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path).endswith(name):
            refuse()
        return call(path, *args, **kwargs)

    return guarded


@needs_bytes_in_names
@pytest.mark.parametrize("name", [b"caf\xe9.md", b"caf\xe9/a.md"], ids=["file", "folder"])
def test_a_name_that_is_not_utf_8_is_reported(name: bytes, tmp_path: Path) -> None:
    """It could not be written to the index; the report shows its bytes."""
    path = os.path.join(os.fsencode(tmp_path), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(os.fsdecode(path)).write_text("text\n")
    plant(tmp_path, "a.md")
    found = walk(tmp_path)
    assert [file.path for file in found.files] == ["a.md"]
    shown = name.split(b"/")[0].decode("utf-8", "backslashreplace")
    assert found.problems == [(shown, "left out: its name is not UTF-8")]
    found.problems[0][0].encode("utf-8")


@needs_bytes_in_names
def test_a_root_file_whose_name_is_not_utf_8_is_reported(tmp_path: Path) -> None:
    """The same for a single file."""
    path = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), b"caf\xe9.md")))
    path.write_text("text\n")
    assert walk(path).problems == [("caf\\xe9.md", "left out: its name is not UTF-8")]
    assert walk(path).files == []
