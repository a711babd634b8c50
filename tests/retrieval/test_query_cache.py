"""The query cache: it saves time, and never changes an answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from ragmachine.index.hashes import write_hash
from ragmachine.models import SearchResult
from ragmachine.retrieval.cache import QueryCache
from ragmachine.retrieval.ranking import Scored
from workspace import Workspace, read_only

HITS = [Scored(3, 1.5, {"chunk": 1.0, "name": 0.5}), Scored(1, 0.25, {"chunk": 0.25})]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a cache file is to be."""
    return tmp_path / "query_cache.json"


def cache(path: Path, index_id: str = "gen-1", max_entries: int = 10) -> QueryCache:
    """A cache as a process opens it."""
    return QueryCache(str(path), index_id, max_entries)


def saved(path: Path, *keys: str, **options: Any) -> None:
    """Store the hits above under some keys, in a file."""
    writer = cache(path, **options)
    for key in keys:
        writer.put(key, HITS)
    writer.flush()


# --- the file


def test_a_result_comes_back_as_it_was(path: Path) -> None:
    """Another process gets the same chunks, scores and stages, to the last bit."""
    precise = [Scored(7, 0.1 + 0.2, {"chunk": 1 / 3})]
    writer = cache(path)
    writer.put("a", precise)
    writer.flush()
    assert cache(path).get("a") == precise
    assert cache(path).get("b") is None


