"""The document of an ablation as Markdown, and its files on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragmachine.ablation.configurations import LADDER
from ragmachine.ablation.plot import PLOT_REMEDY, can_plot, plot
from ragmachine.exchange import write_bytes

SIGNIFICANT = 0.05
_CUTOFFS = (1, 3, 5, 10)
_PRINTED_P = 0.001  # smaller values are printed as less than this

Document = Mapping[str, Any]
Entry = Mapping[str, Any]
Compared = tuple[Entry, Entry]  # a row, and one style of question in it


def markdown(document: Document) -> str:
    """The whole report: what was asked, the two tables, what they say."""
    judged, styles = document["judged_at"], document["styles"]
    counts = " and ".join(f"{count} {style}".strip() for style, count in styles.items())
    half = "" if document["half"] == "all" else f", the {document['half']} half of all there are"
    lines = [
        "# Ablation",
        "",
        f"{counts} questions{half}. Recall in percent, the mean over the questions. The difference"
        f" is that of recall@{judged} in points, and p how often chance alone would make it as"
        " large: a paired permutation test. Of twenty rows that change nothing, one has p below"
        f" {SIGNIFICANT} by chance.{_origin(document)}",
    ]
    for title, note, table in (
        ("Ladder", "Each row adds a step to the row above.", ladder_table(document)),
        ("One change", "Each row differs from the default in one thing.", aside_table(document)),
    ):
        if table:
            lines += ["", f"## {title}", "", note, "", *table]
    says = conclusions(document)
    if says:
        lines += ["", "## What it says", "", *(f"- {sentence}" for sentence in says)]
    return "\n".join(lines) + "\n"


def _origin(document: Document) -> str:
    """When and with what it was measured, as a sentence; "" where nothing was recorded."""
    if "commit" in document:
        made = f"at commit {document['commit']}"
    elif "version" in document:
        made = f"with version {document['version']}"
    else:
        return ""
    return f" Measured {made} on {document['date']}."


def ladder_table(document: Document) -> list[str]:
    """The ladder as lines of Markdown; empty without one."""
    rows = [row for row in document["rows"] if row["group"] == LADDER]
    return _table(document, rows)


def aside_table(document: Document) -> list[str]:
    """The rows that change one thing of the default, by group; empty without any."""
    rows = [row for row in document["rows"] if row["group"] != LADDER]
    return _table(document, rows)


def conclusions(document: Document) -> list[str]:
    """In words, for each style: which step gained most, which nothing, what beats the default."""
    measures = {"": f"recall@{document['judged_at']}", "mrr_": f"MRR@{document['k']}"}
    sentences = []
    for style in document["styles"]:
        head = f"{style} questions: " if style else ""
        compared = [
            (row, row["styles"][style]) for row in document["rows"] if "p" in row["styles"][style]
        ]
        steps = [pair for pair in compared if pair[0]["group"] == LADDER]
        aside = [pair for pair in compared if pair[0]["group"] != LADDER]
        if steps:
            sentences.append(head + _gains(steps, measures[""]))
            sentences.append(head + _by_rank(steps, measures["mrr_"]))
        if aside:
            sentences.append(head + _aside(aside, measures))
    return [sentence[0].upper() + sentence[1:] for sentence in sentences]


def _gains(steps: Sequence[Compared], measure: str) -> str:
    """The step that gained most, the others that gained, and those that did not."""
    gained = sorted(
        (pair for pair in steps if _is_gain(pair[1])),
        key=lambda pair: (-pair[1]["difference"], pair[1]["p"]),
    )
    if not gained:
        row, best = max(steps, key=lambda pair: pair[1]["difference"])
        if best["difference"] <= 0:
            return f"no step gained any {measure}."
        most = f"*{_step(row)}*, {_points(best['difference'])} points"
        return f"no step gained more {measure} than chance would; most of all {most}{_sure(best)}."
    (row, best), *others = gained
    text = (
        f"the step that gained most is *{_step(row)}*, {_points(best['difference'])} points of"
        f" {measure}{_sure(best)}"
    )
    if others:
        listed = [
            f"*{_step(other)}* {_points(own['difference'])}{_sure(own)}" for other, own in others
        ]
        text += f"; next {_joined(listed)}"
    idle = [f"*{_step(row)}*" for row, own in steps if not _is_gain(own)]
    if not idle:
        return f"{text}. Every step gained."
    return f"{text}. These gained nothing, or no more than chance: {_joined(idle)}."


def _by_rank(steps: Sequence[Compared], measure: str) -> str:
    """The steps that brought the first true hit further up."""
    gained = [
        f"*{_step(row)}* {own['mrr_difference']:+.3f} (p {_p(own['mrr_p'], has_sign=True)})"
        for row, own in steps
        if _is_gain(own, "mrr_")
    ]
    if not gained:
        return f"by {measure} no step gained more than chance would."
    return f"by {measure}, which counts every rank, {_joined(gained)} gained."


def _aside(rows: Sequence[Compared], measures: Mapping[str, str]) -> str:
    """What beats the default, and what loses to it, by each measure."""
    parts = []
    for prefix, measure in measures.items():
        for word, sign in (("better", 1), ("worse", -1)):
            found = [f"*{row['name']}*" for row, own in rows if _is_gain(own, prefix, sign)]
            if found:
                parts.append(f"{word} by {measure}: {_joined(found)}")
    if not parts:
        return f"none of {len(rows)} single changes can be told from the default."
    return f"of {len(rows)} single changes, {'; '.join(parts)}. Others are within chance."


def _step(row: Entry) -> str:
    """What a ladder row adds, without its plus sign and the name it ends in."""
    title = str(row["title"]).removesuffix(f" = {row['name']}")
    return title.removeprefix("+ ")


def _is_gain(measured: Entry, prefix: str = "", sign: int = 1) -> bool:
    difference, p = measured[f"{prefix}difference"], measured[f"{prefix}p"]
    return bool(sign * difference > 0 and p < SIGNIFICANT)


def _joined(texts: Sequence[str]) -> str:
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last


def _sure(measured: Entry) -> str:
    return f" (p {_p(measured['p'], has_sign=True)})"


def _table(document: Document, rows: Sequence[Entry]) -> list[str]:
    if not rows:
        return []
    k, judged = document["k"], document["judged_at"]
    cutoffs = sorted({*(cutoff for cutoff in _CUTOFFS if cutoff < k), k})
    at = "/".join(map(str, cutoffs))
    heads = ["row"]
    for style in document["styles"]:
        heads += [f"{style} recall@{at}".strip(), f"change at {judged} (p)"]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for row in rows:
        cells = [str(row["title"])]
        for style in document["styles"]:
            measured = row["styles"][style]
            recall = [f"{100 * measured['recall'][cutoff - 1]:.0f}" for cutoff in cutoffs]
            cells += ["/".join(recall), change(measured)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def change(measured: Entry) -> str:
    """A difference in points with its p in brackets; "" for a row that is compared with none."""
    if "p" not in measured:
        return ""
    return f"{_points(measured['difference'])} ({_p(measured['p'])})"


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}"


def _p(value: float, *, has_sign: bool = False) -> str:
    if value < _PRINTED_P:
        return f"< {_PRINTED_P}"
    text = f"{value:.3f}" if value < SIGNIFICANT else f"{value:.2f}"
    return f"= {text}" if has_sign else text


def json_text(document: Document) -> str:
    """The document as JSON, a line for each question and each row."""
    parts = []
    for name, value in document.items():
        if isinstance(value, list) and value:
            rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in value)
            text = f"[\n  {rows}\n ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        parts.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def save(document: Document, folder: Path, name: str = "ablation") -> tuple[list[Path], str]:
    """Write ``<name>.json``, ``<name>.md`` and, where matplotlib is installed, ``<name>.svg``.

    Returns: (files written, what the user should know or "").
    Raises: StorageError: a file cannot be written.
    """
    contents = {"json": json_text(document).encode(), "md": markdown(document).encode()}
    notice = ""
    if can_plot():
        contents["svg"] = plot(document)
    else:
        notice = f"no plot: {PLOT_REMEDY}"
    paths = []
    for suffix, content in contents.items():
        path = folder / f"{name}.{suffix}"
        write_bytes(path, content)
        paths.append(path)
    return paths, notice
