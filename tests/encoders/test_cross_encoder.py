"""OnnxCrossEncoder: real models of a few operators, run by onnxruntime."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from tiny_cross_encoder import write_model, write_tokenizer

from ragmachine.encoders.cross_encoder import OnnxCrossEncoder
from ragmachine.encoders.encoder import EncoderUnavailableError
from ragmachine.errors import ModelError

WITHOUT_TYPES = ("input_ids", "attention_mask")


def tiny(folder: Path, *, options: dict[str, Any] | None = None, **model: Any) -> OnnxCrossEncoder:
    """A cross-encoder in a folder, its model as `write_model` takes it."""
    write_model(folder / "model.onnx", **model)
    write_tokenizer(folder / "tokenizer.json")
    return OnnxCrossEncoder.from_folder(str(folder), threads=1, **(options or {}))


def test_a_text_scores_by_what_it_shares_with_the_query(tmp_path: Path) -> None:
    """Query a b: two shared words, one, the same one three times, none."""
    scores = tiny(tmp_path).scores("a b", ["b a", "c b", "a a a", "c d"])
    assert scores.dtype == np.float32
    assert scores.tolist() == [2, 1, 3, 0]


def test_padding_and_neighbours_do_not_count(tmp_path: Path) -> None:
    """A text has one score alone and in a batch with longer ones."""
    texts = ["a", "a b c d e f g h", "h a", "", "b"]
    together = tiny(tmp_path).scores("a h", texts)
    alone = [tiny(tmp_path).scores("a h", [text])[0] for text in texts]
    assert together.tolist() == alone == [1, 2, 2, 0, 0]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 50])
def test_every_text_is_scored_in_its_place(tmp_path: Path, count: int) -> None:
    """Whatever the number of batches: text i holds the query's word i times."""
    scores = tiny(tmp_path, options={"batch_size": 4}).scores("a", ["a " * i for i in range(count)])
    assert scores.tolist() == list(range(count))


@pytest.mark.parametrize(
    ("output", "expected"),
    [("one", [2, 0]), ("flat", [2, 0]), ("two", [-8, -10])],
    ids=["one column", "no column", "difference of two columns"],
)
def test_shapes_of_logits(tmp_path: Path, output: str, expected: list[float]) -> None:
    """The logit, or the second less the first, which is always 10 here."""
    assert tiny(tmp_path, output=output).scores("a b", ["a b", "c"]).tolist() == expected


def test_a_model_without_token_types(tmp_path: Path) -> None:
    """It gets what it declares; here the score is the length: [CLS] q [SEP] t [SEP]."""
    scores = tiny(tmp_path, inputs=WITHOUT_TYPES).scores("a b", ["c", "c d e"])
    assert scores.tolist() == [6, 8]


def test_a_model_with_narrow_integers(tmp_path: Path) -> None:
    """Inputs are handed over in the type that the model declares."""
    assert tiny(tmp_path, integer=TensorProto.INT32).scores("a", ["a", "b"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        pytest.param("a", "b " * 20 + "a", 0, id="the end of a text is cut"),
        pytest.param("a", "b " * 11 + "a", 1, id="16 tokens are whole"),
        pytest.param("a", "b " * 12 + "a", 0, id="17 are not"),
        pytest.param("b b b b b a", "a", 1, id="half of the room is the query's"),
        pytest.param("b b b b b b a", "a", 0, id="and no more"),
        pytest.param("b " * 1000, "b " * 1000, 6 * 7, id="both far too long"),
    ],
)
def test_cuts(tmp_path: Path, query: str, text: str, expected: int) -> None:
    """Of 16 tokens 13 are left for the pair; 6 of them at most for the query."""
    assert tiny(tmp_path, options={"max_tokens": 16}).scores(query, [text]).tolist() == [expected]


def test_a_query_that_was_cut_keeps_its_template(tmp_path: Path) -> None:
    """Length of the input: three special tokens, 6 of the query, 7 of the text."""
    encoder = tiny(tmp_path, options={"max_tokens": 16}, inputs=WITHOUT_TYPES)
    assert encoder.scores("b " * 50, ["c", "c " * 50]).tolist() == [10, 16]


def test_a_deadline_that_has_passed_leaves_all_unscored(tmp_path: Path) -> None:
    """NaN, and no error."""
    scores = tiny(tmp_path).scores("a", ["a", "b"], deadline=time.monotonic() - 1)
    assert np.isnan(scores).all()


