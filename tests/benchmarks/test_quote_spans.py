"""The script that turns quoted passages into question sets with offsets."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "quote_spans.py"


def load_script() -> ModuleType:
    """Import the script by path, since benchmarks is not a package."""
    spec = importlib.util.spec_from_file_location("quote_spans", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


quote_spans = load_script()

DOC = "# Pump\r\n\r\nThe café pump rests for 210 s.\r\nIt runs at most 40 min.\r\nIt hums.\r\n"


def question(text: str, *sources: dict[str, str]) -> dict[str, Any]:
    """Make one entry of a quotes file."""
    style = "named" if sources else "unanswerable"
    return {
        "question": text,
        "answer": "210 s" if sources else "",
        "key_values": ["210"] if sources else [],
        "style": style,
        "sources": list(sources),
    }


def put_set(root: Path, name: str, *entries: dict[str, Any], corpus: str = "data/pumps") -> None:
    """Write a quotes file."""
    folder = root / "data" / "datasets" / "quotes"
    folder.mkdir(parents=True, exist_ok=True)
    content = {"name": name, "corpus_root": corpus, "questions": list(entries)}
    (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def written(root: Path, name: str, folder: str = "AnsweredQuestions") -> list[dict[str, Any]]:
    """Read the questions of a written set."""
    path = root / "data" / "datasets" / folder / f"{name}.json"
    questions: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rag_questions"]
    return questions


def outputs(root: Path) -> list[str]:
    """List every file below the data sets but the quotes."""
    found = (root / "data" / "datasets").rglob("*")
    return sorted(p.name for p in found if p.is_file() and p.parent.name != "quotes")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a corpus of one document that has CRLF line ends and an accent."""
    corpus = tmp_path / "data" / "pumps" / "docs"
    corpus.mkdir(parents=True)
    (corpus / "pump.md").write_bytes(DOC.encode("utf-8"))
    return tmp_path


def source(**keys: str) -> dict[str, str]:
    """Make a source in the one document there is."""
    renamed = {"from" if key == "start" else key: value for key, value in keys.items()}
    return {"file": "docs/pump.md"} | renamed


def test_quote_becomes_offsets_into_the_untranslated_text(root: Path) -> None:
    """Offsets count str characters, carriage returns included, and the end is exclusive."""
    quote = "The café pump rests for 210 s.\r\nIt runs"
    put_set(root, "pumps", question("How long does it rest?", source(quote=quote)))
    assert quote_spans.main([], root) == 0
    (span,) = written(root, "pumps")[0]["sources"]
    assert span["file_path"] == "data/pumps/docs/pump.md"
    assert DOC[span["first_character_index"] : span["last_character_index"]] == quote


def test_span_ends_at_the_first_end_after_its_start(root: Path) -> None:
    """Text before `from` does not count for `to`, and the first one after it wins."""
    put_set(root, "pumps", question("How long?", source(start="It runs", to="t")))
    assert quote_spans.main([], root) == 0
    (span,) = written(root, "pumps")[0]["sources"]
    text = DOC[span["first_character_index"] : span["last_character_index"]]
    assert text == "It runs at"


def test_answered_set_keeps_the_reference_fields(root: Path) -> None:
    """Question, answer, key values and style are copied; no source is an empty list."""
    rests = question("How long does it rest?", source(quote="rests for 210 s"))
    put_set(root, "pumps", rests, question("What colour is it?"))
    assert quote_spans.main([], root) == 0
    first, second = written(root, "pumps")
    assert {key: first[key] for key in ("question", "answer", "key_values", "style")} == {
        key: rests[key] for key in ("question", "answer", "key_values", "style")
    }
    assert second["sources"] == []
    assert second["style"] == "unanswerable"


def test_unanswered_set_holds_nothing_that_gives_the_answer_away(root: Path) -> None:
    """The questions to be asked carry their id and their text, in the same order."""
    put_set(root, "pumps", question("How long?", source(quote="210 s")), question("Colour?"))
    assert quote_spans.main([], root) == 0
    bare = written(root, "pumps", "UnansweredQuestions")
    assert [sorted(entry) for entry in bare] == [["question", "question_id"]] * 2
    assert [e["question_id"] for e in bare] == [e["question_id"] for e in written(root, "pumps")]


def test_ids_are_stable_and_depend_on_set_and_question(root: Path) -> None:
    """A second run gives the same ids; the same question in another set has another id."""
    put_set(root, "pumps", question("Colour?"), question("Weight?"))
    put_set(root, "more", question("Colour?"))
    assert quote_spans.main([], root) == 0
    before = [entry["question_id"] for entry in written(root, "pumps")]
    assert quote_spans.main([], root) == 0
    assert [entry["question_id"] for entry in written(root, "pumps")] == before
    assert len({*before, written(root, "more")[0]["question_id"]}) == 3


