"""A small project, and ways to run the program on it: in this process or as a child."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragmachine import cli

CHECKOUT = Path(__file__).resolve().parents[2]

CACHE_PAGE = """\
# Cache

The KV cache is sized by gpu_memory_utilization; its kernels are written in C++.

## Odd words

Here stand None, True, 3.12, 0x10, 1e5, foo,bar and the option --k among words.
The contract 中文合同 was signed with a 😀 in the margin.

## Eviction

The scheduler evicts the oldest block when memory runs out.
"""
SCHEDULER = '''\
"""Decides which request runs next."""


def evict(block):
    """Give the oldest block back when memory runs out."""
    return block.release()


class Scheduler:
    """Keeps a queue of requests."""

    def step(self, budget):
        """Run one step within the token budget."""
        return budget - 1
'''
CONFIGS = {
    "true": "k = true",
    "misspelt": "overlpa = 5",
    "broken": "k =",
    "range": "k = 0",
    "root": 'project_root = "/"',
    "bytes": b"\xff",
}
ENTRY = "Calibration of pump {0} takes {0} minutes and is written down in ledger {0}."


@dataclass(frozen=True)
class Outcome:
    """What a command line did."""

    code: int
    out: str
    err: str

    def document(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return json.loads(self.out)

    def assert_tidy(self) -> None:
        """No traceback; an error is one line on stderr and nothing on stdout."""
        assert "Traceback" not in self.out + self.err
        assert "unexpected error" not in self.err
        if self.code:
            assert self.err.startswith("error: "), self.err
            assert self.err.count("\n") == 1, self.err
            assert self.err.endswith("\n")
            assert not self.out
        else:
            assert "error:" not in self.err


@dataclass
class House:
    """A project: ``corpus``, its ``index``, datasets in ``sets``, their ``results``."""

    root: Path

    @property
    def index_dir(self) -> Path:
        """The index folder."""
        return self.root / "index"

    @property
    def shelter(self) -> dict[str, str]:
        """Variables that keep this machine's config file and models out."""
        nowhere = {"OLLAMA_HOST": "127.0.0.1:9", "OPENAI_BASE_URL": "", "OPENAI_API_KEY": ""}
        return {"XDG_CONFIG_HOME": str(self.root / "no-config"), **nowhere}

    @property
    def environment(self) -> dict[str, str]:
        """Variables that lead every command to this project."""
        return {
            "RAG_PROJECT_ROOT": str(self.root),
            "RAG_INDEX_DIR": str(self.index_dir),
            "RAG_WORKERS": "1",
            **self.shelter,
        }

    def quick(
        self, words: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Arguments of `subprocess.Popen` that start a command in a third of a second less.

        The index is named by a flag, since reading a ``RAG_`` variable takes that long.
        """
        is_about_index = words[:1] in (["index"], ["search"], ["answer"])
        is_placed = not is_about_index or "--index_dir" in words
        place = [] if is_placed else ["--index_dir", str(self.index_dir)]
        return {
            "args": child_words([*words, *place]),
            "cwd": CHECKOUT,
            "env": clean_environment({**self.shelter, **(environment or {})}),
        }

    def save(self, name: str, content: object) -> Path:
        """Write a file below the root: text and bytes as they are, anything else as JSON."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    def answered(self, name: str, *cited: tuple[str, str, str]) -> dict[str, Any]:
        """A dataset of (question, file, words quoted from it)."""
        questions = []
        for number, (question, file, words) in enumerate(cited):
            start = (self.root / file).read_text(encoding="utf-8").index(words)
            source = {
                "file_path": file,
                "first_character_index": start,
                "last_character_index": start + len(words),
            }
            questions.append(
                {"question_id": f"{name}-{number}", "question": question, "sources": [source]}
            )
        return {"rag_questions": questions}


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without what would steer the program, plus `extra`."""
    steering = {"NO_COLOR", "TERM", "PYTHONIOENCODING", "PYTHONPATH", "RAGMACHINE_DEBUG"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RAG_") and name not in steering
    }
    return {**kept, **extra}


@dataclass
class Program:
    """The program, run on a house."""

    house: House
    capsys: pytest.CaptureFixture[str]

    def run(self, *words: str) -> Outcome:
        """Run a command line in this process."""
        self.capsys.readouterr()
        code = cli.main(list(words))
        out, err = self.capsys.readouterr()
        return Outcome(code, out, err)

    def child(
        self, *words: str | bytes, environment: Mapping[str, str] | None = None, **options: Any
    ) -> Outcome:
        """Run a command line as ``python -m src`` from the checkout."""
        done = subprocess.run(
            child_words(words),
            cwd=CHECKOUT,
            env=clean_environment({**self.house.environment, **(environment or {})}),
            capture_output=True,
            check=False,
            timeout=60,
            **options,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def child_words(words: Sequence[str | bytes]) -> list[str | bytes]:
    """The command line that starts the program from a checkout."""
    return [sys.executable, "-m", "src", *words]


def steer(patch: pytest.MonkeyPatch, house: House) -> None:
    """Give this process the environment of the house."""
    for name in list(os.environ):
        if name.startswith("RAG_") or name in ("NO_COLOR", "RAGMACHINE_DEBUG"):
            patch.delenv(name)
    for name, value in house.environment.items():
        patch.setenv(name, value)
