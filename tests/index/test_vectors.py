"""Vector indexes: exact ones against brute force, approximate ones against exact, and files."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmachine.errors import IndexCorruptError, RagError, StorageError
from ragmachine.index import ann
from ragmachine.index.ann import HnswIndex, IvfPqIndex, load_vectors
from ragmachine.index.vectors import FlatIndex, Precision, VectorIndex, top_k

needs_faiss = pytest.mark.skipif(
    importlib.util.find_spec("faiss") is None, reason="the extra `ann` is not installed"
)
FLAT = {"float16": lambda: FlatIndex("float16"), "int8": lambda: FlatIndex("int8")}
APPROXIMATE = {"hnsw": lambda: HnswIndex(links=8), "ivfpq": lambda: IvfPqIndex(pieces=8)}
flat_kinds = pytest.mark.parametrize("make", FLAT.values(), ids=FLAT)
approximate_kinds = pytest.mark.parametrize("make", APPROXIMATE.values(), ids=APPROXIMATE)
all_kinds = pytest.mark.parametrize(
    "make",
    [
        *(pytest.param(make, id=name) for name, make in FLAT.items()),
        *(pytest.param(make, id=name, marks=needs_faiss) for name, make in APPROXIMATE.items()),
    ],
)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Threads of faiss wait for each other busily: on a machine at work that takes seconds."""
    if importlib.util.find_spec("faiss"):
        faiss = importlib.import_module("faiss")
        faiss.omp_set_num_threads(1)


Floats = npt.NDArray[np.float32]
Make = Callable[[], VectorIndex]


