"""A small folder with labelled questions in two styles."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragmachine.ablation import LabelledFolder, read_cases
from ragmachine.ablation.configurations import select_rows
from ragmachine.ablation.summary import summarise
from workspace import Workspace

PAGES = {
    "pumps/limpet.md": "# Limpet\n\nThe Limpet drains a cellar; its warranty is two years.\n",
    "pumps/strand.md": "# Strand\n\nA Strand line runs 300 m at 19200 baud.\n",
    "lib/valve.py": 'def open_valve(angle):\n    """Turn the spindle."""\n    return angle + 90\n',
    "notes.txt": "The cellar is dry. The spindle is greased in May.\n",
}
# id, question, style, file, and how the line begins that answers it
ASKED = [
    ("q-warranty", "How long is a Limpet's warranty?", "named", "pumps/limpet.md", "The Limpet"),
    ("q-strand", "How far does a Strand line run?", "named", "pumps/strand.md", "A Strand line"),
    ("q-spindle", "What does open_valve turn?", "named", "lib/valve.py", "def open_valve"),
    ("q-guarantee", "When does its guarantee end?", "paraphrased", "pumps/limpet.md", "The Limpet"),
    ("q-bends", "By how much is it moved?", "paraphrased", "lib/valve.py", "    return angle"),
]


def labelled(project: Workspace) -> dict[str, Any]:
    """An answered dataset about the project's corpus, with one question that has no answer."""
    questions: list[dict[str, Any]] = [
        {"question_id": "q-none", "question": "Who painted it?", "style": "unanswerable"}
    ]
    for name, question, style, path, beginning in ASKED:
        text = (project.corpus / path).read_text(encoding="utf-8")
        start = text.index(beginning)
        source = {
            "file_path": f"corpus/{path}",
            "first_character_index": start,
            "last_character_index": text.index("\n", start),
        }
        questions.append(
            {"question_id": name, "question": question, "style": style, "sources": [source]}
        )
    return {"rag_questions": questions}


@pytest.fixture
def pumps(project: Workspace) -> Workspace:
    """The pages in the corpus, the questions in ``sets/pumps.json``; nothing is indexed."""
    for name, text in PAGES.items():
        project.write(name, text)
    path = project.root / "sets" / "pumps.json"
    path.parent.mkdir()
    path.write_text(json.dumps(labelled(project)), encoding="utf-8")
    return project


@pytest.fixture
def folder(pumps: Workspace) -> LabelledFolder:
    """All five answerable questions about the corpus."""
    return LabelledFolder("corpus", read_cases([pumps.root / "sets" / "pumps.json"]))


@pytest.fixture
def document(folder: LabelledFolder) -> dict[str, Any]:
    """Three rows with made-up ranks, so that every number can be computed by hand.

    Named recall@5 is 1/3, 3/3 and 2/3; no paraphrased question is ever found.
    """
    rows = select_rows("naive bm25s, default, no passage score")
    lost = [(None,), (None,)]
    ranks = {
        "naive bm25s": [(3,), (7,), (None,), *lost],
        "default": [(1,), (1,), (4,), *lost],
        "no passage score": [(2,), (1,), (6,), *lost],
    }
    return summarise(rows, folder.cases, ranks, k=10, half="all")
