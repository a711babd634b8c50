"""Reads datasets, search results and answers from JSON into checked values.

Only this module opens files. Every complaint names the file and the place in it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from .errors import DataError
from .overlap import Span

T = TypeVar("T")

_QUESTIONS = "rag_questions"
_RESULTS = "search_results"


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a dataset.

    Attributes:
        question_id: None where the dataset gives none.
        text: may be empty.
        sources: the true sources, empty where the dataset lists none.
        answer: the reference answer, None where it is absent or blank.
        key_values: what a right answer must contain, None where the dataset does not say.
    """

    question_id: str | None
    text: str
    sources: tuple[Span, ...] = ()
    answer: str | None = None
    key_values: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What was retrieved, and perhaps answered, for one question.

    Attributes:
        sources: retrieved sources, best first.
        answer: None in a file of search results.
        citations: spans the entry declares as cited, which the [n] of its answer then name; None
            where it declares nothing.
        unsupported: share of its sentences that the entry itself marks as not supported; None
            where it marks none.
        is_text_consistent: False where `question` and `question_str` differ.
    """

    question_id: str
    text: str
    sources: tuple[Span, ...] = ()
    answer: str | None = None
    citations: tuple[Span, ...] | None = None
    unsupported: float | None = None
    is_text_consistent: bool = True


@dataclass(frozen=True, slots=True)
class Dataset:
    """The questions of a dataset file, in its order."""

    path: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """The entries of a results or answers file, in its order; `k` as the file declares it."""

    path: str
    entries: tuple[Entry, ...]
    k: int | None = None


def read_dataset(path: str) -> Dataset:
    """Read `{"rag_questions": [...]}`.

    Raises: DataError: unreadable, malformed, or without any question.
    """
    items = _records(path, _read_json(path), _QUESTIONS, other=_RESULTS)
    if not items:
        raise DataError(f"{path}: the dataset has no question, there is nothing to score")
    return Dataset(path, tuple(_question(_Place(path, _QUESTIONS, i), v) for i, v in items))


def read_results(path: str, *, needs_answer: bool = False) -> Results:
    """Read `{"search_results": [...]}`; with `needs_answer`, every entry must hold an answer.

    Raises: DataError: unreadable, malformed, or without any entry.
    """
    document = _read_json(path)
    items = _records(path, document, _RESULTS, other=_QUESTIONS)
    if not items:
        raise DataError(f"{path}: the results have no entry, run the search on the dataset first")
    k = document.get("k")
    entries = tuple(_entry(_Place(path, _RESULTS, i), v, needs_answer) for i, v in items)
    return Results(path, entries, k if type(k) is int else None)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands, for messages: `file: search_results[3].field`."""

    path: str
    name: str
    index: int

    def item(self, field: str, index: int) -> "_Place":
        return _Place(self.path, f"{self.name}[{self.index}].{field}", index)

    def fail(self, field: str, problem: str) -> NoReturn:
        suffix = f".{field}" if field else ""
        raise DataError(f"{self.path}: {self.name}[{self.index}]{suffix} {problem}")


def _read_json(path: str) -> Any:
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file, check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder, give the JSON file inside it") from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: not UTF-8 (byte {error.start}), save the file as UTF-8 JSON"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: cannot be read: {reason}") from None
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise DataError(f"{path}: not valid JSON at {place}: {error.msg}") from None
    except RecursionError:
        raise DataError(f"{path}: not usable JSON: nested too deeply") from None
    except ValueError as error:
        raise DataError(f"{path}: not valid JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value, write a number or null")


def _records(path: str, document: Any, key: str, *, other: str) -> list[tuple[int, Any]]:
    if not isinstance(document, dict):
        raise DataError(
            f'{path}: must be an object with a "{key}" list, found {_describe(document)}'
        )
    if key not in document:
        hint = f', but "{other}": are the two paths swapped?' if other in document else ""
        raise DataError(f'{path}: has no "{key}" list{hint}')
    if not isinstance(document[key], list):
        raise DataError(f'{path}: "{key}" must be a list, found {_describe(document[key])}')
    return list(enumerate(document[key]))


