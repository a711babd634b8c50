"""What do vectors add, and does the fusion leave alone what words know? All labelled sets.

    python benchmarks/dense.py                                our own sets
    python benchmarks/dense.py --datasets DIR …               answered sets of others over vLLM too
    python benchmarks/dense.py --corpus FOLDER SET.json       another corpus with its own set

Vectors are kept in data/processed/bench, so that only the first run takes minutes; what that run
took is kept beside them. Saves benchmarks/results/dense.json with the rank of every question of our
own sets, of which docs/DENSE.md is made.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from machine import ROOT, save
from quality import CORPORA, K, groups, labelled_sets, measure
from ragmachine import RagPipeline
from ragmachine.ablation.questions import half_of
from ragmachine.exchange import Question, Source, read_dataset

STRATEGIES: dict[str, dict[str, Any]] = {
    "words": {},
    "vectors": {"strategy": "dense"},
    "both, by evidence": {"strategy": "hybrid"},
    "both, by ranks": {"strategy": "hybrid", "fusion": "rrf"},
    "both, by scaled scores": {"strategy": "hybrid", "fusion": "weighted"},
}
SHIPPED = "both, by evidence"


def prepared(corpus: Path, encoder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """(settings of pipelines over an index with vectors, what making them took)."""
    given: dict[str, Any] = {
        "index_dir": str(ROOT / "data" / "processed" / "bench" / corpus.name),
        "target_dir": str(corpus),
        "project_root": str(ROOT),
        "cache_entries": 0,
        "encoder": encoder,
    }
    pipeline = RagPipeline(**given)
    pipeline.index()
    report = pipeline.embed(
        on_progress=lambda now: print(
            f"\r{corpus.name}: {now.done:,} of {now.total:,} chunks,"
            f" {now.seconds_left or 0:.0f} s left ",
            end="",
            file=sys.stderr,
        )
    )
    return given, _first_run(Path(given["index_dir"]) / "embedded.json", report.to_json())


def _first_run(path: Path, made: dict[str, Any]) -> dict[str, Any]:
    """The report of the run that encoded every text, which a later one only takes over.

    Texts that repeat count once, so that a whole run encodes a few less than there are chunks.
    """
    is_whole = made["encoded"] > 0.5 * made["chunks"]
    if is_whole:
        path.write_text(json.dumps(made), encoding="utf-8")
    elif path.is_file():
        first = json.loads(path.read_text(encoding="utf-8"))
        if (first["chunks"], first["encoder"]) == (made["chunks"], made["encoder"]):
            return {**made, "encoded": first["encoded"], "seconds": first["seconds"]}
    return made


def without_ranks(rows: dict[str, Any]) -> dict[str, Any]:
    """What may be saved of other people's questions: the means."""
    for row in rows.values():
        for system in row["systems"].values():
            for part in (system, system["report"]):
                for name in ("ranks", "weights"):
                    (part or {}).pop(name, None)
    return rows


def searcher(given: dict[str, Any], settings: dict[str, Any]) -> tuple[Any, list[float], list[Any]]:
    """A search of one strategy; the milliseconds and weights of its searches are noted."""
    pipeline = RagPipeline(**given, **settings)
    times: list[float] = []
    weights: list[Any] = []

    def search(question: str) -> list[Source]:
        started = time.perf_counter()
        result = pipeline.search(question, K, explain=True)
        times.append((time.perf_counter() - started) * 1000)
        weights.append(result.plan.get("fusion", {}).get("weight of vectors"))
        return [
            Source(
                file_path=hit.chunk.file_path,
                first_character_index=hit.chunk.start,
                last_character_index=hit.chunk.end,
            )
            for hit in result.hits
        ]

    return search, times, weights


def rows_of(given: dict[str, Any], groups_: Sequence[tuple[str, tuple[Question, ...]]]) -> Any:
    """Per group and strategy: measures over all questions and over the half that reports."""
    rows: dict[str, Any] = {}
    for name, settings in STRATEGIES.items():
        search, times, weights = searcher(given, settings)
        search("warm up")
        for label, questions in groups_:
            times.clear()
            weights.clear()
            row = measure(search, questions)
            row["p50_ms"] = round(statistics.median(times), 1)
            if any(weight is not None for weight in weights):
                row["weights"] = dict(zip(row["ranks"], weights, strict=False))
            held_out = [q for q in questions if half_of(q.question_id) == "report"]
            row["report"] = measure(search, held_out) if held_out else None
            rows.setdefault(label, {"questions": len(questions), "systems": {}})
            rows[label]["systems"][name] = row
        print(f"{Path(given['target_dir']).name}: {name} done", file=sys.stderr)
    return rows


def main() -> int:
    """Measure every set whose corpus is there, print a table, save it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", type=Path, nargs="*", default=[], metavar="DIR")
    parser.add_argument("--corpus", type=Path, nargs=2, action="append", default=[])
    parser.add_argument("--leave_out", nargs="*", default=[], metavar="CORPUS", help="folder names")
    parser.add_argument("--only", action="store_true", help="measure --corpus alone")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--name", default="dense", help="name of the saved file")
    options = parser.parse_args()
    paths = labelled_sets(options.datasets)
    ours = set(labelled_sets([]))
    work: list[tuple[Path, list[tuple[str, tuple[Question, ...]]]]] = []
    for name, prefix in CORPORA.items() if not options.only else ():
        taken = [stem for stem in paths if stem.startswith(prefix)]
        sets = [group for stem in taken for group in groups(stem, read_dataset(paths.pop(stem)))]
        if Path(name).name in options.leave_out:
            continue
        if (ROOT / name).is_dir():
            work.append((ROOT / name, sets))
        else:
            print(f"{name} is not there: left out", file=sys.stderr)
    for corpus, dataset in options.corpus:
        work.append((corpus.resolve(), list(groups(dataset.stem, read_dataset(dataset)))))
    rows: dict[str, Any] = {}
    made: dict[str, Any] = {}
    for corpus, sets in work:
        given, made[corpus.name] = prepared(corpus, options.encoder)
        measured = rows_of(given, sets)
        others = {
            label: row for label, row in measured.items() if label.partition(" ")[0] not in ours
        }
        rows |= measured | without_ranks(others)
    document = {"encoder": options.encoder, "made": made, "sets": rows}
    print("\n".join(table(rows)))
    print(f"saved in {os.path.relpath(save(options.name, document), ROOT)}")
    return 0


def table(rows: dict[str, Any]) -> list[str]:
    """A Markdown table: recall@1/3/5/10 in percent of each strategy, nDCG@10 of the shipped one."""
    lines = [
        "| set | questions | " + " | ".join(STRATEGIES) + " | nDCG@10 |",
        "|---|---|" + "---|" * (len(STRATEGIES) + 1),
    ]
    for label, row in rows.items():
        systems = row["systems"]
        cells = [
            "/".join(f"{systems[name][f'recall@{k}']:.0f}" for k in (1, 3, 5, 10))
            for name in STRATEGIES
        ]
        ndcg = systems[SHIPPED]["ndcg@10"]
        lines.append(f"| {label} | {row['questions']} | {' | '.join(cells)} | {ndcg} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
