"""A sentence encoder of a few operators: each letter has an axis of its own."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

SPECIAL = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
LETTERS = {letter: number for number, letter in enumerate("abcd", start=4)}
OPSET = 17
# Padding is loud: where a mask is forgotten, every vector shows it. Other special tokens are mute.
PADDING = [0.0, 0.0, 0.0, 99.0]
TABLE = [
    PADDING,
    *[[0.0] * 4] * 3,
    *[[float(row == axis) for axis in range(4)] for row in range(4)],
]


def write_tokenizer(path: Path) -> None:
    """A tokenizer of single letters that adds ``[CLS]`` and ``[SEP]``."""
    unknown = "[UNK]"
    tokenizer = Tokenizer(models.WordLevel({**SPECIAL, **LETTERS}, unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # What published tokenizers carry along, and what must not get in the way.
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=32)
    tokenizer.save(str(path))


def write_model(
    path: Path,
    *,
    output: str = "tokens",
    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"),
    integer: int = TensorProto.INT64,
) -> None:
    """A model that looks its tokens up.

    Args:
        path: where to.
        output: ``tokens`` (n, t, 4), ``pooled`` (n, 4), which is the largest over the tokens,
            ``both`` with the pooled one second and called ``sentence_embedding``, or ``flat`` (n,).
        inputs: names; where ``token_type_ids`` is among them, a type of 1 would add 50.
        integer: type of the inputs.
    """
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["looked_up"])]
    if "token_type_ids" in inputs:
        nodes.append(helper.make_node("Gather", ["types", "token_type_ids"], ["typed"]))
        nodes.append(helper.make_node("Add", ["looked_up", "typed"], ["vectors"]))
    else:
        nodes.append(helper.make_node("Identity", ["looked_up"], ["vectors"]))
    pooled = helper.make_node(
        "ReduceMax", ["vectors"], ["sentence_embedding"], axes=[1], keepdims=0
    )
    flat = helper.make_node("ReduceMax", ["vectors"], ["flat"], axes=[1, 2], keepdims=0)
    more = {"tokens": [], "pooled": [pooled], "both": [pooled], "flat": [flat]}[output]
    made = {
        "tokens": ["vectors"],
        "pooled": ["sentence_embedding"],
        "both": ["vectors", "sentence_embedding"],
        "flat": ["flat"],
    }[output]
    graph = helper.make_graph(
        [*nodes, *more],
        "tiny",
        [helper.make_tensor_value_info(name, integer, ["n", "t"]) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in made],
        [
            helper.make_tensor(
                "table", TensorProto.FLOAT, [8, 4], [x for row in TABLE for x in row]
            ),
            helper.make_tensor("types", TensorProto.FLOAT, [2, 4], [0.0] * 4 + [50.0] * 4),
        ],
    )
    opset = helper.make_opsetid("", OPSET)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=9), path)
