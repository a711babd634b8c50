"""The answer cache: answers to earlier questions, for the same questions in other words.

A question is served another's answer only where their vectors are near and their anchors equal
(see `anchors`). The file can only save time: whatever is odd about it makes the cache empty.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from ragmachine.errors import RagError
from ragmachine.index.files import replace_file
from ragmachine.index.hashes import SUFFIX, verify, write_hash
from ragmachine.index.lock import exclusive
from ragmachine.models import Answer

from .anchors import difference, read_anchors
from .answer_rows import CachedAnswer, CachedSource, Entry, Read, digest, from_row, to_row, unit

if TYPE_CHECKING:
    from .answer_rows import Vector

_FORMAT = "ragmachine answers 1"


class AnswerCache:
    """Bounded memory of answers, shared between processes through a JSON file; thread-safe.

    Args:
        path: the file; its folder exists.
        entries: answers kept, least recently used out first; 0 switches the cache off.
        threshold: least cosine at which another question's answer is served, above 0 to 1.
    Raises: ValueError: either number is out of range.
    """

    def __init__(self, path: str, *, entries: int, threshold: float) -> None:
        if entries < 0 or not 0 < threshold <= 1:
            raise ValueError("entries are 0 or more, a threshold is above 0 and at most 1")
        self.path = path
        self._max_entries = entries
        self._threshold = threshold
        self._lock = threading.Lock()
        self._entries = self._read() if entries else {}
        self._changed: set[str] = set()

    def get(self, question: str, vector: Vector | None, scope: str) -> CachedAnswer | None:
        """The answer to the same question, or to the nearest that asks the same in other words.

        Args:
            question: as asked. The same but for case, blanks and outer punctuation needs no vector;
                names with digits or signs in them must be in the same case.
            vector: (dimensions,) float32 of any length, of the encoder that `put` got its from;
                None to find the same question only.
            scope: everything else that decides an answer: the index's content, the model, the
                encoder, settings, filter and k. Another scope is another cache.
        Returns: None when there is none. Ties go to the answer used last.
        """
        scope = digest(scope)
        with self._lock:
            key, similarity = _key(question, scope), 1.0
            if key not in self._entries:
                key, similarity = self._nearest(question, vector, scope)
            entry = self._entries.get(key)
            if entry is None or not read_anchors(question).key:
                return None
            self._keep(key, replace(entry, used_s=time.time()))
            return replace(entry.answer, similarity=similarity)

    def put(
        self, question: str, vector: Vector | None, scope: str, answer: Answer, read: Read
    ) -> None:
        """Remember an answer; written at the next `flush`.

        Left out: an answer that cites nothing, since nothing vouches for it, one whose sources
        cannot be read, and a question without a word.

        Args:
            question: as asked.
            vector: as for `get`.
            scope: as for `get`.
            answer: its text and citations are kept.
            read: gives the cited texts.
        """
        sources = []
        for citation in answer.citations:
            text = read(citation)
            if text is None:
                return
            sources.append(CachedSource(citation, digest(text)))
        is_sound = bool(sources) and _is_writable(question, answer)
        if not self._max_entries or not is_sound or not read_anchors(question).key:
            return
        now, scope = time.time(), digest(scope)
        cached = CachedAnswer(question, answer.text, answer.mode, tuple(sources), now)
        with self._lock:
            self._keep(_key(question, scope), Entry(scope, cached, unit(vector), now))

    def flush(self) -> None:
        """Merge what was added or used into the file; one that cannot be written is no error."""
        with self._lock:
            if not self._changed:
                return
            with (
                contextlib.suppress(OSError, RagError),
                exclusive(self.path + ".lock", timeout_s=1),
            ):
                merged = self._read()
                for key in self._changed & self._entries.keys():
                    mine = self._entries[key]
                    newest = max(mine, merged.get(key, mine), key=lambda one: one.answer.saved_s)
                    merged[key] = replace(newest, used_s=mine.used_s)
                self._entries = dict(sorted(merged.items(), key=lambda item: item[1].used_s))
                self._drop_oldest()
                rows = [to_row(entry) for entry in self._entries.values()]
                replace_file(self.path, orjson.dumps({"format": _FORMAT, "answers": rows}))
                write_hash(self.path)
            self._changed.clear()

    def _nearest(self, question: str, vector: Vector | None, scope: str) -> tuple[str, float]:
        """Key and cosine of the nearest question that asks the same; an empty key for none."""
        asked = unit(vector)
        if asked is None:
            return "", 0.0
        import numpy as np

        found = [
            (key, entry.answer.question, entry.vector)
            for key, entry in reversed(self._entries.items())
            if entry.scope == scope and entry.vector is not None
            if entry.vector.shape == asked.shape
        ]
        cosines = np.asarray([min(float(asked @ row), 1.0) for _, _, row in found])
        for place in np.argsort(-cosines, kind="stable"):
            key, known, _ = found[place]
            if cosines[place] < self._threshold:
                break
            if not difference(read_anchors(question), read_anchors(known)):
                return key, float(cosines[place])
        return "", 0.0

    def _keep(self, key: str, entry: Entry) -> None:
        """Put an entry last, where the least recently used are first."""
        self._entries.pop(key, None)
        self._entries[key] = entry
        self._changed.add(key)
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        for key in list(self._entries)[: max(len(self._entries) - self._max_entries, 0)]:
            del self._entries[key]

    def _read(self) -> dict[str, Entry]:
        try:
            if not os.path.exists(self.path + SUFFIX):
                return {}
            verify([self.path])
            with open(self.path, "rb") as stream:
                document = orjson.loads(stream.read())
            if document["format"] != _FORMAT:
                return {}
            entries = [from_row(row) for row in document["answers"]]
        except (OSError, RagError, ValueError, KeyError, TypeError):
            return {}
        return {_key(entry.answer.question, entry.scope): entry for entry in entries}


def _key(question: str, scope: str) -> str:
    return digest(f"{scope} {read_anchors(question).key}")


def _is_writable(question: str, answer: Answer) -> bool:
    """Whether JSON can hold it: a name from the file system may hold what no UTF-8 can."""
    texts = [question, answer.text, *(citation.file_path for citation in answer.citations)]
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True
