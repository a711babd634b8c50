"""`--json`: exactly one document on stdout, with the contract's names, whatever else is said."""

from __future__ import annotations

from typing import Any

import pytest
from house import Program

CHUNK = {
    "file_path": str,
    "first_character_index": int,
    "last_character_index": int,
    "first_line": int,
    "last_line": int,
    "text": str,
    "file_type": str,
    "label": str,
    "score": float,
}
ANSWER = {"answer", "citations", "refused", "grounds", "sentences"}
SENTENCE = {
    "sentence", "answer_start", "answer_end", "supported", "score", "reason", "citations", "span",
}  # fmt: skip


def check_chunks(document: dict[str, Any], program: Program) -> None:
    """Every retrieved chunk has the contract's fields and is exactly its file's text."""
    assert document["retrieved_chunks"]
    for chunk in document["retrieved_chunks"]:
        assert {name: type(chunk[name]) for name in CHUNK} == CHUNK
        path = program.house.root / chunk["file_path"]
        with path.open(encoding="utf-8", newline="") as stream:
            text = stream.read()
        start, end = chunk["first_character_index"], chunk["last_character_index"]
        assert text[start:end] == chunk["text"]
        assert chunk["first_line"] == text.count("\n", 0, start) + 1
        assert chunk["last_line"] == text.count("\n", 0, end - 1) + 1


def check_metrics(document: dict[str, Any]) -> None:
    """How long it took, and the size of the index."""
    metrics = document["metrics"]
    assert type(metrics["search_time_ms"]) is float
    assert metrics["search_time_ms"] > 0
    assert type(metrics["total_chunks"]) is int
    assert metrics["total_chunks"] >= len(document["retrieved_chunks"])


def test_a_search_gives_the_contracts_document(program: Program) -> None:
    """Query, strategy, chunks and metrics, and nothing on stderr."""
    outcome = program.run("search", "How is the cache sized?", "--k", "3", "--json")
    document = outcome.document()
    assert document["query"] == "How is the cache sized?"
    assert document["strategy"] == "lexical"
    check_chunks(document, program)
    check_metrics(document)
    assert outcome.err == ""


def test_an_answer_gives_the_search_and_its_citations(program: Program) -> None:
    """The search's document, the answer, and the places that its numbers stand for."""
    outcome = program.run("answer", "What evicts blocks?", "--json", "--llm", "extractive")
    document = outcome.document()
    check_chunks(document, program)
    check_metrics(document)
    assert document.keys() >= ANSWER
    assert document["citations"]
    for citation in document["citations"]:
        assert f"[{citation['number']}]" in document["answer"]
        path = program.house.root / citation["file_path"]
        start, end = citation["first_character_index"], citation["last_character_index"]
        assert path.read_text(encoding="utf-8")[start:end].strip()
        assert 1 <= citation["first_line"] <= citation["last_line"]


def test_an_answer_gives_the_lines_behind_each_sentence(program: Program) -> None:
    """Where each stands in the answer, the verdict, and the exact lines in their file."""
    document = program.run(
        "answer", "What evicts blocks?", "--json", "--llm", "extractive"
    ).document()
    assert document["refused"] is False
    assert 0 < document["grounds"]["strength"] <= document["grounds"]["coverage"] <= 1
    assert document["sentences"]
    for sentence in document["sentences"]:
        assert sentence.keys() == SENTENCE
        start, end = sentence["answer_start"], sentence["answer_end"]
        assert document["answer"][start:end] == sentence["sentence"]
        assert (sentence["supported"], sentence["reason"]) == (True, "")
        span = sentence["span"]
        text = (program.house.root / span["file_path"]).read_text(encoding="utf-8")
        lines = text.splitlines()[span["first_line"] - 1 : span["last_line"]]
        first, last = span["first_character_index"], span["last_character_index"]
        assert text[first:last] == "\n".join(lines)


def test_a_refusal_is_a_document_too(program: Program) -> None:
    """It says so, what is missing, and what was nearest."""
    outcome = program.run("answer", "Does evict know max_moons?", "--json", "--llm", "extractive")
    document = outcome.document()
    assert document["refused"] is True
    assert document["grounds"]["missing"] == ["max_moons"]
    assert document["answer"].startswith("I don't know: no passage found mentions max_moons.")
    assert document["retrieved_chunks"]
    assert (document["sentences"], document["citations"]) == ([], [])


def test_an_answer_may_be_asked_for_all_the_same(program: Program) -> None:
    """With the threshold that the notice names."""
    words = ["answer", "Does evict know max_moons?", "--json", "--llm", "extractive"]
    assert "--refuse_below 0" in program.run(*words).err
    assert program.run(*words, "--refuse_below", "0", "--strict").document()["refused"] is False


@pytest.mark.parametrize(
    ("words", "notice"),
    [
        (["search", "cache", "--bonus", "y"], "the search is lexical"),
        (["search", ""], "the query is empty"),
        (["search", "asdfghjkl"], "no evidence"),
        (["answer", "What evicts blocks?"], "no Ollama server answers"),
    ],
    ids=["bonus", "empty", "no-evidence", "no-server"],
)
def test_notices_leave_the_document_alone(program: Program, words: list[str], notice: str) -> None:
    """They are for the person, on stderr; stdout stays one document."""
    outcome = program.run(*words, "--json")
    assert outcome.document()["metrics"]["total_chunks"] > 0
    assert notice in outcome.err
    assert notice not in outcome.out or "notice" in outcome.document()


def test_a_search_without_hits_is_a_document_too(program: Program) -> None:
    """An empty list and the reason."""
    document = program.run("search", "", "--json").document()
    assert document["retrieved_chunks"] == []
    assert document["notice"]


def test_a_document_keeps_every_script(program: Program) -> None:
    """UTF-8 as it is, not as escapes."""
    outcome = program.run("search", "中文合同", "--json")
    assert '"query": "中文合同"' in outcome.out


@pytest.mark.parametrize("command", ["index", "evaluate"])
def test_reports_are_documents_as_well(
    program: Program, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """What a script would want to read after indexing or scoring."""
    root = program.house.root
    monkeypatch.setenv("RAG_INDEX_DIR", str(tmp_path / "index"))
    words = {
        "index": ["--target_dir", f"{root}/corpus"],
        "evaluate": [f"{root}/results/docs.json", f"{root}/sets/docs.json"],
    }
    document = program.run(command, *words[command], "--json").document()
    assert isinstance(document, dict)
    assert document


def test_an_error_prints_no_document(program: Program) -> None:
    """A reader finds nothing to mistake for a result."""
    outcome = program.run("search", "cache", "--json", "--k", "0")
    assert (outcome.code, outcome.out) == (2, "")
