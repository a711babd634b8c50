"""Which texts of a chunk are encoded, and chunks found by the nearest of their excerpts."""

from __future__ import annotations

import numpy as np
import pytest

from ragmachine.index.excerpts import AllChunks, Excerpts, NearestChunks, excerpts
from ragmachine.index.vectors import FlatIndex

# chunk 0 has two excerpts, chunk 1 one, chunk 2 two; the last vector is not made yet
ROWS = np.array([[1, 0], [0, 1], [0.6, 0.8], [0.8, 0.6], [0, 0]], dtype=np.float32)
FIRST = np.array([0, 2, 3, 5])


@pytest.fixture
def rows() -> FlatIndex:
    """The excerpts' vectors."""
    index = FlatIndex("float16")
    index.build(ROWS)
    return index


@pytest.mark.parametrize(
    ("length", "pieces"), [(0, [0]), (10, [10]), (1000, [700]), (1001, [700, 301]),
                           (2000, [700, 700, 600])],
)  # fmt: skip
def test_a_chunk_is_cut_where_enough_is_left(length: int, pieces: list[int]) -> None:
    """A short rest gets no vector of its own; even an empty chunk has an excerpt."""
    assert [len(piece) for piece in excerpts("", "x" * length)] == pieces


def test_the_label_leads_each_excerpt() -> None:
    """Also that of a method's second half, which names nothing itself."""
    head, rest = excerpts("Class: A - Method: b", "x" * 1200)
    assert head.startswith("Class: A - Method: b\nxxx")
    assert rest.startswith("Class: A - Method: b\nxxx")
    assert excerpts("Section: Oil", "  \n") == ["Section: Oil"]


def test_heads_come_first() -> None:
    """In the order of chunks that is asked for."""
    assert Excerpts(["a"] * 5, FIRST).ordered([2, 0, 1]) == [3, 0, 2, 4, 1]


def test_a_chunk_counts_once_with_its_nearest_excerpt(rows: FlatIndex) -> None:
    """However many of its excerpts are near, and as many chunks come as are wanted."""
    query = np.array([0, 1], dtype=np.float32)
    ids, similarities = NearestChunks(rows, FIRST).search(query, 3)
    assert ids.tolist() == [0, 1, 2]
    assert similarities.tolist() == pytest.approx([1.0, 0.8, 0.6], abs=0.001)
    assert NearestChunks(rows, FIRST).search(query, 1)[0].tolist() == [0]


def test_near_excerpts_of_one_chunk_push_no_other_out() -> None:
    """Two chunks come, although both excerpts of the first are nearer than the second."""
    index = FlatIndex("float16")
    index.build(np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32))
    query = np.array([1, 0], dtype=np.float32)
    ids, similarities = NearestChunks(index, np.array([0, 2, 3])).search(query, 2)
    assert ids.tolist() == [0, 1]
    assert similarities.tolist() == pytest.approx([1.0, 0.0], abs=0.001)


def test_a_mask_is_of_chunks(rows: FlatIndex) -> None:
    """None of a masked chunk's excerpts is found."""
    query = np.array([1, 0], dtype=np.float32)
    mask = np.array([False, True, True])
    assert NearestChunks(rows, FIRST).search(query, 3, mask)[0].tolist() == [2, 1]


def test_chunks_are_compared_in_any_order(rows: FlatIndex) -> None:
    """One whose vectors are not made yet is similar to nothing; none at all are no error."""
    query, chunks = np.array([0, 1], dtype=np.float32), AllChunks(rows, FIRST)
    assert chunks.compare(query, np.array([2, 0])).tolist() == pytest.approx([0.6, 1.0], abs=0.001)
    in_order = chunks.compare(query, np.array([1, 0, 2])).tolist()
    assert in_order == pytest.approx([0.8, 1.0, 0.6], abs=0.001)
    assert chunks.compare(query, np.array([], dtype=np.int64)).tolist() == []
