"""Whole datasets through the pipeline: search every question, answer every entry."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

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
from ragmachine.models import Answer, Hit, SearchResult
from ragmachine.settings import Settings

if TYPE_CHECKING:
    from ragmachine.index.reader import Index

Progress = Callable[[int, int], None]
_LOST = "some entries cite files that are gone: they are answered as unknown"


class Pipeline(Protocol):
    """What is needed of a `RagPipeline`, which itself calls this module."""

    settings: Settings

    def search(self, query: str, k: int | None = None) -> SearchResult:
        """The k best chunks for a query."""

    def answer_from(self, result: SearchResult) -> Answer:
        """An answer from hits at hand."""

    def opened_index(self) -> Index:
        """The index that answers now."""

    def flush(self) -> None:
        """Write what the query cache learned."""


def search_dataset(
    pipeline: Pipeline,
    dataset_path: Path,
    save_directory: Path,
    k: int,
    on_question: Progress | None = None,
) -> Path:
    """See `RagPipeline.search_dataset`."""
    dataset = read_dataset(dataset_path)
    target = save_directory / dataset_path.name
    refuse_protected(target, [dataset_path])
    total = len(dataset.rag_questions)
    pipeline.opened_index()  # an index that is missing is an error even for an empty dataset
    entries = []
    for done, question in enumerate(dataset.rag_questions, start=1):
        entries.append(_entry(pipeline, question, k))
        if on_question:
            on_question(done, total)
    pipeline.flush()
    write_json(target, SearchResults(search_results=tuple(entries), k=k), protected=[dataset_path])
    return target


def _entry(pipeline: Pipeline, question: Question, k: int) -> SearchEntry:
    result = pipeline.search(question.question, k)
    sources = tuple(
        Source(
            file_path=hit.chunk.file_path,
            first_character_index=hit.chunk.start,
            last_character_index=hit.chunk.end,
        )
        for hit in result.hits
    )
    return SearchEntry(
        question_id=question.question_id,
        question=question.question,
        question_str=question.question,
        retrieved_sources=sources,
    )


def answer_dataset(
    pipeline: Pipeline,
    results_path: Path,
    save_directory: Path,
    on_question: Progress | None = None,
    on_notice: Callable[[str], None] | None = None,
    workers: int = 1,
) -> Path:
    """See `RagPipeline.answer_dataset`."""
    results = read_search_results(results_path)
    target = save_directory / results_path.name
    refuse_protected(target, [results_path])
    _refuse_foreign(pipeline, results)
    entries = results.search_results
    journal = _Journal(target, results_path, pipeline)
    known = dict(journal.known)
    waiting = [position for position in range(len(entries)) if position not in known]
    notices: set[str] = set()
    if on_question and known:
        on_question(len(known), len(entries))
    for position, answer in _answers(pipeline, entries, waiting, workers):
        known[position] = answer_fields(answer)
        is_lost = bool(entries[position].retrieved_sources) and not answer.result.hits
        notice = _LOST if is_lost else answer.notice
        if on_notice and notice and notice not in notices:
            notices.add(notice)
            on_notice(notice)
        # a fall-back costs little, and a run resumed once the model is back should ask it
        if not (answer.notice and answer.mode == "extractive"):
            journal.add(position, known[position])
        if on_question:
            on_question(len(known), len(entries))
    answered = tuple(
        AnswerEntry(**{**entry.model_dump(), **known[position]})
        for position, entry in enumerate(entries)
    )
    document = results.model_copy(update={"search_results": answered})
    write_json(target, document, protected=[results_path])
    journal.remove()
    return target


def answer_fields(answer: Answer) -> dict[str, Any]:
    """What an entry of an answers file says beside its question and sources.

    The contract's ``answer``, and what a reader needs to check it: the spans that its ``[n]``
    name, since passages are merged before they are numbered, and the verdict on each sentence.
    """
    return {
        "answer": answer.text,
        "answer_mode": answer.mode,
        "refused": answer.is_refusal,
        "citations": [citation.to_json() for citation in answer.citations],
        "sentences": [sentence.to_json() for sentence in answer.sentences],
    }


def _answers(
    pipeline: Pipeline, entries: Sequence[SearchEntry], waiting: Sequence[int], workers: int
) -> Iterator[tuple[int, Answer]]:
    """Positions with their answers, as they come; the first alone, since it opens everything."""

    def answered(position: int) -> tuple[int, Answer]:
        return position, pipeline.answer_from(_result_of(pipeline, entries[position]))

    first = 1 if workers > 1 else len(waiting)
    yield from map(answered, waiting[:first])
    if not waiting[first:]:
        return
    from concurrent.futures import ThreadPoolExecutor, as_completed

    pool = ThreadPoolExecutor(workers, thread_name_prefix="answer")
    try:
        for future in as_completed([pool.submit(answered, place) for place in waiting[first:]]):
            yield future.result()
    finally:  # what is being asked may finish; the rest is not asked any more
        pool.shutdown(cancel_futures=True)


def _refuse_foreign(pipeline: Pipeline, results: SearchResults) -> None:
    """Refuse results of which no source can be read; a few lost ones are answered as unknown."""
    citing = [entry for entry in results.search_results if entry.retrieved_sources]
    if citing and not any(_result_of(pipeline, entry).hits for entry in citing):
        raise DatasetError(
            "none of the files that these results cite is in the index or on disk",
            remedy="index the corpus that they were made from",
        )


def _result_of(pipeline: Pipeline, entry: SearchEntry) -> SearchResult:
    """The entry's sources as hits again, their text taken from the index or else the file."""
    index = pipeline.opened_index()
    hits = []
    for rank, source in enumerate(entry.retrieved_sources, start=1):
        chunk = index.span(
            source.file_path,
            source.first_character_index,
            source.last_character_index,
            project_root=pipeline.settings.project_root,
        )
        if chunk is not None:
            hits.append(Hit(rank, 1.0 / rank, chunk))
    return SearchResult(entry.question, "given", tuple(hits), index.chunk_count, 0.0)