def test_files_are_readable_text_with_a_final_newline(root: Path) -> None:
    """Accents stay as they are, the indent is one space and the last line ends."""
    put_set(root, "pumps", question("Where is the café?"))
    assert quote_spans.main([], root) == 0
    text = (root / "data/datasets/UnansweredQuestions/pumps.json").read_text(encoding="utf-8")
    assert text.startswith('{\n "rag_questions": [\n')
    assert "café" in text
    assert text.endswith("}\n")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (source(quote="rests for 999 s"), "`quote` not found"),
        (source(quote="It "), "`quote` found twice"),
        (source(quote="aa"), "`quote` found twice"),
        (source(quote=""), "`quote` not found"),
        (source(start="nowhere", to="s"), "`from` not found"),
        (source(start="It ", to="s"), "`from` found twice"),
        (source(start="It hums", to="210 s"), "`to` missing"),
        (source(start="It hums", to=""), "`to` missing"),
        (source(start="It hums"), "`to` missing"),
        ({"file": "docs/none.md", "quote": "x"}, "file missing"),
        ({"file": "docs/latin.md", "quote": "x"}, "unreadable"),
    ],
)
def test_a_bad_source_is_named_and_stops_all_writing(
    root: Path, capsys: pytest.CaptureFixture[str], bad: dict[str, str], reason: str
) -> None:
    """One line with the question and the reason, status 1, and not even good sets are written."""
    (root / "data/pumps/docs/latin.md").write_bytes(b"caf\xe9 x")
    (root / "data/pumps/docs/pump.md").write_bytes((DOC + "aaa").encode("utf-8"))
    put_set(root, "a_good", question("Colour?"))
    put_set(root, "pumps", question("How long does it rest?", bad))
    assert quote_spans.main([], root) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "How long does it rest?" in line
    assert reason in line
    assert outputs(root) == []


def test_all_errors_are_listed_at_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Errors of several questions and sets come in one run, one line each."""
    put_set(
        root, "a", question("One?", source(quote="nope")), question("Two?", source(quote="no\n"))
    )
    put_set(root, "b", question("Three?", source(quote="It "), source(quote="nope")))
    assert quote_spans.main([], root) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("?")[0].split()[-1] for line in lines] == ["One", "Two", "Three", "Three"]


def test_a_corpus_that_is_not_on_disk_leaves_its_set_alone(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is reported in one line, its files stay, and the other sets are written."""
    put_set(root, "far", question("Far?", source(quote="x")), corpus="data/raw/absent")
    old = root / "data/datasets/AnsweredQuestions/far.json"
    old.parent.mkdir(parents=True)
    old.write_text("old", encoding="utf-8")
    put_set(root, "pumps", question("Colour?"))
    assert quote_spans.main([], root) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "far" in line
    assert old.read_text(encoding="utf-8") == "old"
    assert len(written(root, "pumps")) == 1
    assert quote_spans.main(["--check"], root) == 0


def test_only_limits_the_run_to_one_set(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other sets are neither read nor written; a name without quotes is an error."""
    put_set(root, "pumps", question("Colour?"))
    put_set(root, "broken", question("How long?", source(quote="nope")))
    assert quote_spans.main(["--only", "pumps"], root) == 0
    assert outputs(root) == ["pumps.json", "pumps.json"]
    assert capsys.readouterr().err == ""
    assert quote_spans.main(["--only", "pump"], root) == 1
    assert "pump" in capsys.readouterr().err


def test_check_tells_whether_the_files_are_up_to_date(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Missing or differing files give status 1 and nothing is written or mended."""
    put_set(root, "pumps", question("Colour?"))
    assert quote_spans.main(["--check"], root) == 1
    assert outputs(root) == []
    assert quote_spans.main([], root) == 0
    assert quote_spans.main(["--check"], root) == 0
    path = root / "data/datasets/UnansweredQuestions/pumps.json"
    path.write_bytes(path.read_bytes() + b" ")
    capsys.readouterr()
    assert quote_spans.main(["--check"], root) == 1
    assert str(path) in capsys.readouterr().err
    assert path.read_bytes().endswith(b" ")


def test_a_failed_write_leaves_the_old_file_and_no_debris(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are replaced in one step, so an error on the way costs nothing."""
    put_set(root, "pumps", question("Colour?"))
    assert quote_spans.main([], root) == 0
    before = written(root, "pumps")
    put_set(root, "pumps", question("Weight?"))

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        quote_spans.main([], root)
    assert written(root, "pumps") == before
    assert outputs(root) == ["pumps.json", "pumps.json"]
