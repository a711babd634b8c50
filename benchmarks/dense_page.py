"""docs/DENSE.md from the saved measurement: question by question, what vectors did."""

from __future__ import annotations

from typing import Any

from dense import SHIPPED, STRATEGIES
from quality import OWN
from ragmachine.exchange import read_dataset

FOUND = 5
SHOWN = 12
_SAMPLED = f"Up to {SHOWN} are shown, spread over all."


def overview(saved: dict[str, Any], names: dict[str, str]) -> list[str]:
    """Recall@1/3/5/10 of every strategy, per set, over all its questions."""
    lines = [
        "| set | questions | " + " | ".join(STRATEGIES) + " |",
        "|---|---|" + "---|" * len(STRATEGIES),
    ]
    for key, label in names.items():
        if key in saved["sets"]:
            row = saved["sets"][key]
            cells = (_recall(row["systems"][name]) for name in STRATEGIES)
            lines.append(f"| {label} | {row['questions']} | {' | '.join(cells)} |")
    return lines


def held_out(saved: dict[str, Any]) -> list[str]:
    """Words against both on the halves that nothing was fitted on, means over the questions."""
    lines = ["| questions | words | both, by evidence |", "|---|---|---|"]
    for style in ("named", "paraphrased"):
        rows = [row for key, row in saved["sets"].items() if key.endswith(style)]
        cells = []
        for name in ("words", SHIPPED):
            halves = [row["systems"][name]["report"] for row in rows]
            total = sum(half["questions"] for half in halves)
            cells.append(
                "/".join(
                    f"{sum(h[f'recall@{k}'] * h['questions'] for h in halves) / total:.0f}"
                    for k in (1, 3, 5, 10)
                )
            )
        lines.append(f"| {total} {style} | {' | '.join(cells)} |")
    return lines


def page(saved: dict[str, Any], names: dict[str, str]) -> str:
    """The whole page."""
    rows = list(_questions(saved))
    helped = [row for row in rows if not _found(row["words"]) and _found(row["both"])]
    ignored = [
        row
        for row in rows
        if _found(row["words"]) and not _found(row["vectors"]) and _found(row["both"])
    ]
    hurt = [row for row in rows if _found(row["words"]) and not _found(row["both"])]
    return "\n".join(
        [
            "# Words, vectors, and which to trust",
            "",
            "Words find a passage whose names the asker knows; vectors find one that was asked for"
            " in other words. `--bonus y` uses both, and decides for each question how far vectors"
            " count: little where one of the best lexical hits holds most of the question's rare"
            " words, or where the question holds a name that the corpus has; much where words match"
            " little and a vector is near. `--explain` shows the decision.",
            "",
            f"Measured at commit {saved['commit']} on {saved['date']} with `python"
            " benchmarks/dense.py`: recall@1/3/5/10 in percent, encoder all-MiniLM-L6-v2 (int8)."
            " A chunk has a vector for its head and others for what follows; the nearest counts.",
            "",
            *overview(saved, names),
            "",
            *_others(saved),
            "On the half of the questions that no constant was fitted on:",
            "",
            *held_out(saved),
            "",
            "What the vectors take on disk beside the index:",
            "",
            "| corpus | chunks | vectors | MB |",
            "|---|---|---|---|",
            *(
                f"| {name} | {made['chunks']:,} | {made['excerpts']:,}"
                f" | {made['bytes'] / 1e6:.1f} |"
                for name, made in saved["made"].items()
            ),
            "",
            f"## Where vectors helped: {len(helped)} questions",
            "",
            f"Words did not have the passage in the first {FOUND}; both together have. A dash is a"
            f" rank beyond the tenth. {_SAMPLED}",
            "",
            *_table(helped),
            "",
            f"## Where the fusion rightly ignored them: {len(ignored)} questions",
            "",
            f"Words have the passage in the first {FOUND}, vectors alone have not; both together"
            f" still have. {_SAMPLED}",
            "",
            *_table(ignored),
            "",
            f"## Where it was wrong: {len(hurt)} questions",
            "",
            f"Words had the passage in the first {FOUND}, and lost it to vectors.",
            "",
            *_table(hurt),
            "",
        ]
    )


def _others(saved: dict[str, Any]) -> list[str]:
    """A line on CoSQA's web queries, where they were measured."""
    row = saved["sets"].get("cosqa_dev")
    if row is None:
        return []
    gains = {name: row["systems"][name]["ndcg@10"] for name in ("words", "vectors", SHIPPED)}
    shown = ", ".join(f"{name} {gain:.3f}" for name, gain in gains.items())
    return [
        f"CoSQA's {row['questions']} development queries, typed into a web search by people who"
        f" know no names, over its Python functions: nDCG@10 {shown}.",
        "",
    ]


def _questions(saved: dict[str, Any]) -> Any:
    texts = {
        question.question_id: question.question
        for path in OWN.glob("*.json")
        for question in read_dataset(path).rag_questions
    }
    for key, row in saved["sets"].items():
        systems = row["systems"]
        for number, rank in systems["words"].get("ranks", {}).items():
            if number in texts:
                yield {
                    "set": key.partition(" ")[0],
                    "question": texts[number],
                    "words": rank,
                    "vectors": systems["vectors"]["ranks"][number],
                    "both": systems[SHIPPED]["ranks"][number],
                    "weight": systems[SHIPPED].get("weights", {}).get(number),
                }


def _found(rank: int | None) -> bool:
    return rank is not None and rank <= FOUND


def _table(rows: list[dict[str, Any]]) -> list[str]:
    """Up to `SHOWN` of them, spread over all."""
    step = max(1, len(rows) // SHOWN)
    lines = ["| set | question | words | vectors | both | weight |", "|---|---|---|---|---|---|"]
    for row in rows[::step][:SHOWN]:
        ranks = " | ".join(str(row[name] or "-") for name in ("words", "vectors", "both"))
        question = row["question"].replace("|", "\\|")
        lines.append(f"| {row['set']} | {question} | {ranks} | {row['weight']} |")
    return lines


def _recall(system: dict[str, Any]) -> str:
    return "/".join(f"{system[f'recall@{k}']:.0f}" for k in (1, 3, 5, 10))
