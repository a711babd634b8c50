"""Synonyms of a query from a language model, cached on disk; called by query planning only.

The model is handed in as a function from prompt to text; without one, a query is not expanded.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from ragmachine.errors import ModelError, RagError
from ragmachine.index.files import replace_file
from ragmachine.index.lock import exclusive

PROMPT_VERSION = "expand-1"
_PROMPT = """\
Someone searches a folder of source code and documents for:
{query}

Give at most 6 other single words or identifiers that such files may use for the same thing.
Write only the words, separated by commas. No sentences, no explanation.\
"""
_MAX_TERMS = 6
_MAX_ENTRIES = 5_000
_MAX_QUERY_CHARS = 1_000
_WORD = re.compile(r"\w{2,40}")
# "Synonyms:", "1.", "- ", "2)": what chatty models write before the words.
_PREFIX = re.compile(r"^(?:\s*(?:[-*•]|\d+[.):])\s+|[^,;:]*:(?!:))+")
_LONGEST_ITEM_WORDS = 2  # more words than this are a sentence, and chatter


class SynonymExpander:
    """Asks for words that a query's author did not think of.

    Args:
        ask: prompt to answer; raises ModelError when there is no model.
        cache_path: JSON file of earlier answers, shared by models and prompts; None for none.
        model: name of the model behind `ask`, part of the cache key.

    Attributes:
        failure: why the model could not be asked, with its remedy; "" while it can.
    """

    def __init__(self, ask: Callable[[str], str], *, cache_path: Path | None, model: str) -> None:
        self._ask = ask
        self._cache_path = cache_path
        self._model = model
        self._cache: dict[str, list[str]] | None = None
        self.failure = ""

    def expand(self, query: str) -> list[str]:
        """At most six lower-case words that are not in the query, in the model's order.

        Empty for a blank query, and for every query after the model has failed once: a missing
        server must not cost each search its timeout.
        """
        query = " ".join(query.split())[:_MAX_QUERY_CHARS]
        if not query:
            return []
        if self._cache is None:
            self._cache = _read_cache(self._cache_path)
        key = self._key(query)
        if key in self._cache:
            return list(self._cache[key])
        if self.failure:
            return []
        try:
            answer = self._ask(_PROMPT.format(query=query))
        except ModelError as error:
            self.failure = str(error)
            return []
        terms = parse_terms(answer, query)
        self._remember(key, terms)
        return terms

    def _key(self, query: str) -> str:
        parts = "\0".join((self._model, PROMPT_VERSION, query))
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()

    def _remember(self, key: str, terms: list[str]) -> None:
        """Add an entry to what is on disk now, oldest out first; a full disk costs no answer."""
        entries = {**(self._cache or {}), key: list(terms)}
        path = self._cache_path
        if path is not None:
            with suppress(OSError, RagError):
                path.parent.mkdir(parents=True, exist_ok=True)
                with exclusive(f"{path}.lock", timeout_s=1.0):
                    entries = _newest({**_read_cache(path), **entries})
                    document = json.dumps(entries, ensure_ascii=False)
                    replace_file(str(path), document.encode("utf-8", "replace"))
        self._cache = _newest(entries)


def _newest(entries: dict[str, list[str]]) -> dict[str, list[str]]:
    """The last `_MAX_ENTRIES` of them."""
    return dict(list(entries.items())[-_MAX_ENTRIES:])


def parse_terms(answer: str, query: str) -> list[str]:
    """The usable words of a model's answer: comma lists, numbered lists, JSON, with chatter.

    Kept are runs of 2 to 40 word characters, lower-cased, with a letter in them, not in `query`.
    """
    known = {word.lower() for word in re.findall(r"\w+", query)}
    terms: dict[str, None] = {}
    for item in _items(answer):
        word = item.strip(" \t\r\n\"'`*.()[]{}<>").lower()
        is_word = _WORD.fullmatch(word) and any(character.isalpha() for character in word)
        if is_word and word not in known:
            terms[word] = None
    return list(terms)[:_MAX_TERMS]


def _items(answer: str) -> Iterator[str]:
    """Candidate words: the strings of a JSON value if there is one, else the listed pieces."""
    if found := re.search(r"\[.*\]|\{.*\}", answer, re.DOTALL):
        with suppress(ValueError, RecursionError):
            if strings := list(_strings(json.loads(found.group()))):
                yield from strings
                return
    for line in answer.splitlines():
        for item in re.split(r"[,;]", _PREFIX.sub("", line)):
            words = item.split()
            if len(words) <= _LONGEST_ITEM_WORDS:
                yield from words


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from re.split(r"[,;\s]+", value)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


def _read_cache(path: Path | None) -> dict[str, list[str]]:
    """The cache file's valid entries; a missing or damaged file is an empty cache."""
    if path is None:
        return {}
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(entries, dict):
        return {}
    return {
        key: terms
        for key, terms in entries.items()
        if isinstance(terms, list) and all(isinstance(term, str) for term in terms)
    }
