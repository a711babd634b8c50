"""What is each step worth? The rows of `ragmachine ablate` over all labelled sets.

    python benchmarks/ablation.py                     our own sets, the half that reports
    python benchmarks/ablation.py --half tune         the half to choose settings on
    python benchmarks/ablation.py --datasets DIR …    answered sets of others as well
    python benchmarks/ablation.py --rows vectors --name vector_rows     what benchmarks/dense.py
                                                      has embedded is not embedded again

Writes benchmarks/results/ablation.json with the ranks of every question, ablation.md and
ablation.svg.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from machine import RESULTS, ROOT, provenance
from quality import CORPORA, labelled_sets
from ragmachine.ablation import (
    HALVES,
    LabelledFolder,
    ablate,
    markdown,
    read_cases,
    save,
    select_rows,
)
from ragmachine.settings import load_settings


def labelled_folders(folders: Sequence[Path], half: str) -> list[LabelledFolder]:
    """Each corpus that is there, with the questions of all sets over it."""
    paths = labelled_sets(folders)
    found = []
    for corpus, prefix in CORPORA.items():
        taken = [paths.pop(name) for name in list(paths) if name.startswith(prefix)]
        if not (ROOT / corpus).is_dir():
            print(f"{corpus} is not there: left out", file=sys.stderr)
        elif taken:
            bench = ROOT / "data" / "processed" / "bench" / Path(corpus).name
            found.append(LabelledFolder(str(ROOT / corpus), read_cases(taken, half), str(bench)))
    return found


def main() -> int:
    """Run the rows, print the report, save it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", type=Path, nargs="*", default=[], metavar="DIR")
    parser.add_argument("--rows", default="all", help="names or groups, with commas")
    parser.add_argument("--half", default="report", choices=HALVES)
    parser.add_argument("--name", default="ablation", help="name of the saved files")
    options = parser.parse_args()
    document = ablate(
        labelled_folders(options.datasets, options.half),
        load_settings({"project_root": str(ROOT)}),
        select_rows(options.rows),
        half=options.half,
        made_with=provenance(),
        on_row=lambda done, total: print(f"\r{done}/{total} rows", end="", file=sys.stderr),
    )
    print(file=sys.stderr)
    paths, notice = save(document, RESULTS, options.name)
    print(markdown(document))
    for path in paths:
        print(f"saved in {path}")
    if notice:
        print(notice, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
