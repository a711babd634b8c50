"""What a measurement was taken on: commit, machine, versions, saved beside every result."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def provenance() -> dict[str, Any]:
    """Commit (marked when the tree differs from it), time, cores and versions."""
    return {
        "commit": _git("rev-parse", "--short", "HEAD") + ("+" if _git("status", "-s") else ""),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("bm25s", "numpy", "PyStemmer")},
    }


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607  (git is looked up on PATH)
    return done.stdout.strip()


def save(name: str, document: dict[str, Any]) -> Path:
    """Write ``benchmarks/results/<name>.json`` with its provenance."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    text = json.dumps({**provenance(), **document}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path
