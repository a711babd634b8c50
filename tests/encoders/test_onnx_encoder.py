"""OnnxEncoder: real models of a few operators, run by onnxruntime."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmachine.encoders.encoder import EncoderUnavailableError, normalise
from ragmachine.encoders.onnx import OnnxEncoder
from ragmachine.errors import ModelError

onnx = pytest.importorskip("onnx", reason="the package onnx, which makes tiny models, is absent")
pytest.importorskip("onnxruntime", reason="the extra `dense` is not installed")

from tiny_encoder import write_model, write_tokenizer  # noqa: E402  (needs what may be absent)

HALF = 0.5**0.5


def tiny(folder: Path, *, options: dict[str, Any] | None = None, **model: Any) -> OnnxEncoder:
    """An encoder in a folder, its model as `write_model` takes it."""
    write_model(folder / "model.onnx", **model)
    write_tokenizer(folder / "tokenizer.json")
    return OnnxEncoder.from_folder(str(folder), threads=1, **(options or {}))


def test_a_vector_is_the_mean_of_its_tokens(tmp_path: Path) -> None:
    """Special tokens are mute here: a b points half way between both axes, a a b nearer to a."""
    vectors = tiny(tmp_path).encode(["a", "a b", "a a b"])
    expected = [[1, 0, 0, 0], [HALF, HALF, 0, 0], [2 / 5**0.5, 1 / 5**0.5, 0, 0]]
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_rows_are_in_the_order_of_the_texts(tmp_path: Path, batch_size: int) -> None:
    """Whatever runs together, and however long the neighbours are, padding counts for nothing."""
    encoder = tiny(tmp_path, options={"batch_size": batch_size})
    vectors = encoder.encode(["a", "b b b b b b", "c c", "d " * 10, "a d"])
    expected = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [HALF, 0, 0, HALF]]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_no_texts_and_nothing_in_them(tmp_path: Path) -> None:
    """No texts make no rows of the right width; a text without tokens that count is zeros."""
    encoder = tiny(tmp_path)
    assert encoder.encode([]).shape == (0, 4)
    assert encoder.encode(["", "a"]).tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]


def test_long_texts_are_read_in_overlapping_windows(tmp_path: Path) -> None:
    """Windows of 16 hold 14 letters, and 4 are shared: 10 a, 10 b are cut at 0-14 and 10-20.

    The first has the mean (10, 4) / 16 and the second (0, 10) / 12.
    """
    encoder = tiny(tmp_path, options={"window_tokens": 16, "overlap_tokens": 4})
    vector = encoder.encode(["a " * 10 + "b " * 10])[0]
    expected = normalise(np.array([10 / 16, 4 / 16 + 10 / 12, 0, 0]))
    np.testing.assert_allclose(vector, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("letters", "windows"),
    [
        pytest.param(14, 1, id="what fits is one window"),
        pytest.param(15, 2, id="one letter more is two"),
        pytest.param(24, 2, id="two full windows"),
        pytest.param(25, 3, id="and one letter more"),
    ],
)
def test_windows_cover_a_text_and_no_more(tmp_path: Path, letters: int, windows: int) -> None:
    """Only a window too many or too few would change the weight of the last letter, a b.

    With 14 letters a window and 4 shared, w windows end at letter 14 + 10 (w - 1).
    """
    encoder = tiny(tmp_path, options={"window_tokens": 16, "overlap_tokens": 4})
    vector = encoder.encode(["a " * (letters - 1) + "b"])[0]
    last = letters - 10 * (windows - 1)
    full = [14 / 16] * (windows - 1)
    a = sum(full) + (last - 1) / (last + 2)
    np.testing.assert_allclose(vector, normalise(np.array([a, 1 / (last + 2), 0, 0])), atol=1e-6)


def test_only_the_first_tokens_count(tmp_path: Path) -> None:
    """Four tokens are [CLS], two letters and [SEP]."""
    vectors = tiny(tmp_path).encode(["a b c d", "a"], max_tokens=4)
    np.testing.assert_allclose(vectors, [[HALF, HALF, 0, 0], [1, 0, 0, 0]], atol=1e-6)


@pytest.mark.parametrize("output", ["pooled", "both"])
def test_models_that_pool_keep_their_own_pooling(tmp_path: Path, output: str) -> None:
    """This one takes the largest of each axis, so that a a b is no nearer to a."""
    vector = tiny(tmp_path, output=output).encode(["a a b"])[0]
    np.testing.assert_allclose(vector, [HALF, HALF, 0, 0], atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param({"inputs": ("input_ids", "attention_mask")}, id="no token types"),
        pytest.param({"integer": 6}, id="narrow integers"),
    ],
)
def test_models_get_the_inputs_that_they_declare(tmp_path: Path, model: dict[str, Any]) -> None:
    """Names and types are read off the model."""
    assert tiny(tmp_path, **model).encode(["c"]).tolist() == [[0, 0, 1, 0]]


def test_prefixes_mark_questions_and_documents(tmp_path: Path) -> None:
    """A question gets c in front, a document d."""
    encoder = tiny(tmp_path, options={"query_prefix": "c ", "text_prefix": "d "})
    np.testing.assert_allclose(encoder.encode_query("a"), [HALF, 0, HALF, 0], atol=1e-6)
    np.testing.assert_allclose(encoder.encode(["a"])[0], [HALF, 0, 0, HALF], atol=1e-6)


def test_tokens_are_encoded_one_by_one(tmp_path: Path) -> None:
    """Numbers 5 and 4 are b and a."""
    assert tiny(tmp_path).encode_tokens([5, 4]).tolist() == [[0, 1, 0, 0], [1, 0, 0, 0]]


def test_the_name_tells_encoders_apart(tmp_path: Path) -> None:
    """Same files, same name; another model, tokenizer, window, overlap or prefix: another."""
    names = {tiny(tmp_path).name, tiny(tmp_path).name}
    assert len(names) == 1
    for options in ({"window_tokens": 128}, {"overlap_tokens": 8}, {"query_prefix": "q"}):
        names.add(tiny(tmp_path, options=options).name)
    names.add(tiny(tmp_path, output="pooled").name)
    encoder = tiny(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    names.add(encoder.name)
    assert len(names) == 6


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    """One line with the path, and what to name instead."""
    encoder = tiny(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(EncoderUnavailableError, match=f"no file .*{name}") as caught:
        encoder.encode(["a"])
    assert "name a folder that holds model.onnx and tokenizer.json" in caught.value.remedy


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x07"])
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_of_another_kind_is_no_encoder(tmp_path: Path, name: str, content: bytes) -> None:
    """The parsers' own exceptions do not get through."""
    encoder = tiny(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=f"{name} is not a sentence encoder"):
        encoder.encode(["a"])


