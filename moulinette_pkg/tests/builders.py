"""Small builders of files and the process runner the tests share."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGE_FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Completed:
    """What a finished process printed and returned."""

    code: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[str]:
        """Lines of stdout."""
        return self.stdout.splitlines()


def environment() -> dict[str, str]:
    """The caller's environment with the package on the import path and UTF-8 streams."""
    return {**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER), "PYTHONIOENCODING": "utf-8"}


def run_moulinette(*arguments: str, folder: Path) -> Completed:
    """Run `python -m moulinette` and fail on any traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "moulinette", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return Completed(done.returncode, done.stdout, done.stderr)


def source(path: str, start: int, end: int) -> dict[str, Any]:
    """A source as the files write it."""
    return {"file_path": path, "first_character_index": start, "last_character_index": end}


def question(question_id: str, *sources: dict[str, Any], **extra: Any) -> dict[str, Any]:
    """A dataset question whose text follows from its id."""
    text = f"what is {question_id}?"
    return {"question_id": question_id, "question": text, "sources": list(sources), **extra}


def entry(question_id: str, *sources: dict[str, Any], **extra: Any) -> dict[str, Any]:
    """A results entry with the text `question` writes for that id."""
    text = f"what is {question_id}?"
    both = {"question": text, "question_str": text}
    return {"question_id": question_id, **both, "retrieved_sources": list(sources), **extra}


def write_pair(folder: Path, questions: list[Any], entries: list[Any], **extra: Any) -> None:
    """Write `d.json` (the dataset) and `r.json` (the results, with `extra` beside the entries)."""
    (folder / "d.json").write_text(json.dumps({"rag_questions": questions}), encoding="utf-8")
    document = {"search_results": entries, **extra}
    (folder / "r.json").write_text(json.dumps(document), encoding="utf-8")
