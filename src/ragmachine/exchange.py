"""The JSON files that cross our border: datasets, search results and answers, validated.

Imported only where such a file is read or written: pydantic is slow to import, and a one-shot
search does without it. Everything else speaks `ragmachine.models`.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import orjson
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    StrictStr,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from ragmachine.errors import DatasetError, StorageError

_ID_NAMESPACE = uuid.UUID("6f0d4a52-51c9-4b7e-9a0e-3c1f2d7b8e64")
_SHOWN_CHARS = 40
_WISHES = {
    "int_type": "a whole number",
    "string_type": "a string",
    "tuple_type": "a list",
    "model_type": "an object",
    "greater_than_equal": "0 or more",
}

# Strict: True, 1.0 and "1" are not offsets, whatever Python or pydantic make of them.
_Count = Annotated[int, Field(strict=True, ge=0)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class Source(_Record):
    """A span of one file.

    Attributes:
        file_path: POSIX path relative to the project root.
        first_character_index: first character, from 0, in the file decoded as UTF-8 untranslated.
        last_character_index: one past the last character; not before the first.
    """

    file_path: StrictStr
    first_character_index: _Count
    last_character_index: _Count

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.last_character_index < self.first_character_index:
            raise PydanticCustomError(
                "span_order", "ends before it starts: last_character_index is the smaller one"
            )
        return self


_Sources = Annotated[tuple[Source, ...], BeforeValidator(lambda v: () if v is None else v)]


class Question(_Record):
    """A question, with the spans and the answer a dataset may give for it.

    Attributes:
        question_id: may repeat; where the file has none, a UUID made from the question's text, so
            that results written today still match the same dataset read tomorrow.
        question: may be empty.
        sources: the true spans; empty where the file has none or null.
        answer: the reference answer, or None.
    """

    question_id: StrictStr
    question: StrictStr
    sources: _Sources = ()
    answer: StrictStr | None = None

    @model_validator(mode="before")
    @classmethod
    def _name(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("question_id") is not None:
            return data
        return {**data, "question_id": str(uuid.uuid5(_ID_NAMESPACE, str(data.get("question"))))}


class Dataset(_Record):
    """Questions in file order."""

    rag_questions: tuple[Question, ...]


class SearchEntry(_Record):
    """What was retrieved for one question.

    Attributes:
        question_id: the dataset's id.
        question: the text as asked.
        question_str: always the same text; older readers need one name, newer ones the other.
        retrieved_sources: best first.
    """

    question_id: StrictStr
    question: StrictStr
    question_str: StrictStr = ""
    retrieved_sources: _Sources = ()

    @model_validator(mode="before")
    @classmethod
    def _use_either_name(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        names = ("question", "question_str")
        text = next((data[name] for name in names if data.get(name) is not None), None)
        return data if text is None else {**data, "question": text, "question_str": text}


class AnswerEntry(SearchEntry):
    """A search entry and the answer written from its sources."""

    answer: StrictStr


class SearchResults(_Record):
    """The entries of a whole dataset, in its order, with or without answers.

    Attributes:
        k: how many sources were asked for per question.
    """

    search_results: tuple[SerializeAsAny[SearchEntry], ...]
    k: _Count


_Document = TypeVar("_Document", Dataset, SearchResults)


def read_dataset(path: Path) -> Dataset:
    """Read a dataset; unknown fields are kept, a byte order mark is ignored.

    Raises: DatasetError: the file is missing, unreadable, not JSON or of another shape.
    """
    return _read(path, Dataset, "rag_questions", "a dataset")


def read_search_results(path: Path) -> SearchResults:
    """Read search results or answers (an answer is then in each entry's `model_extra`).

    Raises: DatasetError: as `read_dataset`.
    """
    return _read(path, SearchResults, "search_results", "a search results file")


def refuse_protected(path: Path, protected: Sequence[Path]) -> None:
    """Refuse to write to a file that is one of `protected`, under whatever name or link.

    Worth calling before the work whose result would have no place to go.

    Raises: DatasetError: the two are one file.
    """
    for kept in protected:
        is_same = os.path.realpath(path) == os.path.realpath(kept)
        with suppress(OSError):  # either may not exist yet
            is_same = is_same or os.path.samefile(path, kept)
        if is_same:
            raise DatasetError(
                f"writing {path} would overwrite its own input {kept}",
                remedy="choose another save directory",
            )


def write_json(
    path: Path, document: BaseModel | Mapping[str, Any], *, protected: Sequence[Path] = ()
) -> None:
    """Write a document whole or not at all, as UTF-8 indented by two spaces.

    Fields that a record never had are not written. Missing folders are made; a link is followed.

    Args:
        path: the file to write.
        document: a record of this module, or anything JSON-ready.
        protected: files that must not be replaced, such as the dataset just read.

    Raises:
        DatasetError: `path` is protected, or the document has no JSON form.
        StorageError: the operating system refuses; an older file is untouched.
    """
    refuse_protected(path, protected)
    write_bytes(path, _encode(path, document))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all. Missing folders are made; a link is followed.

    Raises: StorageError: the operating system refuses; an older file is untouched.
    """
    target = os.path.realpath(path)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _replace(target, data)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {_words(error)}",
            remedy="choose a folder that is writable and has room",
        ) from error


def _encode(path: Path, document: BaseModel | Mapping[str, Any]) -> bytes:
    try:
        if isinstance(document, BaseModel):
            document = document.model_dump(exclude_unset=True)
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except (TypeError, ValueError) as error:  # a lone surrogate in a file name, a bottomless field
        reason = str(error).partition("\n")[0]
        raise DatasetError(
            f"{path} cannot be written as JSON: {reason}", remedy="correct or drop that value"
        ) from error


def _replace(target: str, data: bytes) -> None:
    """Write beside `target`, then take its place; the mode is what `open` would have given."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".{uuid.uuid4().hex}.tmp")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _read(path: Path, model: type[_Document], key: str, kind: str) -> _Document:
    raw = _load(path)
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        others = {"rag_questions", "search_results"} - {key}
        if isinstance(raw, dict) and key not in raw and others & raw.keys():
            raise DatasetError(
                f"{path} is not {kind}: it holds {others.pop()} instead of {key}",
                remedy="check that the two files are not swapped",
            ) from None
        raise DatasetError(
            f"{path} is not {kind}: {_sentence(error.errors(include_url=False))}",
            remedy="correct the file, or write it again",
        ) from None


def _load(path: Path) -> Any:
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
        return orjson.loads(text)
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path} is not UTF-8 text: byte {error.start}", remedy="save it as UTF-8"
        ) from None
    except orjson.JSONDecodeError as error:
        reason = error.msg if text.strip() else "the file is empty"
        raise DatasetError(
            f"{path} is not valid JSON, line {error.lineno} column {error.colno}: {reason}",
            remedy="correct the file, or write it again",
        ) from None
    except FileNotFoundError:
        raise DatasetError(f"{path} does not exist", remedy="check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise DatasetError(
            f"{path} cannot be read: {_words(error)}", remedy="check the path and its permissions"
        ) from error


def _words(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _sentence(errors: Sequence[ErrorDetails]) -> str:
    """The first of pydantic's findings as one clause, and how many more there are."""
    first = errors[0]
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    clause = first["msg"]
    if first["type"] == "missing":
        clause = "is missing"
    elif first["type"] in _WISHES:
        clause = f"must be {_WISHES[first['type']]}, not {_show(first['input'])}"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{place.removeprefix('.') or 'the document'} {clause}{more}"


def _show(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    text = orjson.dumps(value).decode()
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