def _question(place: _Place, value: Any) -> Question:
    _require_object(place, value)
    text, _ = _question_text(place, value)
    answer = value.get("answer")
    if answer is not None and not isinstance(answer, str):
        place.fail("answer", f"must be text, found {_describe(answer)}")
    key_values = value.get("key_values")
    return Question(
        question_id=_identifier(place, value),
        text=text,
        sources=_optional_list(place, value, "sources", _span),
        answer=answer if answer and answer.strip() else None,
        key_values=None
        if key_values is None
        else _optional_list(place, value, "key_values", _key_value),
    )


def _entry(place: _Place, value: Any, needs_answer: bool) -> Entry:
    _require_object(place, value)
    question_id = _identifier(place, value)
    if question_id is None:
        place.fail("", "has no question_id, keep the id of the dataset's question")
    text, is_text_consistent = _question_text(place, value)
    if value.get("retrieved_sources") is None:
        place.fail("", "has no retrieved_sources, write an empty list when nothing was found")
    answer = value.get("answer")
    if needs_answer and not isinstance(answer, str):
        found = "" if answer is None else f" (found {_describe(answer)})"
        place.fail("", f"has no answer text{found}, is this a file of answers?")
    return Entry(
        question_id=question_id,
        text=text,
        sources=_optional_list(place, value, "retrieved_sources", _span),
        answer=answer if needs_answer else None,
        citations=_optional_list(place, value, "citations", _span)
        if needs_answer and value.get("citations") is not None
        else None,
        unsupported=_unsupported(place, value) if needs_answer else None,
        is_text_consistent=is_text_consistent,
    )


def _unsupported(place: _Place, value: dict[str, Any]) -> float | None:
    verdicts = _optional_list(place, value, "sentences", _verdict)
    return verdicts.count(False) / len(verdicts) if verdicts else None


def _verdict(place: _Place, value: Any) -> bool:
    _require_object(place, value)
    found = value.get("supported")
    if not isinstance(found, bool):
        place.fail("supported", f"must be true or false, found {_describe(found)}")
    return found


def _require_object(place: _Place, value: Any) -> None:
    if not isinstance(value, dict):
        place.fail("", f"must be an object, found {_describe(value)}")


def _identifier(place: _Place, value: dict[str, Any]) -> str | None:
    found = value.get("question_id")
    if found is None or isinstance(found, str):
        return found
    if type(found) is int:
        return str(found)
    place.fail("question_id", f"must be text, found {_describe(found)}")


def _question_text(place: _Place, value: dict[str, Any]) -> tuple[str, bool]:
    texts = []
    for field in ("question", "question_str"):
        text = value.get(field)
        if text is None:
            continue
        if not isinstance(text, str):
            place.fail(field, f"must be text, found {_describe(text)}")
        texts.append(text)
    if not texts:
        place.fail("", "has neither question nor question_str, write the question's text")
    return texts[0], texts[0] == texts[-1]


def _optional_list(
    place: _Place, value: dict[str, Any], field: str, read: Callable[[_Place, Any], T]
) -> tuple[T, ...]:
    items = value.get(field)
    if items is None:
        return ()
    if not isinstance(items, list):
        place.fail(field, f"must be a list, found {_describe(items)}")
    return tuple(read(place.item(field, index), item) for index, item in enumerate(items))


def _span(place: _Place, value: Any) -> Span:
    _require_object(place, value)
    file_path = value.get("file_path")
    if not isinstance(file_path, str) or not file_path:
        place.fail("file_path", f"must be a path as text, found {_describe(file_path)}")
    start = _offset(place, value, "first_character_index")
    return Span(file_path, start, _offset(place, value, "last_character_index"))


def _offset(place: _Place, value: dict[str, Any], field: str) -> int:
    if field not in value:
        place.fail("", f"has no {field}")
    found = value[field]
    if type(found) is not int:
        place.fail(field, f"must be a whole number, found {_describe(found)}")
    return found


def _key_value(place: _Place, value: Any) -> str:
    if type(value) in (int, float) or (isinstance(value, str) and value.strip()):
        return str(value)
    place.fail("", f"must be text or a number, found {_describe(value)}")


def _describe(value: Any) -> str:
    """Name a JSON value as JSON does, with a short look at it."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    kind = {bool: "the boolean", str: "the text"}.get(type(value), "the number")
    shown = json.dumps(value) if isinstance(value, str | bool) else repr(value)
    return f"{kind} {shown if len(shown) <= 40 else shown[:37] + '...'}"