@pytest.mark.parametrize(
    "model",
    [
        pytest.param({"inputs": ("input_ids",)}, id="no mask"),
        pytest.param({"inputs": ("input_ids", "attention_mask", "pixels")}, id="pictures"),
        pytest.param({"output": "flat"}, id="one number a text"),
    ],
)
def test_a_model_of_another_kind_is_no_encoder(tmp_path: Path, model: dict[str, Any]) -> None:
    """A model that wants or gives something else is refused by name."""
    with pytest.raises(ModelError, match=r"model\.onnx is not a sentence encoder: its"):
        tiny(tmp_path, **model).encode(["a"])


def test_a_tokenizer_of_another_model(tmp_path: Path) -> None:
    """A token that the model has no row for is one line of error that names both files."""
    encoder = tiny(tmp_path)
    path = tmp_path / "tokenizer.json"
    path.write_text(path.read_text().replace('"d": 7', '"d": 700'))
    with pytest.raises(ModelError, match="failed") as caught:
        encoder.encode(["d"])
    assert "tokenizer.json belongs to" in caught.value.remedy


def test_what_to_type_where_the_extra_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both commands are given, and nothing is imported."""
    encoder = tiny(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EncoderUnavailableError, match="not installed") as caught:
        encoder.encode(["a"])
    assert "uv sync --extra dense" in caught.value.remedy
    assert "pip install 'ragmachine[dense]'" in caught.value.remedy


@pytest.mark.parametrize(
    "options",
    [{"window_tokens": 8}, {"overlap_tokens": 128}, {"overlap_tokens": -1}, {"batch_size": 0}],
    ids=["tiny windows", "overlap of half", "negative overlap", "empty batches"],
)
def test_impossible_windows_are_refused(options: dict[str, int]) -> None:
    """A programmer's mistake, noticed before any file is."""
    with pytest.raises(ValueError, match="windows"):
        OnnxEncoder("m", "t", **options)
