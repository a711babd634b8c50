"""The JSON files at the border: what is accepted, what is kept, what is refused and how."""

from __future__ import annotations

import json
import os
import stat
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragmachine.errors import DatasetError, StorageError
from ragmachine.exchange import (
    AnswerEntry,
    Question,
    SearchEntry,
    SearchResults,
    Source,
    read_dataset,
    read_search_results,
    refuse_protected,
    write_json,
)

SOURCE: dict[str, Any] = {
    "file_path": "data/raw/a.md",
    "first_character_index": 3,
    "last_character_index": 9,
}


def save(path: Path, document: Any) -> Path:
    """Write `document` as plain JSON, or as is when it is bytes."""
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return path


def dataset_of(tmp_path: Path, *questions: Any) -> Path:
    """A dataset file of the given raw questions."""
    return save(tmp_path / "dataset.json", {"rag_questions": list(questions)})


def refusal(path: Path) -> str:
    """The message with which `read_dataset` refuses the file."""
    with pytest.raises(DatasetError) as caught:
        read_dataset(path)
    assert caught.value.remedy
    return caught.value.message


def test_a_dataset_gives_its_questions_in_order(tmp_path: Path) -> None:
    """Ids, texts, answers and spans come back as written, in file order."""
    path = dataset_of(
        tmp_path,
        {"question_id": "b", "question": "Why?", "sources": [SOURCE], "answer": "So."},
        {"question_id": "a", "question": "How?"},
    )
    first, second = read_dataset(path).rag_questions
    assert (first.question_id, first.question, first.answer) == ("b", "Why?", "So.")
    assert first.sources == (Source(**SOURCE),)
    assert (second.question_id, second.answer, second.sources) == ("a", None, ())


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    """A dataset saved with a UTF-8 BOM reads like one without."""
    body = '{"rag_questions": [{"question_id": "a", "question": "é"}]}'.encode()
    path = save(tmp_path / "dataset.json", b"\xef\xbb\xbf" + body)
    assert read_dataset(path).rag_questions[0].question == "é"


@pytest.mark.parametrize("given_id", [{}, {"question_id": None}], ids=["missing", "null"])
def test_a_question_without_an_id_gets_a_uuid(tmp_path: Path, given_id: dict[str, None]) -> None:
    """A missing or null id becomes a UUID, the same at every reading."""
    path = dataset_of(tmp_path, {"question": "Why?", **given_id})
    question_id = read_dataset(path).rag_questions[0].question_id
    assert str(uuid.UUID(question_id)) == question_id
    assert read_dataset(path).rag_questions[0].question_id == question_id


def test_different_questions_without_ids_get_different_ids(tmp_path: Path) -> None:
    """The made-up id depends on the text."""
    first, second = read_dataset(
        dataset_of(tmp_path, {"question": "Why?"}, {"question": "How?"})
    ).rag_questions
    assert first.question_id != second.question_id


def test_null_sources_are_no_sources(tmp_path: Path) -> None:
    """A null list of sources is an empty one."""
    path = dataset_of(tmp_path, {"question_id": "a", "question": "Why?", "sources": None})
    assert read_dataset(path).rag_questions[0].sources == ()


def test_empty_questions_and_repeated_ids_are_kept(tmp_path: Path) -> None:
    """Neither an empty text nor an id seen before drops a question."""
    entry = {"question_id": "a", "question": ""}
    questions = read_dataset(dataset_of(tmp_path, entry, entry)).rag_questions
    assert [(q.question_id, q.question) for q in questions] == [("a", ""), ("a", "")]


def test_records_cannot_be_changed(tmp_path: Path) -> None:
    """Assigning to a field of a record is an error."""
    question = Question(question_id="a", question="Why?")
    with pytest.raises(ValueError, match="frozen"):
        question.question = "How?"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"question": 7}, "rag_questions[1].question must be a string, not 7"),
        ({}, "rag_questions[1].question is missing"),
        ({"question": None}, "rag_questions[1].question must be a string, not null"),
        ({"question": "x", "question_id": 5}, "[1].question_id must be a string, not 5"),
        ({"question": "x", "sources": {}}, "[1].sources must be a list, not an object"),
        ({"question": "x", "sources": ["a"]}, '[1].sources[0] must be an object, not "a"'),
        ("x", 'rag_questions[1] must be an object, not "x"'),
        ({"question": "x", "answer": ["y"]}, "[1].answer must be a string, not a list"),
    ],
    ids=["number", "missing", "null", "id", "sources", "source", "entry", "answer"],
)
def test_a_wrong_field_is_named_with_its_entry(
    tmp_path: Path, question: Any, sentence: str
) -> None:
    """A wrong shape is refused in words that name the entry's index and the field."""
    good = {"question_id": "a", "question": "Why?"}
    assert sentence in refusal(dataset_of(tmp_path, good, question))


