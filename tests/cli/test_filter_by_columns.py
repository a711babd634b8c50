"""`--filter state=open`: a search among the rows of tables, from the command line to the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragmachine import cli
from ragmachine.errors import UsageError
from workspace import Workspace

STATES = ["open", "closed", "in progress"]


@pytest.fixture
def tickets(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An indexed table of tickets, and a page beside it that says the same."""
    text = "ticket {0} says that the pump number {0} stopped at night and would not start"
    rows = [
        f"T-{n},{STATES[n % 3]},{2015 + n % 10},{text.format(n)}" for n in range(1, 151)
    ]  # fmt: skip
    project.write("tickets.csv", "\n".join(["id,State,opened,body", *rows]) + "\n")
    project.write("pump.md", "# Pump\n\nTicket 7 says that the pump number 7 stopped at night.\n")
    project.index()
    monkeypatch.setenv("RAG_PROJECT_ROOT", str(project.root))
    monkeypatch.setenv("RAG_INDEX_DIR", str(project.folder))
    monkeypatch.setenv("RAG_LLM", "extractive")
    return project


def test_several_conditions_all_hold(tickets: Workspace) -> None:
    """Only rows with such a state, opened since then, are ranked at all."""
    pipeline = tickets.pipeline()
    hits = pipeline.search("pump stopped at night", 100, filter="state=open opened>=2020").hits
    assert len(hits) == 25
    for hit in hits:
        columns = dict(hit.chunk.metadata)
        assert columns["State"] == "open"
        assert int(str(columns["opened"])) >= 2020
    assert pipeline.search("stopped at night", 1, filter="id=T-8").hits[0].chunk.place == "row 8"
    assert pipeline.search("stopped at night", 1, filter="id=T-7 state=open").hits == ()


def test_conditions_on_columns_and_files_go_together(tickets: Workspace) -> None:
    """What is in no table has no columns, and a minus keeps it."""
    pipeline = tickets.pipeline()

    def places(text: str) -> set[str]:
        return {h.chunk.file_path for h in pipeline.search("night", 200, filter=text).hits}

    assert places("-state=open") == {"corpus/tickets.csv", "corpus/pump.md"}
    assert places("-state=open lang:markdown") == {"corpus/pump.md"}
    assert places("state!=open") == {"corpus/tickets.csv"}


def test_an_answer_is_taken_from_the_rows_that_are_left(tickets: Workspace) -> None:
    """The filter of an answer is that of its search."""
    answer = tickets.pipeline().answer("Which pump stopped at night?", filter="id=T-99")
    assert {citation.place for citation in answer.citations} == {"row 99"}


def test_a_column_that_is_not_there_is_a_usage_error(
    tickets: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, with the columns that there are and no traceback."""
    assert cli.main(["search", "pump", "--filter", "status=open"]) == 2
    assert (
        "no record has a column 'status' to filter by; known columns: State, id, opened"
        in capsys.readouterr().err
    )
    with pytest.raises(UsageError, match="'open' is neither a number nor a date"):
        tickets.pipeline().search("pump", filter="state>=open")


def test_columns_are_shown_on_demand(
    tickets: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON has them, `--explain` prints them as a filter names them, and else they are not seen."""
    asked = ["search", "stopped at night", "--k", "1", "--filter", 'state="in progress"']
    assert cli.main(asked) == 0
    assert "State=" not in capsys.readouterr().out
    assert cli.main([*asked, "--explain"]) == 0
    assert "id=T-" in (out := capsys.readouterr().out)
    assert "State=in progress  opened=20" in out
    assert cli.main([*asked, "--json"]) == 0
    metadata = json.loads(capsys.readouterr().out)["retrieved_chunks"][0]["metadata"]
    assert metadata.keys() == {"id", "State", "opened"}


def test_results_files_do_not_change(tickets: Workspace, tmp_path: Path) -> None:
    """What graders read holds spans, with or without columns in the index."""
    questions = {"rag_questions": [{"question_id": "a", "question": "Which pump is 7?"}]}
    (tmp_path / "set.json").write_text(json.dumps(questions))
    assert cli.main(["search_dataset", str(tmp_path / "set.json"), "--save_directory",
                     str(tmp_path / "out"), "--quiet"]) == 0  # fmt: skip
    text = (tmp_path / "out" / "set.json").read_text()
    assert "metadata" not in text
    assert "corpus/tickets.csv" in text


def test_a_small_table_has_columns_once_its_text_is_named(
    tickets: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    """`index --text_columns`: a row each however few there are, the other columns to filter by."""
    (tickets.root / "parts").mkdir()
    (tickets.root / "parts" / "parts.tsv").write_text("part\tnote\nA-1\tleft seal\nA-2\tright seal")
    words = ["--target_dir", str(tickets.root / "parts"), "--index_dir", str(tickets.root / "own")]
    asked = ["search", "seal", "--filter", "part=a-2", *words[2:]]
    assert cli.main(["index", *words, "--quiet"]) == 0
    assert cli.main(asked) == 2
    assert "text_columns names the columns of prose" in capsys.readouterr().err
    assert cli.main(["index", *words, "--text_columns", "Note", "--quiet"]) == 0
    capsys.readouterr()
    assert cli.main(asked) == 0
    out = capsys.readouterr().out
    assert "parts.tsv row 2" in out
    assert "row 1" not in out