@pytest.mark.parametrize("seconds", [60.0, float("inf")], ids=["a minute", "for ever"])
def test_a_deadline_that_does_not_come_changes_nothing(tmp_path: Path, seconds: float) -> None:
    """All are scored."""
    deadline = time.monotonic() + seconds
    assert tiny(tmp_path).scores("a", ["a", "b", "a a"], deadline=deadline).tolist() == [1, 0, 2]


def test_a_run_is_broken_off_at_the_deadline(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first pair is scored; the next batch would take minutes, and says nothing on the way."""
    encoder = tiny(tmp_path, is_slow=True)
    encoder.open()
    started = time.monotonic()
    scores = encoder.scores("a", ["a a", "a", "a", "a"], deadline=started + 0.3)
    assert time.monotonic() - started < 5
    assert scores[0] == 2
    assert np.isnan(scores[1:]).all()
    assert capfd.readouterr() == ("", "")


def test_what_was_broken_off_can_be_asked_again(tmp_path: Path) -> None:
    """A stopped run leaves the model usable."""
    encoder = tiny(tmp_path, is_slow=True)
    encoder.scores("a", ["a", "b", "c"], deadline=time.monotonic() + 0.1)
    assert encoder.scores("a b", ["b a"]).tolist() == [2]


def test_name_changes_with_what_decides_scores(tmp_path: Path) -> None:
    """Label, files and length are in it; batches and threads are not."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    name = tiny(one).name
    assert name.startswith("one-")
    assert name == tiny(one, options={"batch_size": 2}).name
    names = {
        name,
        tiny(one, options={"max_tokens": 64}).name,
        tiny(one, options={"label": "mine"}).name,
        tiny(other, output="two", options={"label": "one"}).name,
    }
    assert len(names) == 4


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    """With what belongs into the folder."""
    encoder = tiny(tmp_path)
    (tmp_path / name).unlink()
    for ask in (encoder.open, lambda: encoder.scores("a", ["a"]), lambda: encoder.name):
        with pytest.raises(EncoderUnavailableError, match=name) as caught:
            ask()
        assert "model.onnx and tokenizer.json" in caught.value.remedy


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    """On one line, without the library's own exception."""
    encoder = tiny(tmp_path)
    (tmp_path / name).write_bytes(b"nonsense")
    with pytest.raises(ModelError, match=name) as caught:
        encoder.open()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        pytest.param({"output": "wide"}, r"shape \(1, 3\)", id="three logits"),
        pytest.param({"output": "nan"}, "no number", id="not a number"),
    ],
)
def test_a_model_that_is_no_cross_encoder(
    tmp_path: Path, model: dict[str, Any], message: str
) -> None:
    """What its output shows."""
    with pytest.raises(ModelError, match=message) as caught:
        tiny(tmp_path, **model).scores("a", ["a"])
    assert caught.value.remedy


def test_a_tokenizer_of_another_model(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Numbers that the model has no row for are one line of error, which names both files."""
    encoder = tiny(tmp_path, vocabulary=5)
    assert encoder.scores("a", ["a"]).tolist() == [1]
    with pytest.raises(ModelError, match="failed") as caught:
        encoder.scores("a", ["h"])
    assert "tokenizer.json belongs to" in caught.value.remedy
    assert "model.onnx" in caught.value.remedy
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_model_with_inputs_of_another_kind(tmp_path: Path) -> None:
    """They are listed."""
    encoder = tiny(tmp_path, inputs=("input_ids", "attention_mask", "pixels"))
    with pytest.raises(ModelError, match="its inputs are input_ids, attention_mask, pixels"):
        encoder.open()


def test_onnxruntime_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra that brings it is named."""
    encoder = tiny(tmp_path)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find(name)
    )
    with pytest.raises(EncoderUnavailableError, match="onnxruntime not installed") as caught:
        encoder.scores("a", ["a"])
    assert "dense" in caught.value.remedy


def test_nothing_is_loaded_for_nothing(tmp_path: Path) -> None:
    """No texts, no model: not even a missing one matters."""
    assert OnnxCrossEncoder.from_folder(str(tmp_path)).scores("a", []).shape == (0,)


@pytest.mark.parametrize("options", [{"max_tokens": 15}, {"batch_size": 0}], ids=str)
def test_sizes_that_cannot_be_meant(options: dict[str, int]) -> None:
    """A programmer's mistake."""
    with pytest.raises(ValueError, match="room for 16 tokens"):
        OnnxCrossEncoder("model.onnx", "tokenizer.json", **options)