@pytest.mark.parametrize(
    ("offset", "sentence"),
    [
        (True, "must be a whole number, not true"),
        (3.0, "must be a whole number, not 3.0"),
        ("3", 'must be a whole number, not "3"'),
        (None, "must be a whole number, not null"),
        (-1, "must be 0 or more, not -1"),
    ],
    ids=["bool", "float", "string", "null", "negative"],
)
def test_an_offset_is_a_real_whole_number(tmp_path: Path, offset: Any, sentence: str) -> None:
    """Nothing is turned into an offset that is not one."""
    source = {**SOURCE, "first_character_index": offset}
    message = refusal(dataset_of(tmp_path, {"question": "x", "sources": [source]}))
    assert f"rag_questions[0].sources[0].first_character_index {sentence}" in message


def test_a_span_that_ends_before_it_starts_is_refused(tmp_path: Path) -> None:
    """The two offsets are in order."""
    source = {**SOURCE, "last_character_index": 2}
    message = refusal(dataset_of(tmp_path, {"question": "x", "sources": [source]}))
    assert "rag_questions[0].sources[0] ends before it starts" in message


def test_further_problems_are_counted(tmp_path: Path) -> None:
    """One problem is told, the others are counted."""
    path = dataset_of(tmp_path, {"question": 1}, {"question": 2}, {"question": 3})
    assert refusal(path).endswith("not 1 (and 2 more)")


def test_a_long_wrong_value_is_cut(tmp_path: Path) -> None:
    """A wrong value of any length makes a message of one readable line."""
    assert len(refusal(dataset_of(tmp_path, "x" * 10_000))) < 300


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not valid JSON, line 1 column 1: the file is empty"),
        (b'{"rag_questions": [\n  {"a" 1}\n]}', "not valid JSON, line 2 column 8"),
        (b'{"rag_questions": "\xff"}', "not UTF-8 text: byte 19"),
        (b"[" * 5000, "not valid JSON, line 1"),
        (b"[]", "the document must be an object, not a list"),
        (b"{}", "rag_questions is missing"),
        (b'{"search_results": [], "k": 1}', "holds search_results instead of rag_questions"),
    ],
    ids=["empty", "syntax", "encoding", "deep", "list", "bare", "swapped"],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    """The refusal says what the file is instead of a dataset, and where it goes wrong."""
    message = refusal(save(tmp_path / "odd.json", content))
    assert "odd.json" in message
    assert reason in message


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A path that does not exist is named."""
    assert refusal(tmp_path / "none.json").endswith("none.json does not exist")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """A folder in place of a file is named."""
    assert f"{tmp_path} cannot be read: is a directory" in refusal(tmp_path)


def test_a_nul_in_the_path_is_refused() -> None:
    """A path no file can have is an ordinary refusal."""
    assert "cannot be read" in refusal(Path("a\0b.json"))


@pytest.mark.parametrize("name", ["question", "question_str"])
def test_results_name_the_question_either_way(tmp_path: Path, name: str) -> None:
    """Whichever of the two names an entry uses, both give the text."""
    entry = {"question_id": "a", name: "Why?", "retrieved_sources": [SOURCE]}
    path = save(tmp_path / "r.json", {"search_results": [entry], "k": 10})
    (read,) = read_search_results(path).search_results
    assert (read.question, read.question_str) == ("Why?", "Why?")


def test_an_entry_without_a_question_is_refused(tmp_path: Path) -> None:
    """An entry of results needs one of the two names."""
    path = save(tmp_path / "r.json", {"search_results": [{"question_id": "a"}], "k": 10})
    with pytest.raises(DatasetError, match=r"search_results\[0\]\.question is missing"):
        read_search_results(path)


def test_an_answers_file_is_read_as_results(tmp_path: Path) -> None:
    """Answers and fields of other programs ride along in entries and sources."""
    source = {**SOURCE, "score": 1.5}
    entry = {"question_id": "a", "question": "Why?", "retrieved_sources": [source], "answer": "So."}
    path = save(tmp_path / "r.json", {"search_results": [entry], "k": 10, "model": "m"})
    results = read_search_results(path)
    assert results.search_results[0].model_extra == {"answer": "So."}
    assert results.search_results[0].retrieved_sources[0].model_extra == {"score": 1.5}
    assert results.model_extra == {"model": "m"}


def test_a_made_entry_writes_both_names_of_the_question(tmp_path: Path) -> None:
    """An entry made from `question` alone is written with the same text under both names."""
    entry = SearchEntry(question_id="a", question="Why?", retrieved_sources=(Source(**SOURCE),))
    write_json(tmp_path / "r.json", SearchResults(search_results=(entry,), k=3))
    assert json.loads((tmp_path / "r.json").read_text()) == {
        "search_results": [
            {
                "question_id": "a",
                "question": "Why?",
                "question_str": "Why?",
                "retrieved_sources": [SOURCE],
            }
        ],
        "k": 3,
    }


def test_an_answer_is_added_to_all_that_an_entry_had(tmp_path: Path) -> None:
    """An answer entry made from a search entry keeps its unknown fields."""
    raw = {"question_id": "a", "question": "Why?", "retrieved_sources": [], "note": [1, None]}
    path = save(tmp_path / "r.json", {"search_results": [raw], "k": 3})
    results = read_search_results(path)
    answered = AnswerEntry(**results.search_results[0].model_dump(), answer="So.")
    write_json(path, results.model_copy(update={"search_results": (answered,)}))
    (written,) = json.loads(path.read_text())["search_results"]
    assert written == {**raw, "question_str": "Why?", "answer": "So."}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text() | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
EXTRA = st.dictionaries(st.text(max_size=8), JSON, max_size=3)


@given(EXTRA, EXTRA, EXTRA, st.text(), st.integers(0, 2**40), st.integers(0, 2**40))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_reading_and_writing_a_dataset_keeps_it_whole(
    tmp_path: Path, top: Any, middle: Any, bottom: Any, text: str, start: int, length: int
) -> None:
    """A dataset read and written again is the same document, unknown fields included."""
    span = {"file_path": text, "first_character_index": start}
    source = {**bottom, **span, "last_character_index": start + length}
    question = {
        **middle,
        "question_id": text,
        "question": text,
        "sources": [source],
        "answer": text,
    }
    document = {**top, "rag_questions": [question, {"question_id": "b", "question": ""}]}
    path = save(tmp_path / "dataset.json", document)
    write_json(tmp_path / "copy.json", read_dataset(path))
    assert json.loads((tmp_path / "copy.json").read_bytes()) == document


def test_written_files_are_indented_utf8(tmp_path: Path) -> None:
    """Two spaces, plain letters instead of escapes, a newline at the end."""
    write_json(tmp_path / "x.json", {"é": ["中"]})
    assert (tmp_path / "x.json").read_bytes() == '{\n  "é": [\n    "中"\n  ]\n}\n'.encode()


def test_missing_folders_are_made(tmp_path: Path) -> None:
    """The save directory need not exist."""
    write_json(tmp_path / "a" / "b" / "x.json", {})
    assert (tmp_path / "a" / "b" / "x.json").exists()


def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    """The result is as readable as a file made by any other program."""
    write_json(tmp_path / "x.json", {})
    (tmp_path / "plain.json").write_text("{}")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("x.json", "plain.json")}
    assert len(modes) == 1


def make_same(path: Path) -> Path:
    """The file's own path, spelt in a roundabout way."""
    return path.parent / "." / ".." / path.parent.name / path.name


