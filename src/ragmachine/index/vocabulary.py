"""Term numbers, found in the file's bytes until there is reason to read all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import orjson

from ragmachine.index.files import damage

# A look-up in the bytes takes about 0.1 ms, reading the whole file about 12 ms per 75,000 terms:
# a one-shot search is better off looking up, a long-lived process reading.
_LOOKUPS_BEFORE_READING = 60


class Vocabulary(Mapping[str, int]):
    """A mapping from term to number over bm25s's vocabulary file, ``{"term":number,…}``.

    Args:
        path: the JSON file, as written by orjson: no blanks, keys without escapes.
    Raises: IndexCorruptError: the file is missing or is not JSON.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        with damage(path), open(path, "rb") as stream:
            self._bytes = stream.read()  # held: the generation may be removed at any time
        self._found: dict[str, int | None] = {}
        self._all: dict[str, int] | None = None

    def get_number(self, term: str) -> int | None:
        """The term's number; None when nobody wrote it."""
        if self._all is not None:
            return self._all.get(term)
        if term not in self._found:
            if len(self._found) >= _LOOKUPS_BEFORE_READING or not self._is_plain(term):
                return self._read().get(term)
            self._found[term] = self._look_up(term)
        return self._found[term]

    @staticmethod
    def _is_plain(term: str) -> bool:
        """Whether JSON writes the term as it is."""
        return term.isprintable() and '"' not in term and "\\" not in term

    def _look_up(self, term: str) -> int | None:
        key = b'"' + term.encode("utf-8", "surrogatepass") + b'":'
        at = self._bytes.find(key)
        if at < 0:
            return None
        start = at + len(key)
        end = start
        while self._bytes[end : end + 1].isdigit():
            end += 1
        with damage(self._path):
            return int(self._bytes[start:end])

    def _read(self) -> dict[str, int]:
        if self._all is None:
            with damage(self._path):
                self._all = dict(orjson.loads(self._bytes))
        return self._all

    def __getitem__(self, term: str) -> int:
        number = self.get_number(term)
        if number is None:
            raise KeyError(term)
        return number

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and self.get_number(term) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())
