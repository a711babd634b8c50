"""From a folder to an index: odd files, empty corpora, exact offsets."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmachine.chunking.builder import NodeContext
from ragmachine.errors import CorpusError, IndexationError
from ragmachine.index import build as build_module
from ragmachine.index import workers
from ragmachine.index.analyze import label_of, metadata_line
from ragmachine.index.build import build_index
from ragmachine.index.request import BuildRequest, Shape, locate
from ragmachine.index.store import IndexStore
from workspace import Workspace

# --- odd files


def test_strict_names_the_odd_file_and_keeps_the_old_index(project: Workspace) -> None:
    """Under `strict` one odd file fails the run, and the index that was there still answers."""
    project.write("good.md", "alpha\n")
    project.index()
    project.write("bad.md", b"caf\xe9\n")
    project.write("worse.md", b"caf\xe9\n")
    with pytest.raises(IndexationError, match=r"bad\.md: byte 3 is not UTF-8.*1 more") as caught:
        project.index(strict=True)
    assert "--strict" in caught.value.remedy
    assert project.found("alpha") == ["good.md"]
    assert project.open().files == ["good.md"]
    assert project.leftovers() == []


def test_strict_also_refuses_an_unchanged_index_with_problems(project: Workspace) -> None:
    """What a lenient run let pass is refused by a strict one, though nothing changed since."""
    project.write("bad.md", b"caf\xe9\n")
    project.index()
    with pytest.raises(IndexationError, match=r"bad\.md"):
        project.index(strict=True)


def test_strict_lets_a_good_folder_pass(project: Workspace) -> None:
    """Omissions by rule, such as binary files, are no problems."""
    project.write("good.md", "alpha\n")
    project.write("blob", b"\0\1\2")
    assert project.index(strict=True).files == 1


def test_one_bad_file_among_good_ones_is_reported(project: Workspace) -> None:
    """Bytes that are not UTF-8 are read as Latin-1 and reported, and the run goes on."""
    project.write("a.md", "alpha\n")
    project.write("b.md", b"beta caf\xe9\n")
    report = project.index()
    assert report.files == 2
    assert report.problems == (("b.md", "byte 8 is not UTF-8: read as Latin-1"),)
    assert project.found("café") == ["b.md"]


def test_a_file_that_vanishes_during_the_run_is_reported(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the walk and the reading a file may go; the others are indexed."""
    project.write("a.md", "alpha\n")
    gone = project.write("b.md", "beta\n")
    real = build_module.find_sources

    def find_then_remove(*args: Any, **kwargs: Any) -> Any:
        found = real(*args, **kwargs)
        gone.unlink()
        return found

    monkeypatch.setattr(build_module, "find_sources", find_then_remove)
    report = project.index()
    assert report.files == 1
    assert report.problems == (("b.md", "cannot read: No such file or directory"),)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
def test_a_file_whose_name_is_not_utf8_is_reported(project: Workspace) -> None:
    """JSON cannot name it, so it is left out; everything else is indexed, and a rerun agrees."""
    project.write("a.md", "alpha\n")
    Path(os.fsdecode(os.fsencode(project.corpus) + b"/caf\xe9.md")).write_text("beta\n")
    report = project.index()
    assert report.files == 1
    assert ["not UTF-8" in reason for _, reason in report.problems] == [True]
    assert project.index().is_unchanged


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
def test_a_folder_whose_name_is_not_utf8_is_refused(project: Workspace) -> None:
    """No result could name a file in it: a clear error instead of one while writing."""
    folder = os.fsdecode(os.fsencode(project.root) + b"/caf\xe9")
    os.mkdir(folder)
    with pytest.raises(CorpusError, match="is not UTF-8"):
        project.pipeline().index(folder)


def test_names_with_spaces_letters_and_newlines_are_kept(project: Workspace) -> None:
    """Whatever else a name holds comes back as it is."""
    names = ["a b.md", "naïve/中文.md", "line\nbreak.md", "quote'\".md"]
    for name in names:
        project.write(name, "alpha\n")
    project.index()
    assert sorted(project.found("alpha")) == sorted(names)


