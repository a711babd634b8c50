"""Hits and passages made by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragmachine.generation.stitch import Passage
from ragmachine.models import Chunk, Hit

_FILE_TYPES = {"md": "markdown", "py": "python", "txt": "text", "toml": "toml", "cu": "cuda"}


@pytest.fixture
def make_hit() -> Callable[..., Hit]:
    """Builds a hit from its text; lines are counted from the text."""

    def make(
        text: str,
        *,
        rank: int = 1,
        path: str = "docs/a.md",
        start: int = 0,
        first_line: int = 1,
        label: str = "",
    ) -> Hit:
        chunk = Chunk(
            id=rank,
            file_path=path,
            start=start,
            end=start + len(text),
            first_line=first_line,
            last_line=first_line + text.rstrip("\n").count("\n"),
            text=text,
            file_type=_FILE_TYPES[path.rpartition(".")[2]],
            label=label,
        )
        return Hit(rank, 10.0 / rank, chunk)

    return make


@pytest.fixture
def make_passage(make_hit: Callable[..., Hit]) -> Callable[..., Passage]:
    """Builds a numbered passage from its text."""

    def make(text: str, number: int = 1, **options: object) -> Passage:
        hit = make_hit(text, rank=number, **options)
        return Passage(number, hit, text)

    return make