def units(count: int, dimensions: int, seed: int = 0) -> Floats:
    """Random vectors of length 1."""
    vectors = np.random.default_rng(seed).standard_normal((count, dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def built(make: Make, vectors: Floats) -> VectorIndex:
    """An index of the vectors."""
    index = make()
    index.build(vectors)
    return index


@flat_kinds
def test_the_nearest_first(make: Make) -> None:
    """Along the first axis: 1, then 0.8, then 0.6; the opposite comes last."""
    vectors = np.array([[0.6, 0.8], [1, 0], [-1, 0], [0.8, 0.6]], dtype=np.float32)
    ids, similarities = built(make, vectors).search(np.array([1, 0]), 4)
    assert ids.tolist() == [1, 3, 0, 2]
    assert (ids.dtype, similarities.dtype) == (np.int64, np.float32)
    np.testing.assert_allclose(similarities, [1, 0.8, 0.6, -1], atol=5e-3)


@settings(deadline=None)
@given(
    count=st.integers(1, 300),
    dimensions=st.integers(1, 70),
    k=st.integers(0, 40),
    seed=st.integers(0, 2**31),
    precision=st.sampled_from(["float16", "int8"]),
    allowed=st.none() | st.floats(0, 1),
)
def test_flat_search_is_brute_force_up_to_rounding(
    count: int, dimensions: int, k: int, seed: int, precision: Precision, allowed: float | None
) -> None:
    """Whoever is found is as similar as whoever should be, and is told its true similarity."""
    vectors = units(count, dimensions, seed)
    query = units(1, dimensions, seed + 1)[0]
    mask = None if allowed is None else np.random.default_rng(seed).random(count) < allowed
    index = FlatIndex(precision)
    index.build(vectors)
    ids, similarities = index.search(query, k, mask)
    true = vectors @ query
    reachable = np.arange(count) if mask is None else np.flatnonzero(mask)
    assert len(ids) == min(k, len(reachable))
    assert set(ids.tolist()) <= set(reachable.tolist())
    # Half a step of int8 is 1 / 254 of the largest part; float16 has 11 bits.
    error = (1 / 254 if precision == "int8" else 2**-11) * dimensions**0.5 + 1e-5
    np.testing.assert_allclose(similarities, true[ids], atol=error)
    best = np.sort(true[reachable])[::-1][: len(ids)]
    np.testing.assert_allclose(np.sort(true[ids])[::-1], best, atol=2 * error)


@given(st.lists(st.integers(-3, 3), max_size=60), st.integers(0, 70))
def test_ties_go_to_the_smaller_id(values: list[int], k: int) -> None:
    """Against a plain sort by value and id."""
    ids, found = top_k(np.array(values, dtype=np.float32), k)
    expected = sorted(range(len(values)), key=lambda n: (-values[n], n))[:k]
    assert ids.tolist() == expected
    assert found.tolist() == [values[n] for n in expected]


def test_rounding_errors_are_ties() -> None:
    """Equal vectors may differ in the last bit of a sum: the smaller id still comes first."""
    similarities = np.array([0.25, 0.5, np.nextafter(np.float32(0.5), 1), 0.4], dtype=np.float32)
    assert top_k(similarities, 1)[0].tolist() == [1]
    assert top_k(similarities, 2)[0].tolist() == [1, 2]
    assert top_k(similarities, 3)[1].tolist() == pytest.approx([0.5, 0.5, 0.4])


def test_each_int8_vector_has_a_scale_of_its_own() -> None:
    """Single axes and even spreads in turn, and a mask that lets few of the latter through."""
    vectors = np.zeros((400, 64), dtype=np.float32)
    vectors[::2, 0] = 1
    vectors[1::2] = 1 / 8
    mask = np.zeros(400, dtype=np.bool_)
    mask[[7, 300, 301]] = True
    ids, similarities = built(FLAT["int8"], vectors).search(vectors[1], 3, mask)
    assert ids.tolist() == [7, 301, 300]
    np.testing.assert_allclose(similarities, [1, 1, 1 / 8], atol=1e-5)


@flat_kinds
def test_equal_vectors_are_equal(make: Make) -> None:
    """500 copies of 3 vectors: wherever they lie, the smallest ids of the nearest come first."""
    vectors = np.tile(units(3, 384), (500, 1))
    ids, similarities = built(make, vectors).search(vectors[1], 40)
    assert ids.tolist() == list(range(1, 120, 3))
    assert len(set(similarities.tolist())) == 1


@flat_kinds
@pytest.mark.parametrize("share", [0.01, 0.9], ids=["few rows are fetched", "all are read"])
def test_masks_hide_the_rest(make: Make, share: float) -> None:
    """What a mask forbids is never found, however near it is."""
    vectors = units(1000, 32)
    mask = np.random.default_rng(1).random(1000) < share
    forbidden = int(np.flatnonzero(~mask)[0])
    ids, _ = built(make, vectors).search(vectors[forbidden], 1000, mask)
    assert sorted(ids.tolist()) == np.flatnonzero(mask).tolist()


@all_kinds
def test_nothing_to_find(make: Make) -> None:
    """An empty index, a mask that hides everything and k of 0 find nothing."""
    empty = built(make, np.zeros((0, 16), dtype=np.float32))
    index = built(make, units(300, 16))
    query = units(1, 16)[0]
    for found in (
        empty.search(query, 5),
        index.search(query, 5, np.zeros(300, dtype=np.bool_)),
        index.search(query, 0),
    ):
        assert [part.shape for part in found] == [(0,), (0,)]


@all_kinds
def test_saved_and_loaded(make: Make, tmp_path: Path) -> None:
    """The same answers, sizes and kind."""
    index = built(make, units(300, 16))
    index.save(str(tmp_path / "made" / "here"))
    loaded = load_vectors(str(tmp_path / "made" / "here"))
    assert type(loaded) is type(index)
    assert (loaded.count, loaded.dimensions) == (300, 16)
    query = units(1, 16, seed=5)[0]
    for mask in (None, np.arange(300) % 3 == 0):
        for before, after in zip(
            index.search(query, 7, mask), loaded.search(query, 7, mask), strict=True
        ):
            assert before.tolist() == after.tolist()


@all_kinds
def test_an_empty_index_can_be_saved(make: Make, tmp_path: Path) -> None:
    """No vectors, or not even built."""
    for name, index in (("empty", built(make, np.zeros((0, 4)))), ("new", make())):
        index.save(str(tmp_path / name))
        assert load_vectors(str(tmp_path / name)).count == 0


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One saved index of each kind that can be made here."""
    made = FLAT | (APPROXIMATE if importlib.util.find_spec("faiss") else {})
    folders = {}
    for name, make in made.items():
        folders[name] = tmp_path_factory.mktemp(name)
        built(make, units(300, 16)).save(str(folders[name]))
    return folders


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_files_cut_short_are_named(saved: dict[str, Path], data: st.DataObject) -> None:
    """Cut at any byte, each file of each kind is one error that names it."""
    folder = saved[data.draw(st.sampled_from(sorted(saved)))]
    name = data.draw(st.sampled_from(sorted(path.name for path in folder.iterdir())))
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(folder, f"{scratch}/copy"))
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
        with pytest.raises(IndexCorruptError, match=name):
            load_vectors(str(copy))


def test_a_missing_file_is_named(saved: dict[str, Path], tmp_path: Path) -> None:
    """Each file of each kind in turn."""
    for kind, folder in saved.items():
        for path in folder.iterdir():
            copy = Path(shutil.copytree(folder, tmp_path / kind / path.name))
            (copy / path.name).unlink()
            with pytest.raises(IndexCorruptError, match=path.name):
                load_vectors(str(copy))


@pytest.mark.parametrize(
    "document",
    [
        "[]",
        '{"format": 2, "kind": "flat", "count": 0, "dimensions": 0, "precision": "int8"}',
        '{"format": 1, "kind": "tree", "count": 0, "dimensions": 0}',
        '{"format": 1, "kind": "flat", "count": -1, "dimensions": 0, "precision": "int8"}',
        '{"format": 1, "kind": "flat", "count": 0, "dimensions": 0, "precision": "int4"}',
        '{"format": 1, "kind": "flat", "count": "many", "dimensions": 0, "precision": "int8"}',
        '{"format": 1, "kind": "hnsw", "count": 0, "dimensions": 0, "parameters": {"m": 1}}',
    ],
    ids=["a list", "format", "kind", "count", "precision", "no number", "parameters"],
)
def test_garbled_descriptions(document: str, tmp_path: Path) -> None:
    """Whatever vectors.json says, the error names it."""
    (tmp_path / "vectors.json").write_text(document)
    with pytest.raises(IndexCorruptError, match=r"vectors\.json"):
        load_vectors(str(tmp_path))


def test_pickles_are_not_opened(tmp_path: Path) -> None:
    """An array of objects runs code when it is loaded: it is refused as damage."""
    built(FLAT["int8"], units(3, 4)).save(str(tmp_path))
    np.save(tmp_path / "vectors.npy", np.array([{}, {}, {}], dtype=object), allow_pickle=True)
    with pytest.raises(IndexCorruptError, match=r"vectors\.npy"):
        FlatIndex.load(str(tmp_path))


@needs_faiss
def test_faiss_never_parses_an_altered_file(saved: dict[str, Path], tmp_path: Path) -> None:
    """One flipped bit, and its parser, which trusts what it reads, is not asked."""
    copy = Path(shutil.copytree(saved["hnsw"], tmp_path / "copy"))
    content = bytearray((copy / "index.faiss").read_bytes())
    content[len(content) // 2] ^= 1
    (copy / "index.faiss").write_bytes(content)
    with pytest.raises(IndexCorruptError, match=r"index\.faiss"):
        HnswIndex.load(str(copy))


@all_kinds
def test_a_disk_that_refuses(make: Make, tmp_path: Path) -> None:
    """A file where the folder should be is a StorageError."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageError, match="taken"):
        built(make, units(300, 16)).save(str(tmp_path / "taken"))


@all_kinds
def test_mistakes_of_the_caller(make: Make) -> None:
    """Shapes that do not fit, numbers that are none, and a negative k."""
    index = built(make, units(300, 16))
    query = units(1, 16)[0]
    with pytest.raises(ValueError, match="query"):
        index.search(query[:3], 5)
    with pytest.raises(ValueError, match="mask"):
        index.search(query, 5, np.ones(3, dtype=np.bool_))
    with pytest.raises(ValueError, match="k is not"):
        index.search(query, -1)
    with pytest.raises(ValueError, match="two axes"):
        make().build(query)
    with pytest.raises(ValueError, match="finite"):
        make().build(np.full((300, 16), np.nan))


@needs_faiss
@pytest.mark.parametrize(("name", "least"), [("hnsw", 0.95), ("ivfpq", 0.6)])
def test_approximate_indexes_mostly_agree(name: str, least: float) -> None:
    """Mean share of the true ten among the ten found, over 50 queries in clustered vectors."""
    centres = units(40, 32)
    rng = np.random.default_rng(0)
    vectors = centres[rng.integers(0, 40, 2000)] + 0.1 * rng.standard_normal((2000, 32))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    make = {"hnsw": HnswIndex, "ivfpq": lambda: IvfPqIndex(pieces=16)}[name]
    index = built(make, vectors)
    shares = []
    for query in vectors[:50]:
        ids, similarities = index.search(query, 10)
        true = np.argsort(-(vectors @ query), kind="stable")[:10]
        shares.append(len(set(ids.tolist()) & set(true.tolist())) / 10)
        assert len(ids) == 10
        assert (np.diff(similarities) <= 0).all()
    assert np.mean(shares) >= least


@needs_faiss
@approximate_kinds
@pytest.mark.parametrize("kept", [3, 30, 200, 1500], ids=lambda kept: f"{kept} of 2000")
def test_a_mask_never_empties_a_result(make: Make, kept: int) -> None:
    """There are k results whenever the mask lets k through, and none that it forbids."""
    vectors = units(2000, 16)
    mask = np.zeros(2000, dtype=np.bool_)
    mask[np.argsort(vectors[:, 0])[:kept]] = True  # far away from the query
    query = np.eye(16, dtype=np.float32)[0]
    ids, _ = built(make, vectors).search(query, 20, mask)
    assert len(ids) == len(set(ids.tolist())) == min(kept, 20)
    assert mask[ids].all()


@needs_faiss
def test_more_than_the_probed_lists_hold() -> None:
    """One probe of 50 finds about 40 of 2000: asked for 500, the index looks everywhere."""
    vectors = units(2000, 16)
    index = built(lambda: IvfPqIndex(lists=50, probes=1, pieces=8), vectors)
    assert len(index.search(vectors[0], 500)[0]) == 500


@needs_faiss
def test_too_few_vectors_to_learn_from(capfd: pytest.CaptureFixture[str]) -> None:
    """Five vectors make an index, and faiss does not complain on the terminal."""
    vectors = units(5, 16)
    ids, _ = built(lambda: IvfPqIndex(pieces=8), vectors).search(vectors[3], 5)
    assert sorted(ids.tolist()) == [0, 1, 2, 3, 4]
    assert "".join(capfd.readouterr()) == ""


@needs_faiss
def test_pieces_that_do_not_divide_a_vector() -> None:
    """A programmer's mistake."""
    with pytest.raises(ValueError, match="5 pieces do not divide 16"):
        built(lambda: IvfPqIndex(pieces=5), units(300, 16))


@approximate_kinds
def test_what_to_type_where_faiss_is_missing(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both commands, and that the exact index needs neither."""
    monkeypatch.setattr(ann.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RagError, match="faiss is not installed") as caught:
        built(make, units(300, 16))
    assert "uv sync --extra ann" in caught.value.remedy
    assert "pip install 'ragmachine[ann]'" in caught.value.remedy