def test_a_broken_worker_pool_is_made_up_for(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no worker process can be started, the work is done in this one."""
    tried: list[int] = []

    def no_processes(*args: object, **kwargs: object) -> None:
        tried.append(1)
        raise OSError("Function not implemented")

    monkeypatch.setattr(workers, "ProcessPoolExecutor", no_processes)
    monkeypatch.setattr(workers, "_KEEPING_THREADS", ())  # nothing is forked here
    monkeypatch.setattr(workers, "_MIN_BYTES_FOR_WORKERS", 0)
    monkeypatch.setattr(workers, "_BATCH_BYTES", 1)
    for name in "abc":
        project.write(f"{name}.md", "alpha\n")
    assert project.index(workers=2).files == 3
    assert tried
    assert len(project.found("alpha")) == 3


def test_an_index_inside_its_corpus_does_not_index_itself(project: Workspace) -> None:
    """The project root as the corpus: the index folder below it is no document."""
    project.write("a.md", "alpha " * 100)
    pipeline = project.pipeline(max_file_bytes=700)  # files of the index are larger
    first, second = pipeline.index(project.root), pipeline.index(project.root)
    assert first.files == second.files == 1
    assert second.problems == ()
    assert second.is_unchanged


def test_an_index_in_the_very_folder_of_its_corpus(project: Workspace) -> None:
    """Even index and corpus in one folder keep apart; documents with like names are indexed."""
    for name in ("a.md", "index.md", "gen-notes/CURRENT.md"):
        project.write(name, "alpha\n")
    pipeline = project.pipeline()
    store = IndexStore(str(project.corpus))
    request = BuildRequest(str(project.corpus), "corpus", Shape(2000, 0), 10**6, workers=1)
    assert build_index(store, request).files == 3
    assert build_index(store, request).is_unchanged
    del pipeline


# --- hardly any text


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"empty.md": ""},
        {"blank.md": " \n\t\n"},
        {"image": b"\0\1\2"},
    ],
    ids=["no file", "an empty file", "a blank file", "a binary file"],
)
def test_a_corpus_without_text_is_a_valid_empty_index(
    project: Workspace, files: dict[str, Any]
) -> None:
    """It opens, answers every query with nothing, and says why."""
    for name, content in files.items():
        project.write(name, content)
    report = project.index()
    assert (report.chunks, report.terms) == (0, 0)
    assert project.index().is_unchanged
    result = project.pipeline().search("alpha")
    assert result.hits == ()
    assert result.notice == "the index is empty: no file in it held text"


def test_a_corpus_of_stopwords_is_a_valid_index(project: Workspace) -> None:
    """Its chunks hold no term but those of the path; no division by a length of nothing."""
    project.write("zebra.txt", "the of and the of\n")
    report = project.index()
    assert (report.files, report.chunks) == (1, 1)
    assert project.found("the of and") == []
    assert project.found("zebra") == ["zebra.txt"]


def test_a_corpus_of_one_file(project: Workspace) -> None:
    """The smallest corpus: its one chunk is found, another word is not."""
    project.write("a.md", "alpha\n")
    assert project.index().chunks == 1
    assert project.found("alpha") == ["a.md"]
    assert project.found("omega") == []


def test_a_word_of_paths_alone_is_found(project: Workspace) -> None:
    """A word that no text holds, but a file's name does, finds the file."""
    project.write("zebra.md", "alpha\n")
    project.write("other.md", "alpha beta\n")
    project.index()
    assert project.found("zebra") == ["zebra.md"]


# --- the text and its place

ENCODINGS: dict[str, tuple[str, str]] = {
    "UTF-8": ("utf-8", ""),
    "UTF-8 with a mark": ("utf-8", "\ufeff"),
    "UTF-16 little-endian": ("utf-16-le", "\ufeff"),
    "UTF-16 big-endian": ("utf-16-be", "\ufeff"),
    "Latin-1": ("latin-1", ""),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CR LF", "CR"])
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", ["notes.txt", "guide.md", "code.py"])
def test_offsets_and_lines_are_exact(
    project: Workspace, name: str, encoding: str, newline: str
) -> None:
    """text[start:end] of the untranslated file is the chunk, whatever its encoding and lines."""
    lines = [f"# caf\xe9 {n}" if n % 9 == 0 else f"word_{n} = '\xfc{n}'" for n in range(200)]
    codec, mark = ENCODINGS[encoding]
    text = mark + newline.join(lines) + newline
    project.write(name, text.encode(codec))
    project.index(max_chunk_size=300)
    index = project.open()
    assert index.chunk_count > 5
    for number in range(index.chunk_count):
        chunk = index.chunk(number)
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.first_line == text[: chunk.start].count(newline) + 1
        assert chunk.last_line == text[: chunk.end - 1].count(newline) + 1


@settings(max_examples=40, deadline=None)
@given(
    text=st.text(alphabet="ab \n\r\t\ufeff\xe9中\U0001f600#=\x0c", max_size=400),
    overlap=st.integers(0, 15),
)
def test_any_text_is_reproduced(
    tmp_path_factory: pytest.TempPathFactory, text: str, overlap: int
) -> None:
    """Every chunk of any text is that text's own span, within the limit, overlapping or not."""
    project = Workspace(tmp_path_factory.mktemp("text"))
    project.write("notes.txt", text)
    store = IndexStore(str(project.folder))
    build_index(store, BuildRequest(str(project.corpus), "c", Shape(16, overlap), 10**6, workers=1))
    index = project.open()
    assert index.file_text("c/notes.txt") == (text if index.files else None)
    for number in range(index.chunk_count):
        chunk = index.chunk(number)
        assert chunk.text == text[chunk.start : chunk.end]
        assert 0 < len(chunk.text) <= 16


def test_lines_of_a_large_file_with_cr_lf_are_counted_in_time(project: Workspace) -> None:
    """Line numbers are looked up, not counted from the start: half a million lines take seconds."""
    project.write("log.txt", "ab\r\n" * 500_000)
    began = time.perf_counter()
    project.index()
    assert time.perf_counter() - began < 6


def test_overlapping_chunks_repeat_whole_lines(project: Workspace) -> None:
    """With an overlap, a chunk begins with lines that the one before it ended with."""
    project.write("notes.txt", "".join(f"line {n:04}\n" for n in range(100)))
    project.index(max_chunk_size=200, overlap=25)
    index = project.open()
    first, second = index.chunk(0), index.chunk(1)
    assert second.start == first.end + 1 - 20
    assert second.text.startswith("line ")


def test_labels_leave_out_imports_beside_other_places() -> None:
    """A chunk of imports and a function is labelled by the function."""
    imports = NodeContext(kind="imports")
    function = NodeContext(kind="function", name="run")
    assert label_of([imports, function]) == "Function: run"
    assert label_of([imports]) == "Imports"
    assert label_of([NodeContext()]) == ""


def test_the_injected_line_tells_place_and_file() -> None:
    """The form of the metadata that is indexed along with a chunk."""
    method = NodeContext(kind="method", name="step", parents=("Engine",))
    assert metadata_line(label_of([method]), "a.py") == "Class: Engine - Method: step | File: a.py"
    assert metadata_line("", "a.txt") == "File: a.txt"


# --- where the corpus is


@pytest.mark.parametrize(
    ("given", "display"),
    [
        ("corpus", "corpus"),
        ("corpus/", "corpus"),
        ("./corpus/../corpus", "corpus"),
        ("{root}/corpus", "corpus"),
        ("{root}", ""),
        ("{root}/corpus/a b/é", "corpus/a b/é"),
        ("{root}/corpus/one.md", "corpus"),
    ],
    ids=["relative", "slash", "dots", "absolute", "root", "odd letters", "one file"],
)
def test_paths_begin_as_the_contract_says(project: Workspace, given: str, display: str) -> None:
    """Relative to the project root in POSIX form, however the folder was named."""
    project.write("one.md", "alpha\n")
    absolute, found = locate(given.format(root=project.root), str(project.root))
    assert os.path.isabs(absolute)
    assert found == display


def test_a_folder_outside_the_project_keeps_its_absolute_path(
    project: Workspace, tmp_path: Path
) -> None:
    """There is no relative form without climbing up."""
    assert locate(tmp_path / "other", str(project.root)) == (
        str(tmp_path / "other"),
        str(tmp_path / "other"),
    )


def test_the_current_folder_comes_before_the_project_root(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`corpus` typed beside a folder of that name means that one."""
    here = project.root / "elsewhere"
    (here / "corpus").mkdir(parents=True)
    monkeypatch.chdir(here)
    assert locate("corpus", str(project.root))[1] == "elsewhere/corpus"


def test_a_link_to_the_project_is_the_project(project: Workspace, tmp_path: Path) -> None:
    """Whether the root or the folder is named by way of a link, paths stay relative."""
    link = tmp_path / "link"
    link.symlink_to(project.root)
    assert locate(link / "corpus", str(project.root))[1] == "corpus"
    assert locate(project.corpus, str(link))[1] == "corpus"


def test_a_linked_folder_in_the_project_keeps_its_name_there(
    project: Workspace, tmp_path: Path
) -> None:
    """A corpus linked into the project is named as in the project, not by where it lies."""
    (tmp_path / "elsewhere").mkdir()
    (project.root / "linked").symlink_to(tmp_path / "elsewhere")
    assert locate("linked", str(project.root))[1] == "linked"
