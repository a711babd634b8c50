"""Does the shipped default find the right lines? Recall, MRR and nDCG, per set and per style.

    python benchmarks/quality.py                      our own sets over vLLM 0.10.1 and the sample
    python benchmarks/quality.py --datasets DIR …     answered sets of others as well

The baseline is what anyone would write first: bm25s with its defaults over slices of 2,000
characters. Per-question ranks are saved under benchmarks/results/.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from machine import ROOT, save
from ragmachine import RagPipeline
from ragmachine.corpus.discover import discover
from ragmachine.evaluation import evaluate
from ragmachine.exchange import (
    Dataset,
    Question,
    SearchEntry,
    SearchResults,
    Source,
    read_dataset,
)

K = 10
Search = Callable[[str], list[Source]]
OWN = ROOT / "data" / "datasets" / "AnsweredQuestions"
# The corpora, and how the names of the sets over each begin; "" takes what no other does.
CORPORA = {
    "data/sample": "sample",
    "data/raw/sqlalchemy-2.0.44": "sqlalchemy",
    "data/raw/numpy-2.3.4": "numpy",
    "data/raw/vllm-0.10.1": "",
}


def product(corpus: str, folder: str, **settings: Any) -> Search:
    """The product with its default settings, but for those given."""
    given = {"index_dir": folder, "target_dir": str(ROOT / corpus), "cache_entries": 0, **settings}
    pipeline = RagPipeline(**given)
    pipeline.index()

    def search(question: str) -> list[Source]:
        chunks = [hit.chunk for hit in pipeline.search(question, K).hits]
        return [_source(chunk.file_path, chunk.start, chunk.end) for chunk in chunks]

    return search


def naive(corpus: str) -> Search:
    """bm25s with its defaults over fixed slices."""
    import bm25s

    spans: list[tuple[str, int, int]] = []
    texts: list[str] = []
    for file in discover(str(ROOT / corpus), max_file_bytes=10**7).files:
        text = Path(file.absolute).read_bytes().decode("utf-8", "replace")
        for start in range(0, len(text), 2000):
            texts.append(text[start : start + 2000])
            spans.append((f"{corpus}/{file.path}", start, start + len(texts[-1])))
    model = bm25s.BM25()
    model.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def search(question: str) -> list[Source]:
        tokens = bm25s.tokenize([question], stopwords="en", show_progress=False)
        ids, _ = model.retrieve(tokens, k=K, show_progress=False)
        return [_source(*spans[int(number)]) for number in ids[0]]

    return search


def _source(path: str, start: int, end: int) -> Source:
    return Source(file_path=path, first_character_index=start, last_character_index=end)


def labelled_sets(folders: Sequence[Path]) -> dict[str, Path]:
    """Answered sets by name: our own, and those of other folders."""
    return {path.stem: path for folder in (OWN, *folders) for path in sorted(folder.glob("*.json"))}


def groups(name: str, dataset: Dataset) -> Iterator[tuple[str, tuple[Question, ...]]]:
    """The answerable questions of a set, by their style where they name one."""
    answerable = [question for question in dataset.rag_questions if question.sources]
    styles = sorted({str((question.model_extra or {}).get("style", "")) for question in answerable})
    for style in styles:
        chosen = [q for q in answerable if (q.model_extra or {}).get("style", "") == style]
        yield (f"{name} {style}".strip(), tuple(chosen))


def measure(search: Search, questions: Sequence[Question]) -> dict[str, Any]:
    """Means in percent, and the rank of the first true source per question (null: not found)."""
    entries = tuple(
        SearchEntry(
            question_id=question.question_id,
            question=question.question,
            question_str=question.question,
            retrieved_sources=tuple(search(question.question)),
        )
        for question in questions
    )
    report = evaluate(
        SearchResults(search_results=entries, k=K), Dataset(rag_questions=tuple(questions)), k=K
    )
    return {
        "questions": len(questions),
        **{f"recall@{k}": round(100 * mean.mean, 1) for k, mean in report.recall.items()},
        "recall@5 95%": [round(100 * report.recall[5].low), round(100 * report.recall[5].high)],
        "mrr@10": round(report.mrr.mean, 3),
        "ndcg@10": round(report.ndcg.mean, 3),
        "ranks": {row.question_id: row.first_rank for row in report.rows},
    }


def main() -> int:
    """Measure every set whose corpus is there, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", type=Path, nargs="*", default=[], metavar="DIR")
    parser.add_argument("--name", default="quality", help="name of the saved file")
    options = parser.parse_args()
    sets = labelled_sets(options.datasets)
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for corpus, prefix in CORPORA.items():
            if not (ROOT / corpus).is_dir():
                name = corpus.rpartition("/")[2].partition("-")[0]
                print(f"{corpus} is not there: `python -m src corpus {name}`", file=sys.stderr)
                continue
            searches = {
                "naive": naive(corpus), "default": product(corpus, f"{scratch}/{prefix or 'main'}")
            }  # fmt: skip
            taken = [name for name in sets if name.startswith(prefix)]
            for name in taken:
                for label, questions in groups(name, read_dataset(sets.pop(name))):
                    rows[label] = {
                        system: measure(search, questions) for system, search in searches.items()
                    }
    print_table(rows)
    print(f"saved in {save(options.name, {'sets': rows}).relative_to(ROOT)}")
    return 0


def print_table(rows: dict[str, Any]) -> None:
    """A Markdown table of recall@1/3/5/10 and MRR, baseline beside default."""
    print("| set | questions | naive recall@1/3/5/10 | default recall@1/3/5/10 | MRR@10 |")
    print("|---|---|---|---|---|")
    for label, row in rows.items():
        cells = ["/".join(f"{row[s][f'recall@{k}']:.0f}" for k in (1, 3, 5, 10)) for s in row]
        default = row["default"]
        print(f"| {label} | {default['questions']} | {' | '.join(cells)} | {default['mrr@10']} |")


if __name__ == "__main__":
    sys.exit(main())
