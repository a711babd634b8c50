"""What is each retrieval stage worth? Named configurations over all labelled sets.

    python benchmarks/ablation.py                     our own sets
    python benchmarks/ablation.py --datasets DIR …    answered sets of others as well

Each row differs from the shipped default in one setting. The p-value is that of a paired
permutation test on the questions' recall@5 against the default. Ranks per question are saved in
benchmarks/results/ablation.json.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from machine import ROOT, save
from quality import CORPORA, groups, labelled_sets, measure, product
from ragmachine.exchange import read_dataset

RESAMPLES = 10_000
ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "no whole-file score": {"file_weight": 0.0},
    "no passage score": {"passage_weight": 0.0},
    "no file-name coverage": {"name_weight": 0.0},
    "no factor for tests and examples": {"support_factor": 1.0},
    "no factor for documentation": {"documentation_factor": 1.0},
    "no factor for definitions": {"symbol_factor": 1.0},
    "parts of names at full weight": {"part_weight": 1.0},
    "no mending of slips": {"correct": False},
    "same text more than once": {"distinct": False},
    "+ feedback (RM3)": {"expand": "prf"},
    "+ decomposition": {"decompose": True},
    "+ variety (MMR 0.8)": {"variety": 0.8},
}


def permutation_p(left: Sequence[float], right: Sequence[float], seed: int = 7) -> float:
    """Two-sided p-value of a paired permutation test on the mean difference.

    Source: Smucker, Allan & Carterette, CIKM 2007.
    """
    difference = np.asarray(left) - np.asarray(right)
    if not difference.any():
        return 1.0
    signs = np.random.default_rng(seed).choice((-1, 1), size=(RESAMPLES, difference.size))
    means = np.abs((signs * difference).mean(axis=1))
    return float((1 + (means >= abs(difference.mean()) - 1e-12).sum()) / (RESAMPLES + 1))


def main() -> int:
    """Run every row over every set whose corpus is there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", type=Path, nargs="*", default=[], metavar="DIR")
    parser.add_argument("--name", default="ablation", help="name of the saved file")
    options = parser.parse_args()
    paths = labelled_sets(options.datasets)
    table: dict[str, dict[str, Any]] = {name: {} for name in ROWS}
    with tempfile.TemporaryDirectory() as scratch:
        for corpus, prefix in CORPORA.items():
            taken = [name for name in paths if name.startswith(prefix)]
            sets = {name: read_dataset(paths.pop(name)) for name in taken}
            if not (ROOT / corpus).is_dir():
                print(f"{corpus} is not there: left out", file=sys.stderr)
                continue
            for row, settings in ROWS.items():
                search = product(corpus, f"{scratch}/{prefix or 'main'}", **settings)
                for name, dataset in sets.items():
                    for label, questions in groups(name, dataset):
                        table[row][label] = measure(search, questions)
    lines = table_lines(table)
    print("\n".join(lines))
    saved = save(options.name, {"table": lines, "rows": table})
    print(f"saved in {saved.relative_to(ROOT)}")
    return 0


def found_at_5(cell: dict[str, Any]) -> list[float]:
    """Whether each question's first true source is in the first five."""
    return [float(rank is not None and rank <= 5) for rank in cell["ranks"].values()]


def table_lines(table: dict[str, dict[str, Any]]) -> list[str]:
    """A Markdown table: means over the sets of each style, p-values over all named questions."""
    labels = list(table["default"])
    styles = {"paraphrased": [x for x in labels if x.endswith("paraphrased")]}
    styles["named"] = [label for label in labels if label not in styles["paraphrased"]]
    lines = [
        "| row | named recall@1/3/5/10 | paraphrased | p, named recall@5 |",
        "|---|---|---|---|",
    ]
    base = [hit for label in styles["named"] for hit in found_at_5(table["default"][label])]
    for row, cells in table.items():
        means = []
        for style in ("named", "paraphrased"):
            values = [
                np.mean([cells[label][f"recall@{k}"] for label in styles[style]])
                for k in (1, 3, 5, 10)
            ]
            means.append("/".join(f"{value:.1f}" for value in values))
        own = [hit for label in styles["named"] for hit in found_at_5(cells[label])]
        p = "" if row == "default" else f"{permutation_p(own, base):.2f}"
        lines.append(f"| {row} | {' | '.join(means)} | {p} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
