"""Reading files: what is accepted, and one-line complaints about the rest."""

import json
from pathlib import Path
from typing import Any

import pytest

from ..moulinette.datasets import read_dataset, read_results
from ..moulinette.errors import DataError
from ..moulinette.overlap import Span
from .builders import source


def write(folder: Path, content: str | bytes) -> str:
    """Write a file and return its path."""
    path = folder / "file.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def dataset_of(folder: Path, *items: Any) -> str:
    """A dataset file with these questions."""
    return write(folder, json.dumps({"rag_questions": items}))


def results_of(folder: Path, *items: Any) -> str:
    """A results file with these entries."""
    return write(folder, json.dumps({"search_results": items}))


def good_entry(**changes: Any) -> dict[str, Any]:
    """A sound entry with some fields replaced."""
    return {"question_id": "q", "question": "?", "retrieved_sources": [], **changes}


def test_dataset_fields_are_read(tmp_path: Path) -> None:
    """Known fields are read, unknown ones ignored, and the order kept."""
    item = {
        "question_id": "q",
        "question": "",
        "sources": [source("a", 1, 5)],
        "answer": "yes",
        "key_values": ["x", 3, 0.5],
        "difficulty": "hard",
    }
    (question, bare) = read_dataset(dataset_of(tmp_path, item, {"question": "?"})).questions
    assert (question.question_id, question.text, question.answer) == ("q", "", "yes")
    assert question.sources == (Span("a", 1, 5),)
    assert question.key_values == ("x", "3", "0.5")
    assert (bare.question_id, bare.sources, bare.answer, bare.key_values) == (None, (), None, None)


@pytest.mark.parametrize("field", ["question", "question_str"])
def test_either_text_field_is_read(tmp_path: Path, field: str) -> None:
    """A text under `question` or `question_str` alone is enough, in both files."""
    item = {"question_id": "q", field: "text", "retrieved_sources": []}
    assert read_dataset(dataset_of(tmp_path, item)).questions[0].text == "text"
    entry = read_results(results_of(tmp_path, item)).entries[0]
    assert (entry.text, entry.is_text_consistent) == ("text", True)


def test_different_texts_are_noticed(tmp_path: Path) -> None:
    """`question` wins over a different `question_str`, and the entry is marked."""
    entry = read_results(results_of(tmp_path, good_entry(question_str="!"))).entries[0]
    assert (entry.text, entry.is_text_consistent) == ("?", False)


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    """A UTF-8 byte order mark before the JSON is skipped."""
    path = write(tmp_path, b"\xef\xbb\xbf" + b'{"rag_questions": [{"question": "?"}]}')
    assert len(read_dataset(path).questions) == 1


def test_null_is_absent_where_a_field_is_optional(tmp_path: Path) -> None:
    """Null id, sources, answer and key values read as absent ones; a blank answer too."""
    item = dict.fromkeys(["question_id", "sources", "answer", "key_values"])
    question = read_dataset(dataset_of(tmp_path, {"question": "?", **item})).questions[0]
    assert (question.question_id, question.sources, question.key_values) == (None, (), None)
    blank = read_dataset(dataset_of(tmp_path, {"question": "?", "answer": " "})).questions[0]
    assert question.answer is None
    assert blank.answer is None


def test_whole_number_ids_are_read_as_text(tmp_path: Path) -> None:
    """An id written as a number is the same id as its digits."""
    assert (
        read_results(results_of(tmp_path, good_entry(question_id=7))).entries[0].question_id == "7"
    )


