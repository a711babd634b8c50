"""How long does a query take to become a vector, and a vector to find its neighbours?

    python benchmarks/embedding.py [ENCODER ENCODER] [--count 20000]

An encoder is ``minilm``, ``static`` (distilled from minilm first, or taken from
``data/output/encoders``), ``ollama:MODEL``, or a folder with model.onnx and tokenizer.json. Both
get the same questions in turn. They search an exact int8 index of random vectors: how long that
takes does not depend on what the vectors say.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np

from machine import ROOT, save
from ragmachine.encoders import (
    EmbeddingCache,
    Encoder,
    OllamaEncoder,
    OnnxEncoder,
    StaticEncoder,
    TokenFrequencies,
    distill,
    normalise,
    open_minilm,
)
from ragmachine.errors import RagError
from ragmachine.index.vectors import FlatIndex

SETS = [
    ROOT / "data/datasets/UnansweredQuestions" / f"vllm_{kind}.json" for kind in ("docs", "code")
]
STATIC = ROOT / "data/output/encoders/static"
K = 10


def opened(name: str, questions: list[str]) -> Encoder:
    """The encoder that a word of the command line means."""
    if name == "minilm":
        return open_minilm()
    if name == "static":
        if not (STATIC / "static.json").is_file():
            teacher = open_minilm()
            print("distilling the static encoder …", flush=True)
            # Any frequencies do where only time is measured.
            distill(teacher, TokenFrequencies.count(teacher.tokenizer, questions)).save(str(STATIC))
        return StaticEncoder.load(str(STATIC))
    kind, _, model = name.partition(":")
    return OllamaEncoder(model) if kind == "ollama" and model else OnnxEncoder.from_folder(name)


def random_index(count: int, dimensions: int) -> FlatIndex:
    """An exact index of random vectors of length 1."""
    rng = np.random.default_rng(0)
    index = FlatIndex("int8")
    index.build(normalise(rng.standard_normal((count, dimensions), dtype=np.float32)))
    return index


def measure(
    encoders: dict[str, Encoder], questions: list[str], count: int
) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of each question by encoder and stage, the encoders taking turns."""
    indexes = {name: random_index(count, encoder.dimensions) for name, encoder in encoders.items()}
    caches = {name: EmbeddingCache(encoder) for name, encoder in encoders.items()}
    stages = ("embed", "search", "total", "cached")
    times: dict[str, dict[str, list[float]]] = {
        name: {stage: [] for stage in stages} for name in encoders
    }
    for name, encoder in encoders.items():  # models are loaded by the first question
        indexes[name].search(encoder.encode_query(questions[0]), K)
    for question in questions:
        for name, encoder in encoders.items():
            started = time.perf_counter()
            vector = encoder.encode_query(question)
            embedded = time.perf_counter()
            indexes[name].search(vector, K)
            done = time.perf_counter()
            caches[name].encode_query(question)
            again = time.perf_counter()
            caches[name].encode_query(question)
            cached = time.perf_counter() - again
            row = (embedded - started, done - embedded, done - started, cached)
            for stage, seconds in zip(stages, row, strict=True):
                times[name][stage].append(seconds * 1000)
    return times


def percentiles(milliseconds: list[float]) -> dict[str, float]:
    """The 50th, 95th and 99th."""
    cuts = statistics.quantiles(milliseconds, n=100)
    return {f"p{p}": round(cuts[p - 1], 4) for p in (50, 95, 99)}


def main() -> int:
    """Measure, print and save; 1 when an encoder cannot be had."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("encoders", nargs="*", default=["minilm", "static"])
    parser.add_argument("--count", type=int, default=20_000)
    options = parser.parse_args()
    questions = [
        question["question"]
        for path in SETS
        for question in json.loads(path.read_text(encoding="utf-8"))["rag_questions"]
    ]
    try:
        encoders = {name: opened(name, questions) for name in options.encoders}
        measured = measure(encoders, questions, options.count)
        names = {name: encoder.name for name, encoder in encoders.items()}
    except RagError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    table: dict[str, Any] = {
        name: {stage: percentiles(times) for stage, times in stages.items()}
        for name, stages in measured.items()
    }
    print(f"{len(questions)} questions, {options.count} vectors, ms{'p50':>16}{'p95':>9}{'p99':>9}")
    for name, stages in table.items():
        for stage, row in stages.items():
            cells = "".join(f"{value:>9.3f}" for value in row.values())
            print(f"{f'{name}, {stage}':<44}{cells}")
    document = {
        "questions": len(questions),
        "vectors": options.count,
        "encoders": names,
        "libraries": {name: version(name) for name in ("onnxruntime", "tokenizers")},
        "milliseconds": table,
    }
    print(f"saved in {save('embedding', document).relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
