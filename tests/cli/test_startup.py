"""What a command imports: a one-shot search pays for nothing that it does not use."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from house import CHECKOUT, House, clean_environment

REPORT = """
import json, sys
sys.path.insert(0, "src")
from ragmachine.cli import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
HEAVY = {
    "pydantic",
    "pydantic_settings",
    "tqdm",
    "ollama",
    "httpx",
    "markdown_it",
    "pathspec",
    "platformdirs",
    "pypi_simple",
    "multiprocessing",
    "concurrent.futures.process",
    "ragmachine.chunking.python_ast",
    "ragmachine.chunking.markdown",
    "ragmachine.corpus.discover",
    "ragmachine.datasets",
    "ragmachine.evaluation",
    "ragmachine.exchange",
    "ragmachine.generation",
    "ragmachine.index.build",
    "ragmachine.llm",
}


def modules_of(house: House, *words: str) -> set[str]:
    """Modules in a child process after a command line, no ``RAG_`` variable being set."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT, *words],
        cwd=CHECKOUT,
        env=clean_environment({"XDG_CONFIG_HOME": str(house.root / "no-config")}),
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0
    return set(modules)


def test_a_search_imports_nothing_that_only_others_need(house: House) -> None:
    """No validation, model client, chunker, progress bar or process pool."""
    loaded = modules_of(house, "search", "cache", "--index_dir", str(house.index_dir))
    assert "ragmachine.retrieval.lexical" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("words", ["--help", "--version", "search --help", "help answer"])
def test_help_imports_no_numbers(house: House, words: str) -> None:
    """Help is there before numpy would be."""
    loaded = modules_of(house, *words.split())
    assert loaded & (HEAVY | {"numpy", "bm25s", "fire"}) == set()
