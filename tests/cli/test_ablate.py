"""The command that measures what each step is worth."""

from __future__ import annotations

import json
from pathlib import Path

from house import Program

ROWS = ["--rows", "naive bm25s, default, no passage score", "--half", "all"]


def test_the_table_is_printed_and_saved_with_the_numbers(program: Program, tmp_path: Path) -> None:
    """Markdown on stdout and in a file beside JSON and plot; nothing on stderr."""
    house = program.house
    sets = f"{house.root}/sets/docs.json,{house.root}/sets/code.json"
    outcome = program.run(
        "ablate", sets, f"{house.root}/corpus", "--save_directory", f"{tmp_path}/out", *ROWS
    )
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    saved = (tmp_path / "out" / "ablation.md").read_text(encoding="utf-8")
    assert outcome.out.startswith(saved)
    assert f"saved in {tmp_path}/out/ablation.json" in outcome.out
    document = json.loads((tmp_path / "out" / "ablation.json").read_text(encoding="utf-8"))
    assert [question["set"] for question in document["questions"]] == ["docs", "docs", "code"]
    default = document["rows"][1]
    assert default["name"] == "default"
    assert default["ranks"][:2] == [[1], [None]]
    assert (tmp_path / "out" / "ablation.svg").is_file()


def test_json_is_the_saved_document(program: Program, tmp_path: Path) -> None:
    """One document on stdout; it says which version ran and when."""
    house = program.house
    outcome = program.run(
        "ablate", f"{house.root}/sets/code.json", "--target_dir", f"{house.root}/corpus",
        "--save_directory", f"{tmp_path}/out", "--json", *ROWS,
    )  # fmt: skip
    document = outcome.document()
    assert document == json.loads((tmp_path / "out" / "ablation.json").read_text("utf-8"))
    assert document["version"]
    assert document["date"]


def test_the_index_of_the_project_stays_as_it_is(program: Program, tmp_path: Path) -> None:
    """The rows have indexes of their own, which are gone afterwards."""
    house = program.house

    def contents() -> dict[str, bytes]:
        files = (path for path in house.index_dir.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files}

    before = contents()
    outcome = program.run(
        "ablate", f"{house.root}/sets/code.json", f"{house.root}/corpus", *ROWS,
        "--save_directory", f"{tmp_path}/out",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert contents() == before
