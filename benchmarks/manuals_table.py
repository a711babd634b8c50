"""What is said of the manuals in README.md, from what `manuals.py` saved."""

from __future__ import annotations

from typing import Any

DEFAULT = "ranking of the default"
_BESIDE = "the default with "


def table(document: dict[str, Any]) -> list[str]:
    """A Markdown table of the steps, and what the answers hold."""
    rows = document["steps"]
    first = next(iter(rows.values()))
    head = ["step", "recall@5", *first["kinds"], "of scans", "both of two", "ms"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    sign = ""
    for name, row in rows.items():
        shares = [
            row["recall@5"], *row["kinds"].values(), row["scans"], row["comparisons with both"]
        ]  # fmt: skip
        cells = ["–" if share is None else f"{100 * share:.1f}" for share in shares]
        lines.append(f"| {sign}{name} | {' | '.join(cells)} | {row['p50_ms']} |")
        # what comes after the default is tried beside it, each alone
        sign = _BESIDE if name == DEFAULT or sign == _BESIDE else "+ "
    answered = document["answers"]
    kinds = ", ".join(f"{kind} {100 * share:.0f}" for kind, share in answered["kinds"].items())
    refused = ", ".join(f"{kind} {n}" for kind, n in answered["unanswerable refused"].items())
    lines += [
        "",
        f"{document['manuals']} manuals, {first['questions']} questions. The step worth most is"
        f" **{document['worth most']}**. Quoted answers of the default contain"
        f" {100 * answered['key values']:.1f} % of the key values ({kinds}). Refused of questions"
        f" that no manual answers: {refused}.",
    ]
    return lines
