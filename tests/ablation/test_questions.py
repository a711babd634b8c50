"""Labelled questions: what is read, and which half a question is in."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from ragmachine.ablation.questions import find_datasets, half_of, read_cases
from ragmachine.errors import DatasetError
from ragmachine.evaluation.measures import Span
from workspace import Workspace


def test_the_half_is_the_parity_of_the_ids_digest() -> None:
    """Even digests tune, odd ones report, wherever a question stands."""
    for name in ("a", "b", "c", "d", "", "\ud800"):
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        assert half_of(name) == ("report" if int(digest, 16) % 2 else "tune")


def test_the_halves_are_halves() -> None:
    """Of a thousand ids about five hundred report: 16 is the standard deviation."""
    counts = Counter(half_of(f"question {number}") for number in range(1000))
    assert counts.keys() == {"tune", "report"}
    assert counts["report"] == pytest.approx(500, abs=64)


def test_questions_without_a_source_are_left_out(pumps: Workspace) -> None:
    """Nothing could be found for them; the others keep id, style, set and spans."""
    cases = read_cases([pumps.root / "sets" / "pumps.json"])
    assert [case.question_id for case in cases] == [
        "q-warranty", "q-strand", "q-spindle", "q-guarantee", "q-bends",
    ]  # fmt: skip
    assert [case.style for case in cases] == ["named"] * 3 + ["paraphrased"] * 2
    assert {case.set for case in cases} == {"pumps"}
    assert cases[2].truth == (Span("corpus/lib/valve.py", 0, 22),)


def test_the_halves_part_the_questions(pumps: Workspace) -> None:
    """Each question is in exactly one."""
    paths = [pumps.root / "sets" / "pumps.json"]
    tuned, reported = read_cases(paths, "tune"), read_cases(paths, "report")
    assert {case.half for case in tuned} == {"tune"}
    assert {case.half for case in reported} == {"report"}
    assert Counter(tuned + reported) == Counter(read_cases(paths, "all"))


def test_an_empty_half_is_refused_with_a_remedy(pumps: Workspace) -> None:
    """A set of one question has only one."""
    path = pumps.root / "one.json"
    source = '{"file_path": "a", "first_character_index": 0, "last_character_index": 3}'
    path.write_text(
        f'{{"rag_questions": [{{"question_id": "q", "question": "?", "sources": [{source}]}}]}}'
    )
    (other,) = {"tune", "report"} - {half_of("q")}
    with pytest.raises(DatasetError, match=f"none of the 1 questions is in the half '{other}'"):
        read_cases([path], other)
    assert len(read_cases([path], half_of("q"))) == 1


def test_a_set_without_answers_is_refused(tmp_path: Path) -> None:
    """Nothing can be measured with it."""
    path = tmp_path / "open.json"
    path.write_text('{"rag_questions": [{"question_id": "q", "question": "?"}]}')
    with pytest.raises(DatasetError, match="no question has a source"):
        read_cases([path])


def test_a_path_means_a_file_a_folder_or_several(tmp_path: Path) -> None:
    """A folder stands for its JSON files by name; commas part paths unless a file has them."""
    for name in ("sets/b.json", "sets/a.json", "sets/readme.md", "c.json", "d,e.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    sets = [tmp_path / "sets" / "a.json", tmp_path / "sets" / "b.json"]
    assert find_datasets(f"{tmp_path}/sets") == sets
    assert find_datasets(f"{tmp_path}/c.json, {tmp_path}/sets") == [tmp_path / "c.json", *sets]
    assert find_datasets(f"{tmp_path}/d,e.json") == [tmp_path / "d,e.json"]
    assert find_datasets("missing.json") == [Path("missing.json")]


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    """Rather than measuring nothing."""
    with pytest.raises(DatasetError, match="holds no JSON file"):
        find_datasets(str(tmp_path))