def test_an_empty_result_is_a_result(path: Path) -> None:
    """That nothing was found is worth remembering too."""
    writer = cache(path)
    writer.put("a", [])
    writer.flush()
    assert cache(path).get("a") == []


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="needs coreutils")
def test_sha256sum_accepts_the_hash_file(path: Path) -> None:
    """`sha256sum -c query_cache.json.hash` confirms the file."""
    saved(path, "a")
    checked = subprocess.run(
        ["sha256sum", "--strict", "-c", "query_cache.json.hash"],  # noqa: S607  (on PATH, above)
        cwd=path.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert checked.stdout == "query_cache.json: OK\n"


def test_nothing_is_written_without_a_flush(path: Path) -> None:
    """A result is on disk when the batch is over, not before."""
    cache(path).put("a", HITS)
    assert os.listdir(path.parent) == []


def test_the_oldest_entries_go_first(path: Path) -> None:
    """Of five results in a file of three the last three stay."""
    for key in "abcde":
        saved(path, key, max_entries=3)
    assert [key for key in "abcde" if cache(path).get(key)] == ["c", "d", "e"]


def test_memory_is_bounded_as_well(path: Path) -> None:
    """A server that never flushes keeps no more than the limit."""
    writer = cache(path, max_entries=3)
    for key in "abcde":
        writer.put(key, HITS)
    assert [key for key in "abcde" if writer.get(key)] == ["c", "d", "e"]


def test_entries_of_other_processes_are_kept(path: Path) -> None:
    """Two that opened the same file both add to it."""
    first, second = cache(path), cache(path)
    first.put("a", HITS)
    second.put("b", HITS)
    first.flush()
    second.flush()
    assert cache(path).get("a") == cache(path).get("b") == HITS


WRITE = """
import sys
from ragmachine.retrieval.cache import QueryCache
from ragmachine.retrieval.ranking import Scored
path, name = sys.argv[1:]
for number in range(20):
    cache = QueryCache(path, "gen-1", 100)
    cache.put(f"{name}{number}", [Scored(number, 1.0, {})])
    cache.flush()
"""


def test_two_processes_that_write_lose_nothing(path: Path) -> None:
    """Forty results of two processes, written one at a time, are all in the file."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(path), name]) for name in ("a", "b")
    ]
    assert [writer.wait(timeout=30) for writer in writers] == [0, 0]
    reader = cache(path, max_entries=100)
    expected = {f"{name}{number}" for name in "ab" for number in range(20)}
    assert {key for key in expected if reader.get(key) is not None} == expected


def test_an_index_that_was_replaced_empties_the_cache(path: Path) -> None:
    """Chunk numbers mean nothing in another index."""
    saved(path, "a")
    assert cache(path, "gen-2").get("a") is None
    saved(path, "b", index_id="gen-2")
    assert cache(path, "gen-2").get("a") is None
    assert cache(path, "gen-2").get("b") == HITS


DAMAGE: dict[str, Any] = {
    "not JSON": b"{oops",
    "empty": b"",
    "not UTF-8": b"\xff\xfe",
    "a list": b"[]",
    "no entries": b'{"format": 2, "index_id": "gen-1"}',
    "entries in a list": {"entries": [1, 2]},
    "rows that are no list": {"entries": {"a": 5}},
    "rows that are words": {"entries": {"a": ["xyz"]}},
    "rows too short": {"entries": {"a": [[1, 2.0]]}},
    "a chunk that is no number": {"entries": {"a": [["1", 2.0, {}]]}},
    "a score that is no number": {"entries": {"a": [[1, None, {}]]}},
    "stages that are none": {"entries": {"a": [[1, 2.0, [1]]]}},
    "another format": {"format": 99},
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_an_empty_cache(path: Path, kind: str) -> None:
    """Whatever it holds, hash or no hash: no error, no result, and the next flush mends it."""
    saved(path, "a")
    content = DAMAGE[kind]
    if isinstance(content, dict):
        content = orjson.dumps({**orjson.loads(path.read_bytes()), **content})
    path.write_bytes(content)
    for _ in range(2):
        assert cache(path).get("a") is None
        write_hash(str(path))  # in the second turn the hash matches
    saved(path, "b")
    assert cache(path).get("b") == HITS


@pytest.mark.parametrize("content", [None, b"", b"0 x\n", b"\xff"], ids=repr)
def test_a_bad_hash_file_is_an_empty_cache(path: Path, content: bytes | None) -> None:
    """Without a hash that matches, a file vouches for nothing."""
    saved(path, "a")
    hash_file = path.with_name("query_cache.json.hash")
    if content is None:
        hash_file.unlink()
    else:
        hash_file.write_bytes(content)
    assert cache(path).get("a") is None


def test_a_file_without_rights_is_no_error(path: Path) -> None:
    """A folder that cannot be written is searched without leaving anything in it."""
    with read_only(path.parent):
        saved(path, "a")
    assert os.listdir(path.parent) == []


def test_a_full_disk_is_no_error_and_leaves_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file stays, and no half-written one lies beside it."""
    saved(path, "a")

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        saved(path, "b")
    assert cache(path).get("a") == HITS
    assert cache(path).get("b") is None
    assert [name for name in os.listdir(path.parent) if "tmp" in name] == []


def test_what_a_killed_process_left_is_cleared(path: Path) -> None:
    """A file half-written by a process that was killed goes with the next flush."""
    path.with_name("query_cache.json.tmp").write_bytes(b"{half")
    saved(path, "a")
    assert sorted(os.listdir(path.parent)) == [
        "query_cache.json",
        "query_cache.json.hash",
        "query_cache.json.lock",
    ]


# --- in a pipeline


@pytest.fixture
def indexed(project: Workspace) -> Workspace:
    """Twenty files of one word and another of their own."""
    for number in range(20):
        project.write(f"f{number:02}.md", f"alpha word{number}\n")
    project.index()
    return project


def ask(project: Workspace, query: str, k: int | None = None, **settings: Any) -> SearchResult:
    """Search as a process of its own would, cache written."""
    pipeline = project.pipeline(**settings)
    result = pipeline.search(query, k)
    pipeline.flush()
    return result


def test_the_second_time_the_cache_answers(indexed: Workspace) -> None:
    """The same hits, and the result says where they came from."""
    first, second = ask(indexed, "alpha"), ask(indexed, "alpha")
    assert (first.is_cached, second.is_cached) == (False, True)
    assert first.hits == second.hits


def test_queries_of_the_same_terms_share_a_result(indexed: Workspace) -> None:
    """What decides a result is what the query is made of, not how it was typed."""
    ask(indexed, "alpha")
    assert ask(indexed, "What is the ALPHA?").is_cached


@pytest.mark.parametrize(
    "changed",
    [
        {"file_weight": 0.7},
        {"passage_weight": 0.7},
        {"name_weight": 0.7},
        {"support_factor": 0.7},
        {"documentation_factor": 0.7},
        {"candidates": 7},
        {"expand_weight": 0.7},
        {"priors": False},
        {"common_share": 0.7},
        {"narrow": False},
        {"retry_coverage": 0.7},
        {"near_duplicates": 0.7},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_changed_setting_is_asked_afresh(indexed: Workspace, changed: dict[str, Any]) -> None:
    """Every setting of the retrieval is part of the key."""
    ask(indexed, "alpha")
    result = ask(indexed, "alpha", **changed)
    assert not result.is_cached
    fresh = indexed.pipeline(use_cache=False, **changed).search("alpha")
    assert result.hits == fresh.hits


def test_another_k_is_asked_afresh(indexed: Workspace) -> None:
    """Ten hits after five are ten, and five after ten are five."""
    assert len(ask(indexed, "alpha", 5).hits) == 5
    ten = ask(indexed, "alpha", 10)
    assert (len(ten.hits), ten.is_cached) == (10, False)
    assert len(ask(indexed, "alpha", 5).hits) == 5


def test_a_new_index_is_asked_afresh(indexed: Workspace) -> None:
    """After a file was added, by this pipeline or another process, it is found."""
    living = indexed.pipeline()
    assert len(living.search("alpha", 100).hits) == 20
    living.flush()
    indexed.write("new.md", "alpha\n")
    indexed.index()
    for pipeline in (living, indexed.pipeline()):
        result = pipeline.search("alpha", 100)
        assert (len(result.hits), result.is_cached) == (21, False)


def test_other_synonyms_are_asked_afresh(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a model adds to a query is part of the key."""
    words = ["word3"]
    monkeypatch.setattr("ragmachine.pipeline.RagPipeline._synonyms", lambda self, query: words)
    first = ask(indexed, "alpha", 1, expand="llm")
    words[:] = ["word7"]
    second = ask(indexed, "alpha", 1, expand="llm")
    assert not second.is_cached
    assert [r.hits[0].chunk.file_path for r in (first, second)] == [
        "corpus/f03.md",
        "corpus/f07.md",
    ]


def test_another_release_is_asked_afresh(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that may rank otherwise does not trust what an older one remembered."""
    ask(indexed, "alpha")
    monkeypatch.setattr("ragmachine.index.provenance.code_digest", lambda parts: "other")
    assert not ask(indexed, "alpha").is_cached


@pytest.mark.parametrize(
    "settings", [{"use_cache": False}, {"cache_entries": 0}], ids=["no_cache", "no entries"]
)
def test_without_a_cache_nothing_is_read_or_written(
    indexed: Workspace, settings: dict[str, Any]
) -> None:
    """Neither a file is made, nor is one that is there believed."""
    ask(indexed, "alpha", **settings)
    assert not list(indexed.folder.glob("query_cache*"))
    ask(indexed, "alpha")
    before = {p.name: p.stat().st_mtime_ns for p in indexed.folder.glob("query_cache*")}
    assert not ask(indexed, "alpha", **settings).is_cached
    ask(indexed, "word3", **settings)
    assert {p.name: p.stat().st_mtime_ns for p in indexed.folder.glob("query_cache*")} == before


def test_a_read_only_index_is_searched_without_an_error(indexed: Workspace) -> None:
    """The result is there, only not remembered."""
    with read_only(indexed.folder):
        assert len(ask(indexed, "alpha").hits) == 10
        assert not ask(indexed, "alpha").is_cached


def test_a_damaged_cache_does_not_change_a_search(indexed: Workspace) -> None:
    """The search goes on as if there had been no cache, and the file is mended."""
    expected = ask(indexed, "alpha").hits
    (indexed.folder / "query_cache.json").write_text(json.dumps({"entries": {}}))
    result = ask(indexed, "alpha")
    assert (result.hits, result.is_cached) == (expected, False)
    assert ask(indexed, "alpha").is_cached