class _Journal:
    """Answers written so far, one JSON line each, so that an interruption loses none.

    Attributes:
        known: the fields of each answer, see `answer_fields`, by its entry's position.
    """

    def __init__(self, target: Path, results_path: Path, pipeline: Pipeline) -> None:
        settings = pipeline.settings
        decisive = (
            settings.llm,
            settings.model,
            settings.gguf,
            settings.context_chars,
            settings.max_new_tokens,
            settings.strict,
            settings.refuse_below,
            pipeline.opened_index().content_id,
        )
        inputs = hashlib.sha256(results_path.read_bytes() + repr(decisive).encode())
        self._head = {"inputs": inputs.hexdigest()}
        self._path = target.with_name(f".{target.name}.partial")
        self.known: dict[int, dict[str, Any]] = {}
        self._sound_bytes = 0  # length of the part that can be continued
        self._is_open = False
        self._read()

    def _read(self) -> None:
        try:
            lines = self._path.read_bytes().splitlines(keepends=True)
            if not lines or json.loads(lines[0]) != self._head:
                return
        except (OSError, ValueError):
            return
        for number, line in enumerate(lines):
            # the line that was being written when the run was killed has no end, or no sense
            if not line.endswith(b"\n") or (number and not self._learn(line)):
                return
            self._sound_bytes += len(line)

    def _learn(self, line: bytes) -> bool:
        try:
            row: Mapping[str, Any] = json.loads(line)
            fields = dict(row["fields"])
            fields["answer"] = str(fields["answer"])
            self.known[int(row["position"])] = fields
        except (ValueError, KeyError, TypeError):
            return False
        return True

    def add(self, position: int, fields: Mapping[str, Any]) -> None:
        """Append an answer and hand it to the operating system."""
        try:
            if not self._is_open:
                self._open()
            self._write({"position": position, "fields": fields}, mode="a")
        except OSError as error:
            raise StorageError(
                f"{self._path} cannot be written: {error.strerror or error}",
                remedy="choose another folder with --save_directory",
            ) from error

    def _open(self) -> None:
        if self._sound_bytes:
            os.truncate(self._path, self._sound_bytes)
        else:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._write(self._head, mode="w")
        self._is_open = True

    def _write(self, row: Mapping[str, Any], *, mode: str) -> None:
        with open(self._path, mode, encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")

    def remove(self) -> None:
        """Forget the journal: the whole file is written."""
        with contextlib.suppress(OSError):
            os.remove(self._path)
