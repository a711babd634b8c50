"""A walk through a running server: what it promises, shown with numbers measured as it runs.

    python benchmarks/demo.py               # or: make demo
    python benchmarks/demo.py --llm ollama  # a model writes the answers

Copies data/sample to a temporary folder, serves it on a free port and asks over HTTP alone. Every
line that begins with "holds" was checked; the first that does not hold makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import httpx

from demo_server import DemoServer
from demo_steps import BrokenPromiseError, Walk, title
from machine import ROOT

SAMPLE = ROOT / "data" / "sample"
QUESTIONS = ROOT / "data" / "datasets" / "UnansweredQuestions" / "sample.json"


def walk(folder: Path, llm: str) -> None:
    """All steps, over a server and over the one that takes its place.

    Raises: BrokenPromiseError, OSError, httpx.HTTPError.
    """
    corpus = folder / "data" / "sample"
    shutil.copytree(SAMPLE, corpus, ignore=shutil.ignore_patterns("__pycache__"))
    rows = json.loads(QUESTIONS.read_text(encoding="utf-8"))["rag_questions"]
    questions = sorted({row["question"] for row in rows})
    with DemoServer(folder, corpus, llm) as server:
        print(f"a server on {server.url}, {server.ready_s:.2f} s after its start")
        steps = Walk(server.client, corpus, has_model=llm != "extractive")
        steps.ingest()
        steps.ingest_again()
        steps.answer()
        steps.two_parts()
        cold = steps.stages(questions)
        title("6. Caches, cold and warm")
        steps.caches(cold, "asked again")
        steps.answer_cache()
    with DemoServer(folder, corpus, llm, path="/ready") as server:
        print(f"     a new server over that index is ready {server.ready_s:.2f} s after its start")
        steps = Walk(server.client, corpus, has_model=False)
        steps.caches(cold, "after a restart")


def main() -> int:
    """Walk; 0 where everything holds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--llm", default="extractive", help="who writes answers, as for `serve`")
    llm = parser.parse_args().llm
    try:
        with tempfile.TemporaryDirectory(prefix="ragmachine-demo-") as folder:
            walk(Path(folder).resolve(), llm)
    except (BrokenPromiseError, OSError, httpx.HTTPError) as error:
        print(f"  DOES NOT HOLD: {error}", file=sys.stderr)
        return 1
    print("\nEverything holds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