def test_answers_and_citations_are_read(tmp_path: Path) -> None:
    """An answers file gives the answer and the optional citations."""
    item = good_entry(answer="", citations=[source("a", 0, 9)])
    entry = read_results(results_of(tmp_path, item), needs_answer=True).entries[0]
    assert (entry.answer, entry.citations) == ("", (Span("a", 0, 9),))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("", "not valid JSON at line 1 column 1", id="empty file"),
        pytest.param('{"a": 1,\n  b}', "not valid JSON at line 2 column 3", id="syntax"),
        pytest.param('{"rag_questions": [NaN]}', "NaN is not a JSON value", id="NaN"),
        pytest.param('{"rag_questions": [-Infinity]}', "-Infinity is not", id="Infinity"),
        pytest.param(b"\xff\xfe{\x00", "not UTF-8", id="UTF-16"),
        pytest.param("[" * 100_000, "nested too deeply", id="nesting"),
        pytest.param("9" * 5000, "not valid JSON", id="number of 5000 digits"),
        pytest.param("[]", "must be an object", id="top-level list"),
        pytest.param("{}", 'no "rag_questions" list', id="no questions"),
        pytest.param('{"search_results": []}', "are the two paths swapped", id="swapped"),
        pytest.param('{"rag_questions": {}}', "must be a list, found an object", id="not a list"),
        pytest.param('{"rag_questions": []}', "no question", id="empty dataset"),
    ],
)
def test_unusable_dataset(tmp_path: Path, content: str | bytes, message: str) -> None:
    """A file that is no dataset is refused with its name and the reason, in one line."""
    path = write(tmp_path, content)
    with pytest.raises(DataError) as caught:
        read_dataset(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        pytest.param(None, "search_results[1] must be an object, found nothing", id="null entry"),
        pytest.param("q", 'search_results[1] must be an object, found the text "q"', id="text"),
        pytest.param({"question": "?"}, "search_results[1] has no question_id", id="no id"),
        pytest.param(good_entry(question_id=True), "question_id must be text", id="boolean id"),
        pytest.param(good_entry(question=None), "neither question nor question_str", id="no text"),
        pytest.param(good_entry(question=3), "question must be text", id="number as text"),
        pytest.param(good_entry(retrieved_sources=None), "has no retrieved_sources", id="null"),
        pytest.param(good_entry(retrieved_sources={}), "must be a list", id="sources object"),
        pytest.param(
            good_entry(retrieved_sources=[source("a", 0, 1), None]),
            "search_results[1].retrieved_sources[1] must be an object, found nothing",
            id="null source",
        ),
        pytest.param(
            good_entry(retrieved_sources=[{"file_path": "a", "first_character_index": 0}]),
            "search_results[1].retrieved_sources[0] has no last_character_index",
            id="no offset",
        ),
    ],
)
def test_unusable_entry(tmp_path: Path, item: Any, message: str) -> None:
    """An entry that cannot be read is named with its index."""
    with pytest.raises(DataError) as caught:
        read_results(results_of(tmp_path, good_entry(), item))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param("12", 'the text "12"', id="text"),
        pytest.param(True, "the boolean true", id="boolean"),
        pytest.param(1.0, "the number 1.0", id="float"),
        pytest.param(1e400, "Infinity is not", id="infinite"),
        pytest.param(None, "nothing", id="null"),
        pytest.param([], "a list", id="list"),
    ],
)
def test_offsets_are_whole_numbers(tmp_path: Path, value: Any, shown: str) -> None:
    """Anything but a whole number as an offset is refused, in both files."""
    spans = [{"file_path": "a", "first_character_index": value, "last_character_index": 5}]
    with pytest.raises(DataError, match=shown):
        read_results(results_of(tmp_path, good_entry(retrieved_sources=spans)))
    with pytest.raises(DataError, match=shown):
        read_dataset(dataset_of(tmp_path, {"question": "?", "sources": spans}))


@pytest.mark.parametrize("path", ["", 3, None], ids=["empty", "number", "null"])
def test_file_path_is_text(tmp_path: Path, path: Any) -> None:
    """A source needs a path."""
    with pytest.raises(DataError, match="file_path must be a path"):
        read_results(results_of(tmp_path, good_entry(retrieved_sources=[source(path, 0, 1)])))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({}, "has no answer text, is this a file of answers", id="search results"),
        pytest.param({"answer": ["x"]}, "found a list", id="list"),
        pytest.param(
            {"answer": "x", "citations": [3]}, r"citations\[0\] must be an", id="citation"
        ),
    ],
)
def test_unusable_answer(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """A file of answers holds text in each entry."""
    with pytest.raises(DataError, match=message):
        read_results(results_of(tmp_path, good_entry(**changes)), needs_answer=True)


@pytest.mark.parametrize(
    ("field", "value"),
    [("answer", 3), ("key_values", "x"), ("key_values", [True]), ("key_values", [" "])],
    ids=["number answer", "text key values", "boolean key value", "blank key value"],
)
def test_unusable_question(tmp_path: Path, field: str, value: Any) -> None:
    """Optional fields of a question are checked where present."""
    with pytest.raises(DataError, match=rf"rag_questions\[0\]\.{field}.* must be"):
        read_dataset(dataset_of(tmp_path, {"question": "?", field: value}))


@pytest.mark.parametrize(
    ("path", "message"),
    [("missing.json", "no such file"), (".", "is a folder"), ("a" * 5000, "cannot be read")],
    ids=["missing", "folder", "name too long"],
)
def test_unreadable_path(tmp_path: Path, path: str, message: str) -> None:
    """A path that cannot be opened is refused with what it is."""
    with pytest.raises(DataError, match=message):
        read_results(str(tmp_path / path))
