"""Limits for the parsers of tables, JSON and notebooks, which may be trusted but not with any size.

A small file is read at once: its size bounds the time. A larger one goes to the process for risky
parsers, within the same limits of time and memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Protocol

from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, LoadError
from ragmachine.corpus.loaders.sandbox import ReaderLostError, Sandbox


class _Parser(Protocol):
    def load(self, path: str, data: bytes) -> Loaded | None:
        """See `registry.Loader`."""
        ...


class BoundedLoader:
    """Reads documents of one kind, each where it belongs by its size.

    Args:
        kind: ``csv``, ``json`` or ``notebook``.
        limits: of each document.
        sandbox: the process for larger ones.
        columns: of tables and records that hold text; none for those that look like it.
    """

    def __init__(self, kind: str, limits: Limits, sandbox: Sandbox, columns: Sequence[str]) -> None:
        self._kind = kind
        self._limits = limits
        self._sandbox = sandbox
        self._columns = columns
        self._parser = _parser(kind, limits, columns)

    def load(self, path: str, data: bytes) -> Loaded | None:
        """See `registry.Loader`."""
        most = self._limits.max_parsed_bytes
        if len(data) > most:
            raise LoadError(f"refused: {self._kind} of more than {most:,} bytes")
        if len(data) <= self._limits.max_inline_bytes:
            return self._parser.load(path, data)
        try:
            reply = self._sandbox.ask(
                "plain",
                self._limits.max_seconds,
                data,
                kind=self._kind,
                path=path,
                columns=list(self._columns),
                limits=asdict(self._limits),
            )
        except ReaderLostError as error:
            raise LoadError(f"refused: it {error}") from error
        return _loaded(reply) if reply else None


def plain_reply(
    data: bytes, kind: str, path: str, columns: Sequence[str], limits: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The document, field by field; nothing where its bytes are its text after all.

    Raises: LoadError: it is refused.
    """
    loaded = _parser(kind, Limits(**limits), columns).load(path, data)
    if loaded is None:
        return {}
    return {field.name: getattr(loaded, field.name) for field in fields(loaded)}


def _loaded(reply: Mapping[str, Any]) -> Loaded:
    places = tuple((start, place) for start, place in reply["places"])
    lists = {name: tuple(reply[name]) for name in ("names", "metadata")}
    return Loaded(**{**reply, **lists, "places": places})


def _parser(kind: str, limits: Limits, columns: Sequence[str]) -> _Parser:
    if kind == "csv":
        from ragmachine.corpus.loaders.tabular import TabularLoader

        return TabularLoader(limits, columns)
    if kind == "json":
        from ragmachine.corpus.loaders.records import RecordsLoader

        return RecordsLoader(limits, columns)
    from ragmachine.corpus.loaders.notebook import NotebookLoader

    return NotebookLoader(limits)
