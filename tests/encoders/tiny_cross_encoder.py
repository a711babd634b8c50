"""A cross-encoder of a few operators: it counts the words that both halves of a pair share."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

SPECIAL = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
WORDS = {word: number for number, word in enumerate("a b c d e f g h".split(), start=4)}
OPSET = 17
# Far more turns than any test waits for.
SLOW_TURNS = 1_000_000_000


def write_tokenizer(path: Path) -> Path:
    """A tokenizer of single letters: ``[CLS] query [SEP] text [SEP]``, halves numbered 0 and 1."""
    unknown = "[UNK]"
    tokenizer = Tokenizer(models.WordLevel({**SPECIAL, **WORDS}, unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    # What published tokenizers carry along, and what must not get in the way.
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=32)
    tokenizer.save(str(path))
    return path


def write_model(
    path: Path,
    *,
    output: str = "one",
    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"),
    integer: int = TensorProto.INT64,
    vocabulary: int = len(SPECIAL) + len(WORDS),
    is_slow: bool = False,
) -> Path:
    """A model whose logit is the number of pairs of equal words across the halves.

    Args:
        path: where to.
        output: ``one`` (n, 1), ``flat`` (n,), ``two`` (n, 2) with the first always 10, ``wide``
            (n, 3), or ``nan``.
        inputs: names; without ``token_type_ids`` the logit is the number of tokens, specials too.
        integer: type of the inputs.
        vocabulary: the model fails over a token of this number or beyond.
        is_slow: batches of more than one pair take minutes.
    """
    nodes = [*_overlap_nodes()] if "token_type_ids" in inputs else [*_length_nodes()]
    nodes += _slow_nodes() if is_slow else [_node("Identity", ["cell"], "column")]
    nodes += {
        "one": [_node("Identity", ["column"], "logits")],
        "flat": [_node("Squeeze", ["column", "axis_1"], "logits")],
        "two": [_node("Sub", ["column", "column"], "zero"), _node("Add", ["zero", "ten"], "tens"),
                helper.make_node("Concat", ["tens", "column"], ["logits"], axis=1)],
        "wide": [helper.make_node("Concat", ["column"] * 3, ["logits"], axis=1)],
        "nan": [_node("Sub", ["column", "column"], "zero"),
                _node("Div", ["zero", "zero"], "logits")],
    }[output]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, integer, ["n", "t"]) for name in inputs],
        [
            # Not what one looks for: only its name tells the logits from it.
            helper.make_tensor_value_info("column", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, None),
        ],
        _constants(vocabulary),
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    onnx.save(model, path)
    return path


def _node(operator: str, given: list[str], made: str) -> onnx.NodeProto:
    return helper.make_node(operator, given, [made])


def _cast(given: str, made: str, kind: int = TensorProto.FLOAT) -> onnx.NodeProto:
    return helper.make_node("Cast", [given], [made], to=kind)


def _overlap_nodes() -> list[onnx.NodeProto]:
    return [
        _node("Gather", ["table", "input_ids"], "ids"),
        _cast("attention_mask", "mask"), _cast("token_type_ids", "type"),
        _node("Greater", ["ids", "last_special"], "is_word"), _cast("is_word", "word"),
        _node("Mul", ["word", "mask"], "counted"),
        _node("Mul", ["counted", "type"], "in_text"),
        _node("Sub", ["counted", "in_text"], "in_query"),
        _node("Unsqueeze", ["ids", "axis_2"], "ids_down"),
        _node("Unsqueeze", ["ids", "axis_1"], "ids_across"),
        _node("Equal", ["ids_down", "ids_across"], "is_equal"), _cast("is_equal", "equal"),
        _node("Unsqueeze", ["in_query", "axis_1"], "query_row"),
        _node("Unsqueeze", ["in_text", "axis_2"], "text_column"),
        _node("MatMul", ["query_row", "equal"], "matches"),
        _node("MatMul", ["matches", "text_column"], "product"),
        _node("Squeeze", ["product", "axis_2"], "cell"),
    ]  # fmt: skip


def _length_nodes() -> list[onnx.NodeProto]:
    return [_cast("attention_mask", "mask"), _node("ReduceSum", ["mask", "axis_1"], "cell")]


def _slow_nodes() -> list[onnx.NodeProto]:
    """Nothing for one pair, and a very long loop for more."""
    scalar, vector = [], [1]
    body = helper.make_graph(
        [_node("Identity", ["go"], "goes"), _node("Identity", ["kept"], "keeps")],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, scalar),
            helper.make_tensor_value_info("go", TensorProto.BOOL, scalar),
            helper.make_tensor_value_info("kept", TensorProto.FLOAT, vector),
        ],
        [
            helper.make_tensor_value_info("goes", TensorProto.BOOL, scalar),
            helper.make_tensor_value_info("keeps", TensorProto.FLOAT, vector),
        ],
    )
    return [
        _node("Shape", ["input_ids"], "shape"),
        helper.make_node("Gather", ["shape", "first"], ["pairs"], axis=0),
        _node("Sub", ["pairs", "one_pair"], "more"),
        _node("Mul", ["more", "many"], "turns"),
        helper.make_node("Loop", ["turns", "", "ten"], ["waited"], body=body),
        _node("Mul", ["waited", "nothing"], "no_matter"),
        _node("Add", ["cell", "no_matter"], "column"),
    ]


def _constants(vocabulary: int) -> list[onnx.TensorProto]:
    integer, real = TensorProto.INT64, TensorProto.FLOAT
    return [
        helper.make_tensor("axis_1", integer, [1], [1]),
        helper.make_tensor("axis_2", integer, [1], [2]),
        helper.make_tensor("first", integer, [], [0]),
        helper.make_tensor("one_pair", integer, [], [1]),
        helper.make_tensor("many", integer, [], [SLOW_TURNS]),
        helper.make_tensor("last_special", real, [], [3.5]),
        helper.make_tensor("table", real, [vocabulary], [float(n) for n in range(vocabulary)]),
        helper.make_tensor("ten", real, [1], [10.0]),
        helper.make_tensor("nothing", real, [1], [0.0]),
    ]