def make_symlink(path: Path) -> Path:
    """A symbolic link to the file."""
    (path.parent / "soft.json").symlink_to(path)
    return path.parent / "soft.json"


def make_hard_link(path: Path) -> Path:
    """Another name of the same file."""
    os.link(path, path.parent / "hard.json")
    return path.parent / "hard.json"


@pytest.mark.parametrize("alias", [make_same, make_symlink, make_hard_link])
def test_a_protected_file_is_not_overwritten(tmp_path: Path, alias: Any) -> None:
    """Results are never written over the dataset, under whatever name."""
    path = dataset_of(tmp_path, {"question": "Why?"})
    before = path.read_bytes()
    other = tmp_path / "other.json"
    with pytest.raises(DatasetError, match="would overwrite its own input"):
        write_json(alias(path), {}, protected=[other, path])
    assert path.read_bytes() == before


def test_a_protected_path_is_refused_before_it_exists(tmp_path: Path) -> None:
    """Two spellings of one future file are one file."""
    with pytest.raises(DatasetError, match="would overwrite"):
        refuse_protected(tmp_path / "x.json", [tmp_path / "a" / ".." / "x.json"])


def test_a_link_is_written_through(tmp_path: Path) -> None:
    """Writing to a symbolic link changes the file it points to and keeps the link."""
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "link.json").symlink_to("real.json")
    write_json(tmp_path / "link.json", {"a": 1})
    assert json.loads((tmp_path / "real.json").read_text()) == {"a": 1}
    assert (tmp_path / "link.json").is_symlink()


def test_a_failed_write_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is a storage error; the older file stays and nothing else is left behind."""
    path = save(tmp_path / "x.json", {"old": True})

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StorageError, match=r"x\.json cannot be written: no space left on device"):
        write_json(path, {"new": True})
    assert json.loads(path.read_text()) == {"old": True}
    assert os.listdir(tmp_path) == ["x.json"]


def test_a_file_in_place_of_a_folder_is_a_storage_error(tmp_path: Path) -> None:
    """A save directory that is a file is refused with a remedy."""
    (tmp_path / "a").write_text("")
    with pytest.raises(StorageError, match="choose a folder"):
        write_json(tmp_path / "a" / "x.json", {})


def test_a_value_that_json_cannot_hold_is_refused(tmp_path: Path) -> None:
    """A lone surrogate, as in a file name of broken bytes, writes nothing."""
    with pytest.raises(DatasetError, match=r"x\.json cannot be written as JSON"):
        write_json(tmp_path / "x.json", {"file_path": "\udcff"})
    assert os.listdir(tmp_path) == []
