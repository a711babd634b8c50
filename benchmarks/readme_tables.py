"""Write what README.md and docs/DENSE.md say from the saved measurements: neither drifts away.

python benchmarks/readme_tables.py            rewrite them
python benchmarks/readme_tables.py --check    exit 1 if they say anything else
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import Any

import dense_page
import manuals_table
from machine import RESULTS, ROOT
from ragmachine.ablation.report import conclusions, ladder_table

README = ROOT / "README.md"
DENSE_PAGE = ROOT / "docs" / "DENSE.md"
SETS = {
    "vllm_code named": "vLLM code, named",
    "vllm_docs named": "vLLM documentation, named",
    "numpy named": "NumPy, named",
    "sqlalchemy named": "SQLAlchemy, named",
    "sample named": "sample, named",
    "vllm_code paraphrased": "vLLM code, paraphrased",
    "vllm_docs paraphrased": "vLLM documentation, paraphrased",
    "numpy paraphrased": "NumPy, paraphrased",
    "sqlalchemy paraphrased": "SQLAlchemy, paraphrased",
    "sample paraphrased": "sample, paraphrased",
}


def read(name: str) -> dict[str, Any]:
    """A saved measurement."""
    document: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return document


def quality() -> str:
    """Recall per set, the baseline beside the default."""
    sets = read("quality")["sets"]
    lines = ["| set | questions | naive | ragmachine |", "|---|---|---|---|"]
    for name, label in SETS.items():
        row = sets[name]
        cells = ["/".join(f"{row[s][f'recall@{k}']:.0f}" for k in (1, 3, 5, 10)) for s in row]
        lines.append(f"| {label} | {row['default']['questions']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def ablation() -> str:
    """The ladder and the words; single changes of the default are in ablation.md."""
    saved = read("ablation")
    counts = " and ".join(f"{count} {style}" for style, count in saved["styles"].items())
    lines = [
        f"Measured at commit {saved['commit']} on {saved['date']}: {counts} questions, each row"
        " against the row above.",
        "",
        *ladder_table(saved),
        "",
    ]
    return "\n".join([*lines, *(f"- {sentence}" for sentence in conclusions(saved))])


def dense() -> str:
    """Words, vectors and both, on the halves that nothing was fitted on."""
    return "\n".join(dense_page.held_out(read("dense")))


def speed() -> str:
    """Seconds and their yardsticks."""
    saved = read("speed")
    best = {name: min(times) for name, times in saved["seconds"].items()}
    ratio, query = saved["ratios"], saved["query_ms"]
    rows = [
        ("index from nothing", f"{best['index from nothing']:.1f} s",
         f"{ratio['index from nothing / naive index']:.2f} times naive bm25s over fixed slices"),
        ("index again, nothing changed", f"{best['index unchanged']:.2f} s", ""),
        ("`search` as a whole process", f"{best['search, one process']:.2f} s",
         f"{ratio['search / import']:.2f} times `python -c \"import numpy, bm25s\"`"),
        ("269 questions, two `search_dataset` processes",
         f"{best['search_dataset, two processes']:.1f} s", ""),
        ("one query in process", f"{query['p50']:.1f} ms", f"95 % within {query['p95']:.1f} ms"),
        ("peak memory of `index`", f"{saved['peak_memory_mb']:.0f} MB", "workers included"),
    ]  # fmt: skip
    lines = ["| what | takes | that is |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def manuals() -> str:
    """Pages of manuals found, a step of reading them a row."""
    return "\n".join(manuals_table.table(read("manuals")))


def rendered(text: str) -> str:
    """The README with its marked tables as measured."""
    for name, table in (
        ("quality", quality()),
        ("ablation", ablation()),
        ("dense", dense()),
        ("manuals", manuals()),
        ("speed", speed()),
    ):
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text = marked.sub(lambda match, table=table: f"{match[1]}{table}\n{match[2]}", text)  # type: ignore[misc]
    return text


def main() -> int:
    """Rewrite, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    wanted = {
        README: rendered(README.read_text(encoding="utf-8")),
        DENSE_PAGE: dense_page.page(read("dense"), SETS),
    }
    differing = [
        path
        for path, text in wanted.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    for path in differing:
        if options.check:
            print(f"{path.name} differs from the measurements: `make tables`", file=sys.stderr)
        else:
            path.write_text(wanted[path], encoding="utf-8")
    return int(options.check and bool(differing))


if __name__ == "__main__":
    sys.exit(main())
