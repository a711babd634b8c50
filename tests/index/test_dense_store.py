"""Vectors beside the generations: made once, published as they come, never of another index."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmachine.errors import IndexBusyError
from ragmachine.index import dense, embed
from ragmachine.index.dense import DenseStore
from ragmachine.index.embed import DenseProgress, embed_index, refresh_vectors
from ragmachine.index.excerpts import excerpts
from ragmachine.index.lock import exclusive
from toy_encoder import ToyEncoder
from workspace import Workspace

OUTSIDE = '{"generation": "", "encoder": "", "dimensions": 1, "name": "..", "known": 1}'


@pytest.fixture
def indexed(project: Workspace) -> Workspace:
    """An index of three files of one chunk each."""
    for name in ("ash", "birch", "cedar"):
        project.write(f"{name}.md", f"# {name}\n\nThe {name} is a tree.\n")
    project.index()
    return project


def store_of(project: Workspace) -> DenseStore:
    """The vectors of the project's index folder."""
    return DenseStore(str(project.folder))


def test_nothing_was_built(indexed: Workspace) -> None:
    """An index without vectors has none, and a refresh makes none."""
    assert store_of(indexed).open(indexed.open()) is None
    assert refresh_vectors(store_of(indexed), indexed.open()) == 0
    assert not (indexed.folder / "dense-vectors").exists()


def test_a_short_chunk_has_the_vector_of_its_head(indexed: Workspace) -> None:
    """Rows stand in the order of the chunks, and are what the encoder makes of their heads."""
    index = indexed.open()
    report = embed_index(store_of(indexed), index, ToyEncoder())
    opened = store_of(indexed).open(index)
    assert opened is not None
    assert (report.chunks, report.excerpts, report.encoded) == (3, 3, 3)
    assert (opened.known, opened.total) == (3, 3)
    heads = [
        head
        for n in range(index.chunk_count)
        for head in excerpts(index.labels[n], index.chunk(n).text)
    ]
    expected = ToyEncoder().encode(heads)
    for chunk, vector in enumerate(expected):
        ids, similarities = opened.near.search(vector, 1)
        assert ids.tolist() == [chunk]
        assert similarities[0] == pytest.approx(1.0, abs=0.01)


def test_a_changed_file_alone_is_encoded_again(indexed: Workspace) -> None:
    """After an edit the new generation has the old vectors at once and needs one more."""
    embed_index(store_of(indexed), indexed.open(), ToyEncoder())
    indexed.write("birch.md", "# birch\n\nWhite bark.\n", age_s=0)
    indexed.index()
    opened = store_of(indexed).open(indexed.open())
    assert opened is not None
    assert opened.known == 2
    assert refresh_vectors(store_of(indexed), indexed.open()) == 1
    encoder = ToyEncoder()
    embed_index(store_of(indexed), indexed.open(), encoder)
    assert len(encoder.encoded) == 1
    assert "White bark." in encoder.encoded[0]


def test_an_interrupted_run_keeps_what_it_has_done(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted after two texts, the next run encodes the third alone."""
    monkeypatch.setattr(embed, "_SLICE_TEXTS", 1)
    with pytest.raises(KeyboardInterrupt):
        embed_index(store_of(indexed), indexed.open(), ToyEncoder(fail_after=2))
    encoder = ToyEncoder()
    embed_index(store_of(indexed), indexed.open(), encoder)
    assert len(encoder.encoded) == 1


def test_what_is_done_answers_while_the_rest_is_made(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Published after each slice: a reader sees the first chunk of `order` before the others."""
    monkeypatch.setattr(embed, "_SLICE_TEXTS", 1)
    monkeypatch.setattr(embed, "_FIRST_PUBLICATION_S", 0.0)
    index = indexed.open()
    seen: list[set[int]] = []
    looked_for = ToyEncoder().encode_query("tree")

    def look(progress: DenseProgress) -> None:
        opened = store_of(indexed).open(index)
        similar = (
            {} if opened is None else dict(zip(*opened.exact.search(looked_for, 3), strict=True))
        )
        seen.append({int(chunk) for chunk, similarity in similar.items() if similarity})
        assert progress.total == 3

    embed_index(store_of(indexed), index, ToyEncoder(), order=[2, 0, 1], on_progress=look)
    assert {2} in seen
    assert {0, 2} in seen


def test_damaged_vectors_are_none(indexed: Workspace) -> None:
    """A flipped byte is noticed; the next run publishes the vectors again without encoding."""
    embed_index(store_of(indexed), indexed.open(), ToyEncoder())
    (path,) = (indexed.folder / "dense-vectors").glob("vec-*/vectors.npy")
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    assert store_of(indexed).open(indexed.open()) is None
    encoder = ToyEncoder()
    embed_index(store_of(indexed), indexed.open(), encoder)
    assert encoder.encoded == []
    assert store_of(indexed).open(indexed.open()) is not None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"generation": 1}', OUTSIDE],
    ids=["empty", "cut", "a list", "another type", "a path"],
)  # fmt: skip
def test_a_garbled_state_is_no_state(indexed: Workspace, content: str) -> None:
    """Whatever stands in the state file, the worst is that there are no vectors."""
    embed_index(store_of(indexed), indexed.open(), ToyEncoder())
    (indexed.folder / "dense-vectors" / "current.json").write_text(content)
    assert store_of(indexed).open(indexed.open()) is None


def test_one_process_at_a_time(indexed: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run says that another process is at it."""
    monkeypatch.setattr(dense, "_LOCK_TIMEOUT_S", 0.0)
    Path(indexed.folder / "dense-vectors").mkdir()
    with (
        exclusive(str(indexed.folder / "dense-vectors" / "dense.lock"), timeout_s=0.0),
        pytest.raises(IndexBusyError, match="another process"),
    ):
        embed_index(store_of(indexed), indexed.open(), ToyEncoder())


def test_another_encoder_has_vectors_of_its_own(indexed: Workspace) -> None:
    """Vectors of one encoder are never taken for those of another, and both stay cached."""
    embed_index(store_of(indexed), indexed.open(), ToyEncoder(name="first"))
    second = ToyEncoder(name="second")
    embed_index(store_of(indexed), indexed.open(), second)
    assert len(second.encoded) == 3
    again = ToyEncoder(name="first")
    embed_index(store_of(indexed), indexed.open(), again)
    assert again.encoded == []


def test_what_follows_the_head_is_found_too(project: Workspace) -> None:
    """A long chunk has more vectors than one, and is found by the nearest of them."""
    filler = "Nothing of note stands here at all. " * 20
    project.write("long.txt", f"{filler}\nThe walnut is sweet. " + "Nuts are good food. " * 18)
    project.write("short.txt", "Oak and elm.\n")
    project.index()
    index, encoder = project.open(), ToyEncoder()
    report = embed_index(store_of(project), index, encoder)
    assert (report.chunks, report.excerpts) == (2, 3)
    state = store_of(project).state()
    assert state is not None
    assert (state["chunks"], state["known"]) == (2, 3)
    assert sum("walnut" in text for text in encoder.encoded) == 1
    opened = store_of(project).open(index)
    assert opened is not None
    looked_for = ToyEncoder().encode_query("walnut sweet nuts good food")
    ids, similarities = opened.near.search(looked_for, 2)
    assert ids.tolist() == [0, 1]
    assert similarities[0] > 0.4
    assert opened.exact.compare(looked_for, ids).tolist() == similarities.tolist()
